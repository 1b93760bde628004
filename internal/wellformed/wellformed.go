// Package wellformed checks, for tests, that an HTML page is what its writer
// meant: tags closed in order, references that lead somewhere, and nothing that
// runs or is fetched.
package wellformed

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html"
)

// void are the elements that have no end tag.
var void = map[string]bool{"meta": true, "link": true, "br": true, "hr": true, "img": true, "input": true, "col": true, "wbr": true, "area": true, "base": true, "embed": true, "source": true, "track": true}

// blocks may not stand inside a paragraph or a run of words: a browser would
// close it before them.
var blocks = map[string]bool{
	"p": true, "div": true, "ul": true, "ol": true, "li": true, "table": true, "section": true, "article": true, "figure": true,
	"pre": true, "details": true, "h1": true, "h2": true, "h3": true, "h4": true, "nav": true, "header": true, "footer": true,
}

// forbidden are the elements that run, load or ask for something.
var forbidden = map[string]bool{"script": true, "iframe": true, "object": true, "embed": true, "img": true, "image": true, "form": true, "input": true, "base": true, "foreignobject": true, "audio": true, "video": true, "use": true}

// HTML returns what is wrong with a page, nil if nothing is.
func HTML(page []byte) error {
	c := checker{ids: map[string]bool{}}
	c.read(page)
	c.resolve()
	if len(c.problems) > 20 {
		c.problems = append(c.problems[:20], errors.New("and more"))
	}
	return errors.Join(c.problems...)
}

type checker struct {
	open     []string
	ids      map[string]bool
	refs     []string
	heading  int
	problems []error
}

func (c *checker) problem(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf(format, args...))
}

func (c *checker) read(page []byte) {
	z := html.NewTokenizer(bytes.NewReader(page))
	for {
		kind := z.Next()
		token := z.Token()
		switch kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				c.problem("read: %w", z.Err())
			}
			if len(c.open) > 0 {
				c.problem("left open: %s", strings.Join(c.open, " "))
			}
			return
		case html.StartTagToken, html.SelfClosingTagToken:
			c.start(&token)
			if kind == html.StartTagToken && !void[token.Data] {
				c.open = append(c.open, token.Data)
			}
		case html.EndTagToken:
			last := len(c.open) - 1
			if last < 0 || c.open[last] != token.Data {
				c.problem("</%s> closes %s", token.Data, strings.Join(c.open[max(0, last-3):], " "))
				continue
			}
			c.open = c.open[:last]
		}
	}
}

func (c *checker) start(token *html.Token) {
	if forbidden[token.Data] {
		c.problem("<%s>", token.Data)
	}
	if blocks[token.Data] {
		for _, open := range c.open {
			if open == "p" || open == "span" || open == "a" {
				c.problem("<%s> inside <%s>", token.Data, open)
			}
		}
	}
	if len(token.Data) == 2 && token.Data[0] == 'h' && token.Data[1] >= '1' && token.Data[1] <= '6' {
		level := int(token.Data[1] - '0')
		if level > c.heading+1 {
			c.problem("<%s> below a heading of level %d", token.Data, c.heading)
		}
		c.heading = level
	}
	seen := map[string]bool{}
	for _, a := range token.Attr {
		if seen[a.Key] {
			c.problem("<%s> has two %s", token.Data, a.Key)
		}
		seen[a.Key] = true
		c.attribute(token.Data, a.Key, a.Val)
	}
}

func (c *checker) attribute(tag, key, value string) {
	switch {
	case key == "id":
		if value == "" || strings.ContainsAny(value, " \t\n") || c.ids[value] {
			c.problem("<%s id=%q> is empty, has spaces or stands twice", tag, value)
		}
		c.ids[value] = true
	case key == "aria-labelledby" || key == "aria-describedby":
		c.refs = append(c.refs, strings.Fields(value)...)
	case key == "href":
		switch {
		case strings.HasPrefix(value, "#") && len(value) > 1:
			c.refs = append(c.refs, value[1:])
		case tag == "link" && value == "data:,":
		default:
			c.problem("<%s href=%q> leads outside", tag, value)
		}
	case strings.HasPrefix(key, "on"), key == "src", key == "srcset", key == "action", key == "style", strings.Contains(key, "xlink"):
		c.problem("<%s %s=%q>", tag, key, value)
	}
	if strings.Contains(value, "NaN") && tag != "a" || strings.Contains(value, "ZgotmplZ") || value == "%" {
		c.problem("<%s %s=%q>", tag, key, value)
	}
}

func (c *checker) resolve() {
	for _, ref := range c.refs {
		if !c.ids[ref] {
			c.problem("nothing has the id %q that is referred to", ref)
		}
	}
}
