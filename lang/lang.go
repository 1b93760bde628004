// Package lang says every text that a person reads in that person's language.
//
// The English text, or format, is the key: code reads as it always did, and a
// text without a translation is shown in English. What is for machines (labels,
// kinds, keys, commands, names) is not translated.
//
// The language is one for the whole process, as a locale is: the command sets
// it once, before it says anything. English is the default, and needs neither
// the catalogue nor the time to read it. All functions may be called at the same
// time.
package lang

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
)

// The languages.
const (
	English = "en"
	Chinese = "zh" // simplified
)

// ErrUnsupported is the error of a language that there is no catalogue of.
var ErrUnsupported = errors.New("no such language")

// current is the catalogue in use; nil for English.
var current atomic.Pointer[catalogue]

// Supported lists the languages, the default first.
func Supported() []string { return []string{English, Chinese} }

// Current returns the language in use.
func Current() string {
	if current.Load() == nil {
		return English
	}
	return Chinese
}

// Use sets the language of the process. It takes what people and systems write:
// "zh", "zh-CN", "zh_CN.UTF-8", "en_GB", "C".
func Use(tag string) error {
	switch base(tag) {
	case English, "c", "posix":
		current.Store(nil)
	case Chinese:
		current.Store(simplified())
	default:
		return ErrUnsupported
	}
	return nil
}

// FromEnv returns the language that the environment asks for, by the variables
// in their order of precedence; one that there is no catalogue of is English.
func FromEnv(lcAll, lcMessages, lang string) string {
	for _, tag := range []string{lcAll, lcMessages, lang} {
		if tag == "" {
			continue
		}
		if base(tag) == Chinese {
			return Chinese
		}
		break
	}
	return English
}

// base returns the language of a tag without its region, script and encoding.
func base(tag string) string {
	tag = strings.ToLower(strings.TrimSpace(tag))
	if i := strings.IndexAny(tag, "-_.@"); i >= 0 {
		tag = tag[:i]
	}
	return tag
}

// T returns a text in the language in use.
func T(text string) string {
	if c := current.Load(); c != nil {
		return c.translate(text)
	}
	return text
}

// Sprintf formats as fmt.Sprintf does, by the translated format, which may take
// the arguments in another order: %[2]s.
func Sprintf(format string, args ...any) string {
	if c := current.Load(); c != nil {
		return fmt.Sprintf(c.translate(format), args...)
	}
	return fmt.Sprintf(format, args...)
}

// Errorf makes an error as fmt.Errorf does, by the translated format.
func Errorf(format string, args ...any) error {
	if c := current.Load(); c != nil {
		return fmt.Errorf(c.translate(format), args...)
	}
	return fmt.Errorf(format, args...)
}

// NewError makes an error as errors.New does, which is said in the language in
// use when it is read.
func NewError(text string) error { return &sentinel{text} }

type sentinel struct{ text string }

func (e *sentinel) Error() string { return T(e.text) }

// Plural counts things: number is n as it is shown, one and many are the words
// for one thing and for several. The key is that of several, "%s calls".
func Plural(n int64, number, one, many string) string {
	if c := current.Load(); c != nil {
		if format, ok := c.texts["%s "+many]; ok {
			return fmt.Sprintf(format, number)
		}
	}
	if n == 1 {
		return number + " " + one
	}
	return number + " " + many
}

// Word returns a word that machines know (a label, a role, an answer) and beside
// it what it means in the language in use: "slow-sql", in Chinese "slow-sql 慢 SQL".
func Word(word string) string {
	if said := T(word); said != word {
		return word + " " + said
	}
	return word
}

// Upper is Word with the word in capitals: "SLOW-SQL 慢 SQL".
func Upper(word string) string {
	return strings.ToUpper(word) + strings.TrimPrefix(Word(word), word)
}

// Join makes one text of a list.
func Join(parts []string) string {
	if current.Load() != nil {
		return strings.Join(parts, "，")
	}
	return strings.Join(parts, ", ")
}

// Semicolons makes one text of a list whose parts may have commas.
func Semicolons(parts []string) string {
	if current.Load() != nil {
		return strings.Join(parts, "；")
	}
	return strings.Join(parts, "; ")
}

// Sentences makes a paragraph of sentences.
func Sentences(list []string) string {
	if current.Load() != nil {
		return strings.Join(list, "")
	}
	return strings.Join(list, " ")
}

// Mark returns a text as it is: it only says that the text is translated where
// it is shown, so that the catalogue has to have it.
func Mark(text string) string { return text }

// In returns a text in a language whatever the one in use: to recognise what was
// written in it.
func In(language, text string) string {
	if language == Chinese {
		return simplified().translate(text)
	}
	return text
}
