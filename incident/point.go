package incident

import (
	"encoding/json"
	"fmt"
	"time"
)

// Point is a value at a time. In JSON it is the pair ["2026-03-14T10:02:00Z", 3.5].
type Point struct {
	At    time.Time
	Value float64
}

// MarshalJSON writes the pair.
func (p Point) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]any{p.At, p.Value})
}

// UnmarshalJSON reads the pair.
func (p *Point) UnmarshalJSON(data []byte) error {
	var pair [2]json.RawMessage
	if err := json.Unmarshal(data, &pair); err != nil {
		return fmt.Errorf("timeline point: %w", err)
	}
	if err := json.Unmarshal(pair[0], &p.At); err != nil {
		return fmt.Errorf("timeline point: %w", err)
	}
	return json.Unmarshal(pair[1], &p.Value)
}
