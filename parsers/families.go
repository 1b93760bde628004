package parsers

import "slices"

// Family is a family of messages that are understood inside application logs,
// for people.
type Family struct {
	Name  string
	Doc   string
	Signs []string // one of these stands in every record of the family
}

// Families lists the families in the order in which they see a record.
func Families() []Family {
	var list []Family
	for _, d := range detectors() {
		list = append(list, Family{Name: d.name, Doc: d.doc, Signs: slices.Clone(d.signs)})
	}
	return list
}
