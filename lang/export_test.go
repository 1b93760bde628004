package lang

// Entry is an entry of a catalogue, for the tests of what it holds.
type Entry struct {
	Text, Said string
	Line       int
}

// Entries returns what a catalogue holds.
func Entries(catalogue string) []Entry {
	var list []Entry
	for _, e := range entries(catalogue) {
		list = append(list, Entry{e.text, e.said, e.line})
	}
	return list
}
