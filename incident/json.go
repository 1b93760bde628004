package incident

import (
	_ "embed"
	"encoding/json"
	"io"
)

//go:embed schema/firebreak.report.v1.json
var jsonSchema []byte

// JSONSchema returns the published JSON Schema of the report.
func JSONSchema() []byte { return jsonSchema }

// WriteJSON writes the report in its stable form: schema first, empty lists as
// [], what is unknown absent. The same report gives the same bytes.
func WriteJSON(w io.Writer, r *Report) error {
	clean := sanitized(r)
	clean.Schema = Schema
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(clean)
}

// ReadJSON reads what WriteJSON wrote. What it read may come from elsewhere, so
// it is sanitised.
func ReadJSON(r io.Reader) (*Report, error) {
	var report Report
	if err := json.NewDecoder(r).Decode(&report); err != nil {
		return nil, err
	}
	Sanitize(&report)
	return &report, nil
}
