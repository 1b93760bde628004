package incident

import (
	"reflect"
	"slices"
)

// emptyFields names the fields of the report's types that are zero in every
// value of their type.
func emptyFields(r Report) []string {
	filled := map[string]bool{}
	var walk func(v reflect.Value)
	walk = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Pointer:
			if !v.IsNil() {
				walk(v.Elem())
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(v.Index(i))
			}
		case reflect.Struct:
			if v.Type().PkgPath() != reflect.TypeFor[Report]().PkgPath() {
				return
			}
			for i := range v.NumField() {
				name := v.Type().Name() + "." + v.Type().Field(i).Name
				filled[name] = filled[name] || !v.Field(i).IsZero()
				walk(v.Field(i))
			}
		}
	}
	walk(reflect.ValueOf(r))
	var empty []string
	for name, ok := range filled {
		if !ok && name != "Report.Schema" {
			empty = append(empty, name)
		}
	}
	slices.Sort(empty)
	return empty
}
