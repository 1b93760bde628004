package parsers

import (
	"encoding/hex"
	"fmt"

	"github.com/firebreak-io/firebreak/evidence"
)

// trimSpan shortens a span's JSON for a golden: what is not set says nothing,
// IDs are hexadecimal, enumerations have their names.
func trimSpan(s map[string]any) {
	for k, v := range s {
		if v == nil || v == "" || v == 0.0 || v == false || (k == "Retries" || k == "Rows") && v == -1.0 {
			delete(s, k)
			continue
		}
		n, _ := v.(float64)
		switch k {
		case "TraceID", "ID", "Parent":
			var id []byte
			for _, b := range v.([]any) {
				id = append(id, byte(b.(float64)))
			}
			s[k] = hex.EncodeToString(id)
			if s[k] == "0000000000000000" {
				delete(s, k)
			}
		case "Ident": // a float lost its last digits
			s[k] = fmt.Sprintf("%012x", uint64(n)>>16)
		case "Outcome":
			s[k] = evidence.Outcome(n).String()
		case "Remote":
			s[k] = evidence.Tri(n).String()
		case "Kind":
			s[k] = [...]string{"", "internal", "server", "client", "producer", "consumer"}[int(n)]
		case "Attempt":
			s[k] = [...]string{"", "logical", "attempt", "entry"}[int(n)]
		}
	}
}
