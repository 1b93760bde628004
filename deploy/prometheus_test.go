package deploy

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// ruleFile is a file of rules, as Prometheus reads it.
type ruleFile struct {
	Groups []struct {
		Name     string
		Interval string
		Rules    []rule
	}
}

type rule struct {
	Record, Alert, Expr, For string
	KeepFiringFor            string `yaml:"keep_firing_for"`
	Labels, Annotations      map[string]string
}

func readRules(t *testing.T, name string) []rule {
	t.Helper()
	var f ruleFile
	readYAML(t, name, &f)
	var list []rule
	for _, g := range f.Groups {
		list = append(list, g.Rules...)
	}
	if len(list) == 0 {
		t.Fatalf("%s has no rules", name)
	}
	return list
}

// recorded adds what recording rules make.
func recorded(t *testing.T) known {
	t.Helper()
	k := exported()
	for _, r := range readRules(t, "prometheus/recording.yml") {
		labels, problems := k.check(r.Expr)
		for _, p := range problems {
			t.Errorf("%s: %s", r.Record, p)
		}
		k[r.Record] = labels
	}
	return k
}

func TestRulesAskForWhatIsExported(t *testing.T) {
	k := recorded(t)
	for _, r := range readRules(t, "prometheus/alerts.yml") {
		_, problems := k.check(r.Expr)
		for _, p := range problems {
			t.Errorf("%s: %s", r.Alert, p)
		}
	}
}

// Every alert says what is wrong, what that means and where that is explained.
func TestAlertsAreExplained(t *testing.T) {
	docs := read(t, "../docs/alerts.md")
	readme := "https://github.com/firebreak-io/firebreak/blob/main/docs/alerts.md#"
	for _, r := range readRules(t, "prometheus/alerts.yml") {
		if s := r.Labels["severity"]; s != "critical" && s != "warning" {
			t.Errorf("%s: severity %q", r.Alert, s)
		}
		if r.Annotations["summary"] == "" || r.Annotations["description"] == "" {
			t.Errorf("%s does not say what it is about", r.Alert)
		}
		if got, want := r.Annotations["runbook_url"], readme+strings.ToLower(r.Alert); got != want {
			t.Errorf("%s: runbook_url %q, want %q", r.Alert, got, want)
		}
		if !strings.Contains(docs, "\n## "+r.Alert+"\n") {
			t.Errorf("docs/alerts.md does not explain %s", r.Alert)
		}
		row := regexp.MustCompile(`(?m)^\| \[` + r.Alert + `\]\(#` + strings.ToLower(r.Alert) + `\) \|.*\| ` + r.Labels["severity"] + ` \|$`)
		if !row.MatchString(docs) {
			t.Errorf("the table of docs/alerts.md has no row for %s, %s", r.Alert, r.Labels["severity"])
		}
	}
}

// In some fleet of the tests each alert fires; that each other alert does not, the
// same questions say, as they ask for all that fire.
func TestEachAlertIsTested(t *testing.T) {
	tests := read(t, "prometheus/rules_test.yml")
	for _, r := range readRules(t, "prometheus/alerts.yml") {
		if !strings.Contains(tests, `alertname="`+r.Alert+`"`) {
			t.Errorf("rules_test.yml has no fleet in which %s fires", r.Alert)
		}
	}
}

// Reasons for which requests are refused are named as the receiver names them.
func TestReasonsOfRefusals(t *testing.T) {
	receiver := read(t, "../collector/otlp/request.go")
	named := 0
	for _, r := range readRules(t, "prometheus/alerts.yml") {
		for _, m := range regexp.MustCompile(`requests_refused_total\{reason[!=]~"([^"]*)"`).FindAllStringSubmatch(r.Expr, -1) {
			for reason := range strings.SplitSeq(m[1], "|") {
				named++
				if !regexp.MustCompile(`Reason += "` + reason + `"`).MatchString(receiver) {
					t.Errorf("%s: the receiver does not know %q", r.Alert, reason)
				}
			}
		}
	}
	if named == 0 {
		t.Error("no rule names a reason")
	}
}

// The queries that the documentation shows.
func TestDocumentedQueries(t *testing.T) {
	k := recorded(t)
	blocks := regexp.MustCompile("(?s)\n```\n(.*?)```").FindAllStringSubmatch(read(t, "../docs/metrics.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("docs/metrics.md shows no query")
	}
	for _, block := range blocks {
		_, problems := k.check(block[1])
		for _, p := range problems {
			t.Errorf("docs/metrics.md: %s", p)
		}
	}
	for _, query := range regexp.MustCompile("`((?:topk|sum|rate|count)[^`]*)`").FindAllStringSubmatch(read(t, "../docs/alerts.md"), -1) {
		_, problems := k.check(query[1])
		for _, p := range problems {
			t.Errorf("docs/alerts.md: %s", p)
		}
	}
}

// Prometheus' own tool checks the syntax and runs the tests of the rules, where
// there is one.
func TestPromtool(t *testing.T) {
	tool := os.Getenv("FIREBREAK_PROMTOOL")
	if tool == "" {
		t.Skip("FIREBREAK_PROMTOOL names no promtool")
	}
	for _, args := range [][]string{
		{"check", "rules", "recording.yml", "alerts.yml"},
		{"check", "config", "prometheus.yml"},
		{"test", "rules", "rules_test.yml"},
	} {
		cmd := exec.Command(tool, args...)
		cmd.Dir = "prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}
