// Package bundle keeps incidents as folders that can be carried away: what was
// concluded, and the evidence that it was concluded from, as it was at the time.
//
// It promises: a bundle is whole or it is not there, whatever ends the process
// and whenever; one that takes the place of another does so at once. What is
// left of a write that was cut short is removed by the next [Open]. A folder
// that is not a bundle is never touched, a link never followed, and no name that
// comes from outside leads out of the folder. The folder is the index: there is
// no other. One process at a time may write to it.
package bundle

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
)

// Schema is the name and version of a manifest's form.
const Schema = "firebreak.bundle/v1"

// The files that every bundle has.
const (
	ManifestName = "manifest.json"
	readmeName   = "README.md"
	ReportName   = "report.json"
	MarkdownName = "report.md"
	EvidenceDir  = "evidence"
)

// Manifest says what a bundle is. It is its first file.
type Manifest struct {
	Schema    string             `json:"schema"`
	Sensitive string             `json:"sensitive"` // why it must be handled as what it came from
	ID        string             `json:"id"`
	Tool      incident.Tool      `json:"tool"`
	Label     incident.Label     `json:"label"`
	Certainty incident.Certainty `json:"certainty"`
	ActFirst  incident.Label     `json:"act_first,omitempty"`
	Subject   string             `json:"subject,omitempty"`
	Headline  string             `json:"headline"`
	Incident  string             `json:"incident"` // its ID in the report
	Opened    time.Time          `json:"opened"`
	Updated   time.Time          `json:"updated"`
	Said      time.Time          `json:"said"` // when a report last said it, to within minutes
	Closed    time.Time          `json:"closed,omitzero"`
	Ended     string             `json:"ended,omitempty"` // "over" or "lost", once it is closed
	Changes   int                `json:"changes,omitempty"`
	About     []string           `json:"about,omitempty"`
	Bytes     int64              `json:"bytes"` // of the files below
	Files     []FileInfo         `json:"files"`
}

// FileInfo is one file of a bundle, so that a copy can be checked.
type FileInfo struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// File is a file to be written into a bundle.
type File struct {
	Path  string // with slashes
	Write func(io.Writer) error
}

// IsOwn reports whether an input that begins with head is a bundle's manifest or
// its README: neither is evidence.
func IsOwn(head []byte) bool {
	if bytes.HasPrefix(head, []byte(readmeMark)) {
		return true
	}
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{"))
	if !ok {
		return false
	}
	rest, ok = bytes.CutPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"schema"`))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n:"), []byte(`"firebreak.bundle/`))
}

const readmeMark = "<!-- firebreak.bundle/"

// sensitive is said in the manifest and the README.
const sensitive = "holds log lines, statements and addresses of the systems that it came from: share it as you would share those"

// readme tells whoever finds a bundle what it is.
func readme(w io.Writer, m *Manifest) error {
	subject := ""
	if m.Subject != "" {
		subject = " · " + m.Subject
	}
	_, err := fmt.Fprintf(w, "%sv1 -->\n# %s: %s%s\n\n%s\n\n%s\n\n"+
		"- `report.md`, `report.json`: %s\n"+
		"- `evidence/records.jsonl.gz`: %s\n"+
		"- `evidence/firebreak-raw/`: %s\n"+
		"- `manifest.json`: %s\n\n"+
		"```sh\nfirebreak triage %s\nfirebreak report %s\n```\n\n%s\n",
		readmeMark, lang.T("Incident"), m.Label, subject,
		m.Headline,
		lang.Sprintf("Frozen by firebreak %s at %s. This folder %s.", m.Tool.Version, m.Updated.UTC().Format(time.RFC3339), lang.T(sensitive)),
		lang.T("what was concluded, as it was concluded then"),
		lang.T("what it was concluded from, as firebreak reads it back"),
		lang.T("the latest lines and dumps of the files that were followed, as they were, for people"),
		lang.T("what is in here, with checksums"),
		m.ID, m.ID,
		lang.T("Both come to the same answer anywhere, without the systems that it is about."),
	)
	return err
}

// maxName bounds the name of a bundle.
const maxName = 120

// Name makes a name of a folder of any text: letters, digits, dashes, dots and
// underscores, not beginning with a dot. A text that is such a name stays as it is.
func Name(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case b.Len() >= maxName:
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.' && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	name := strings.TrimRight(b.String(), "-.")
	if name == "" {
		return "incident"
	}
	return name
}

// maxDepth is how many of a path's folders are kept of it, the last ones.
const maxDepth = 8

// RawName is where the lines of a followed file stand in a bundle: its path, made
// harmless. It adds what it returns to those taken.
func RawName(dir, path string, taken map[string]bool) string {
	var parts []string
	for _, p := range strings.FieldsFunc(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if strings.Trim(p, ".") != "" {
			parts = append(parts, Name(p))
		}
	}
	if len(parts) == 0 {
		parts = []string{"unnamed"}
	}
	name := dir + "/" + strings.Join(parts[max(0, len(parts)-maxDepth):], "/")
	unique := name
	// A name that is taken, and one that is a folder of another's path.
	for n := 2; taken[unique] || taken[unique+"/"]; n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	taken[unique] = true
	for i := range unique {
		if unique[i] == '/' {
			if taken[unique[:i]] { // a file stands where a folder is needed
				delete(taken, unique)
				return RawName(dir+"-2", path, taken)
			}
			taken[unique[:i+1]] = true
		}
	}
	return unique
}
