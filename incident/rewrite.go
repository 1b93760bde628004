package incident

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"time"
)

// rewrite returns a deep copy of a report whose texts went through text, which
// is told the field ("Action.Command"; "key" for keys of maps). The walk is in
// the order of the JSON form, maps by key, so it is the same on every run.
//
// The copy is fit for JSON: lists are never nil, times are in UTC, and numbers
// that are not finite, which JSON cannot say, are absent.
func rewrite(r *Report, text func(field, s string) string) *Report {
	w := rewriter{text}
	c := w.value(reflect.ValueOf(*r), "").Interface().(Report)
	return &c
}

type rewriter struct {
	text func(field, s string) string
}

func (w rewriter) value(v reflect.Value, field string) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	switch v.Kind() {
	case reflect.String:
		c.SetString(w.text(field, v.String()))
	case reflect.Pointer:
		if v.IsNil() || !finite(v.Elem()) {
			return c
		}
		c.Set(reflect.New(v.Type().Elem()))
		c.Elem().Set(w.value(v.Elem(), field))
	case reflect.Slice:
		c.Set(reflect.MakeSlice(v.Type(), 0, v.Len()))
		for i := range v.Len() {
			if p, ok := v.Index(i).Interface().(Point); ok && !finite(reflect.ValueOf(p.Value)) {
				continue
			}
			c = reflect.Append(c, w.value(v.Index(i), field))
		}
	case reflect.Map:
		c.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for _, k := range sortedKeys(v) {
			if e := v.MapIndex(k); finite(e) {
				c.SetMapIndex(w.value(k, "key"), w.value(e, field))
			}
		}
	case reflect.Struct:
		if t, ok := v.Interface().(time.Time); ok {
			return reflect.ValueOf(t.UTC())
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			c.Field(i).Set(w.value(v.Field(i), v.Type().Name()+"."+f.Name))
		}
	default:
		return v
	}
	return c
}

func finite(v reflect.Value) bool {
	return !v.CanFloat() || !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0)
}

func sortedKeys(m reflect.Value) []reflect.Value {
	return slices.SortedFunc(m.Seq(), func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
}
