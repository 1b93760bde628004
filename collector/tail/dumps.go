package tail

// Dumps is a folder into which dumps are dropped.
type Dumps struct {
	Dir      string
	Patterns []string // globs of names; none: all
	Service  string
}

type dumpFolder struct{ *Dumps }

type dumpState struct {
	Name string `json:"name"`
}

func newDumpFolder(d *Dumps, _ *state) *dumpFolder { return &dumpFolder{d} }

func (d *dumpFolder) saved() []dumpState { return nil }

func (t *Tailer) drop(*dumpFolder) {}
