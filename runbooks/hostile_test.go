package runbooks

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/incident"
)

// reportNamed is a report with a finding of every kind, all of whose fields
// have one value, and an incident whose chain holds them all.
func reportNamed(name string) *incident.Report {
	r := &incident.Report{Incidents: []incident.Incident{{Label: incident.SlowSQL}}}
	in := &r.Incidents[0]
	for i, k := range incident.Kinds() {
		f := incident.Finding{ID: "f" + number(float64(i+1)), Kind: k.Kind, Subject: name, Text: name, Count: 3, Names: map[string]string{}, Values: map[string]float64{}, Citations: []evidence.Citation{{Source: "a", Line: 1}}}
		for field, kinds := range fields {
			if slices.Contains(kinds, k.Kind) {
				f.Names[field] = name // stands before a number of the same name
			}
		}
		f.Values["pool.max"] = 200
		r.Findings = append(r.Findings, f)
		in.Chain = append(in.Chain, incident.Link{Role: incident.Trigger, Label: incident.SlowSQL, Findings: []string{f.ID}})
	}
	return r
}

// payload stands in hostile names wherever something would run or end.
const payload = "PWNED"

var hostileNames = []string{
	"$(" + payload + ")",
	"`" + payload + "`",
	"x; " + payload,
	"x' ; " + payload + " ; '",
	"x'$(" + payload + ")'y",
	`x" ; ` + payload + ` ; "`,
	"x\n" + payload,
	"x\r" + payload,
	"x\x1b[2J\x1b]0;" + payload + "\x07",
	"x | " + payload,
	"x && " + payload,
	"x > " + payload,
	"--" + payload,
	"-" + payload,
	"x\\' ; " + payload,
	"x\u202e" + payload,
	"x\u2028" + payload,
	"x\x00" + payload,
	"x\xff; " + payload,
	"x # " + payload,
	"x: {" + payload + ": 1}",
	"x -- " + payload,
	"x */ " + payload,
	"t; DROP TABLE " + payload,
	"select * from t where " + payload + "'; = ?",
	"select * from `t`; " + payload + " where a = ?",
	"{override}" + payload + "{kill}",
	strings.Repeat("x", 5000) + payload,
}

var quoted = regexp.MustCompile(`'[^']*'|\\'`)

// TestHostileNames fills every action of every runbook with hostile names.
// What remains of a command outside single quotes must be the runbook's own.
func TestHostileNames(t *testing.T) {
	for _, name := range hostileNames {
		c := NewCase(reportNamed(name), 0)
		for _, b := range builtIn(t).Books() {
			templates := slices.Clone(b.Actions)
			for _, s := range b.Steps {
				templates = append(templates, s.Actions...)
			}
			for _, tpl := range templates {
				for _, a := range c.fill(&tpl) {
					checkHarmless(t, b.Name, tpl.Language, a)
				}
			}
		}
	}
}

func checkHarmless(t *testing.T, book string, in Language, a incident.Action) {
	t.Helper()
	bare := a.Command
	if in == Shell {
		bare = quoted.ReplaceAllString(bare, "")
	}
	if strings.Contains(bare, payload) {
		t.Errorf("%s: %q reaches a command in %s:\n%q", book, payload, in, a.Command)
	}
	for _, text := range []string{a.What, a.Why, a.Risk, strings.ReplaceAll(a.Command, "\n", "")} {
		if i := strings.IndexFunc(text, func(r rune) bool {
			return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp)
		}); i >= 0 {
			t.Errorf("%s: a control character in %q", book, text)
		}
	}
}

// TestHarmlessNames holds that ordinary names do come through.
func TestHarmlessNames(t *testing.T) {
	for _, c := range []struct {
		in         Language
		name, want string
	}{
		{Shell, "DubboServerHandler-10.20.1.21:20880", "DubboServerHandler-10.20.1.21:20880"},
		{Shell, "pool one", "'pool one'"},
		{Shell, "it's", `'it'\''s'`},
		{Shell, "-rf", ""},
		{SQL, "shop.t_sku_stock", "shop.t_sku_stock"},
		{SQL, "t sku", ""},
		{YAML, "com.acme.SkuService", "com.acme.SkuService"},
		{YAML, "com.acme.Api$Sku", "'com.acme.Api$Sku'"},
		{YAML, "商品服务", "'商品服务'"},
		{YAML, "10.20.1.21:20880", "'10.20.1.21:20880'"},
		{YAML, "a: b", ""},
		{Shell, "", ""},
	} {
		got, ok := harmless(c.name, c.in)
		if !ok {
			got = ""
		}
		if got != c.want {
			t.Errorf("%s %q: got %q, want %q", c.in, c.name, got, c.want)
		}
	}
}
