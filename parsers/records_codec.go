package parsers

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/firebreak-io/firebreak/evidence"
)

// form is how values of one type stand in a line of records. It is made once
// for a type, from its fields, so that what is added to package evidence is
// written and read without anyone thinking of it.
type form struct {
	write func(b []byte, v reflect.Value) []byte
	read  func(d *recordReader, v reflect.Value)
}

// member is one field of a struct.
type member struct {
	form
	index int
	key   string // "key":
}

var recordForm = sync.OnceValue(func() form { return formOf(reflect.TypeFor[evidence.Record]()) })

// encodeRecord appends a record as JSON.
func encodeRecord(b []byte, r *evidence.Record) []byte {
	return recordForm().write(b, reflect.ValueOf(r).Elem())
}

// formOf makes the form of a type. The types of package evidence do not hold
// each other in circles.
func formOf(t reflect.Type) form {
	switch t {
	case reflect.TypeFor[time.Time]():
		return form{writeTime, (*recordReader).time}
	case reflect.TypeFor[*evidence.Frame]():
		return form{writeFrame, (*recordReader).frame}
	}
	switch t.Kind() {
	case reflect.String:
		return form{
			func(b []byte, v reflect.Value) []byte { return writeText(b, v.String()) },
			func(d *recordReader, v reflect.Value) { v.SetString(d.names.of(d.text())) },
		}
	case reflect.Bool:
		return form{
			func(b []byte, v reflect.Value) []byte { return strconv.AppendBool(b, v.Bool()) },
			func(d *recordReader, v reflect.Value) { v.SetBool(string(d.word()) == "true") },
		}
	case reflect.Int8, reflect.Int, reflect.Int64:
		if names := namesOf(t); names != nil {
			return byName(names)
		}
		return form{
			func(b []byte, v reflect.Value) []byte { return strconv.AppendInt(b, v.Int(), 10) },
			func(d *recordReader, v reflect.Value) {
				n, err := strconv.ParseInt(string(d.word()), 10, t.Bits())
				d.check(err == nil)
				v.SetInt(n)
			},
		}
	case reflect.Uint64:
		return form{
			func(b []byte, v reflect.Value) []byte { return strconv.AppendUint(b, v.Uint(), 10) },
			func(d *recordReader, v reflect.Value) {
				n, err := strconv.ParseUint(string(d.word()), 10, 64)
				d.check(err == nil)
				v.SetUint(n)
			},
		}
	case reflect.Float64:
		return form{writeFloat, (*recordReader).float}
	case reflect.Array:
		return form{writeHex, (*recordReader).hex}
	case reflect.Slice:
		return listOf(t)
	case reflect.Map:
		return form{writeMap, (*recordReader).texts}
	case reflect.Pointer:
		to := formOf(t.Elem())
		return form{
			func(b []byte, v reflect.Value) []byte { return to.write(b, v.Elem()) },
			func(d *recordReader, v reflect.Value) {
				v.Set(reflect.New(t.Elem()))
				to.read(d, v.Elem())
			},
		}
	case reflect.Struct:
		return structOf(t)
	}
	panic("parsers: records have no form for " + t.String())
}

// structOf is an object of the fields that are not zero.
func structOf(t reflect.Type) form {
	var members []member
	byKey := map[string]*member{}
	for i := range t.NumField() {
		f := t.Field(i)
		members = append(members, member{formOf(f.Type), i, `"` + snake(f.Name) + `":`})
	}
	for i := range members {
		k := members[i].key
		byKey[k[1:len(k)-2]] = &members[i]
	}
	return form{
		func(b []byte, v reflect.Value) []byte {
			b = append(b, '{')
			for i := range members {
				m := &members[i]
				f := v.Field(m.index)
				if f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0 {
					continue
				}
				if b[len(b)-1] != '{' {
					b = append(b, ',')
				}
				b = m.write(append(b, m.key...), f)
			}
			return append(b, '}')
		},
		func(d *recordReader, v reflect.Value) {
			d.object(func(key []byte) {
				if m := byKey[string(key)]; m != nil {
					m.read(d, v.Field(m.index))
				} else {
					d.pass()
				}
			})
		},
	}
}

// listOf is an array; bytes are a text.
func listOf(t reflect.Type) form {
	if t.Elem().Kind() == reflect.Uint8 {
		return form{
			func(b []byte, v reflect.Value) []byte { return writeText(b, string(v.Bytes())) },
			func(d *recordReader, v reflect.Value) { v.SetBytes(slices.Clone(d.text())) },
		}
	}
	of := formOf(t.Elem())
	return form{
		func(b []byte, v reflect.Value) []byte {
			b = append(b, '[')
			for i := range v.Len() {
				if i > 0 {
					b = append(b, ',')
				}
				b = of.write(b, v.Index(i))
			}
			return append(b, ']')
		},
		func(d *recordReader, v reflect.Value) {
			d.array(func() {
				n := v.Len()
				v.Grow(1)
				v.SetLen(n + 1)
				of.read(d, v.Index(n))
			})
		},
	}
}

// namesOf are the names of an enumeration's values; nil for other types.
func namesOf(t reflect.Type) []string {
	if t.Kind() != reflect.Int8 || !t.Implements(reflect.TypeFor[fmt.Stringer]()) {
		return nil
	}
	var names []string
	v := reflect.New(t).Elem()
	for i := range math.MaxInt8 {
		v.SetInt(int64(i))
		s := v.Interface().(fmt.Stringer).String()
		if i > 0 && (s == "unknown" || s == names[0]) {
			break
		}
		names = append(names, s)
	}
	return names
}

// byName is an enumeration by its names. One that is not known, of a later
// version, reads as unknown.
func byName(names []string) form {
	values := map[string]int64{}
	for i, n := range names {
		values[n] = int64(i)
	}
	return form{
		func(b []byte, v reflect.Value) []byte {
			n := int(v.Int())
			if n < 0 || n >= len(names) {
				n = 0
			}
			return writeText(b, names[n])
		},
		func(d *recordReader, v reflect.Value) { v.SetInt(values[string(d.text())]) },
	}
}

func writeTime(b []byte, v reflect.Value) []byte {
	t := v.Interface().(time.Time)
	b = append(b, '"')
	return append(t.UTC().AppendFormat(b, time.RFC3339Nano), '"')
}

// writeFrame writes a frame as one text, as frames repeat: function, file, line
// and whether it is native, with tabs between.
func writeFrame(b []byte, v reflect.Value) []byte {
	f, _ := v.Interface().(*evidence.Frame)
	if f == nil {
		f = &evidence.Frame{}
	}
	b = writeText(b, f.Func)
	b = append(b[:len(b)-1], `\t`...)
	file := writeText(nil, f.File)
	b = append(b, file[1:len(file)-1]...)
	b = append(b, `\t`...)
	b = strconv.AppendInt(b, int64(f.Line), 10)
	if f.Native {
		b = append(b, `\tnative`...)
	}
	return append(b, '"')
}

func writeFloat(b []byte, v reflect.Value) []byte {
	f := v.Float()
	if math.IsNaN(f) || math.IsInf(f, 0) {
		f = 0
	}
	return strconv.AppendFloat(b, f, 'g', -1, 64)
}

func writeHex(b []byte, v reflect.Value) []byte {
	b = append(b, '"')
	for i := range v.Len() {
		b = hex.AppendEncode(b, []byte{byte(v.Index(i).Uint())})
	}
	return append(b, '"')
}

func writeMap(b []byte, v reflect.Value) []byte {
	m := v.Interface().(map[string]string)
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	b = append(b, '{')
	for i, k := range keys {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(writeText(b, k), ':')
		b = writeText(b, m[k])
	}
	return append(b, '}')
}

// writeText appends a text in quotes. What is not UTF-8 is replaced.
func writeText(b []byte, s string) []byte {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\ufffd")
	}
	return appendJSONText(b, s)
}
