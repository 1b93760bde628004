package lang

import (
	_ "embed"
	"strings"
	"sync"
)

// zhHans is the Chinese catalogue. An entry is an English text and its
// translation, each behind the name of its language; the further lines of a text
// are indented by four spaces. Lines that begin with # are comments.
//
//	en  %s calls
//	zh  %s 次调用
//
// A space at the end of a text is written as ␣, since editors take such spaces away.
//
//go:embed zh-Hans.txt
var zhHans string

// simplified reads the Chinese catalogue when it is first asked for.
var simplified = sync.OnceValue(func() *catalogue { return parse(zhHans) })

// catalogue holds the translations of English texts.
type catalogue struct {
	texts map[string]string
}

func (c *catalogue) translate(text string) string {
	if said, ok := c.texts[text]; ok {
		return said
	}
	return text
}

// entry is a text and its translation, and the line that it begins in.
type entry struct {
	text, said string
	line       int
}

// The beginnings of lines.
const (
	ofText = "en  "
	ofSaid = "zh  "
	goesOn = "    "
	space  = "␣"
)

// parse reads a catalogue. A line that is none of one is passed over: the tests
// hold the catalogue to its form.
func parse(s string) *catalogue {
	c := &catalogue{texts: make(map[string]string, strings.Count(s, "\n"+ofText)+1)}
	for _, e := range entries(s) {
		if e.said != "" {
			c.texts[e.text] = e.said
		}
	}
	return c
}

// entries returns what a catalogue holds, in its order.
func entries(s string) []entry {
	list := make([]entry, 0, strings.Count(s, "\n"+ofText)+1)
	var into *string
	blank := 0 // empty lines that belong to the text only if it goes on
	number := 0
	for line := range strings.Lines(s) {
		number++
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		switch {
		case strings.HasPrefix(line, ofText):
			list = append(list, entry{text: line[len(ofText):], line: number})
			into, blank = &list[len(list)-1].text, 0
		case strings.HasPrefix(line, ofSaid) && len(list) > 0:
			list[len(list)-1].said = line[len(ofSaid):]
			into, blank = &list[len(list)-1].said, 0
		case line == "":
			blank++
		case strings.HasPrefix(line, goesOn) && into != nil:
			*into += strings.Repeat("\n", blank+1) + line[len(goesOn):]
			blank = 0
		}
	}
	for i := range list {
		list[i].text, list[i].said = spaced(list[i].text), spaced(list[i].said)
	}
	return list
}

// spaced gives a text the space at its end.
func spaced(s string) string {
	if stem, ok := strings.CutSuffix(s, space); ok {
		return stem + " "
	}
	return s
}
