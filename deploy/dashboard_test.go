package deploy

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/firebreak-io/firebreak/internal/golden"
)

const dashboardFile = "grafana/firebreak.json"

// The dashboard is made of dashboard_rows_test.go: places, IDs and the many settings
// that all panels share are given here, once.
func TestDashboard(t *testing.T) {
	made, err := json.MarshalIndent(dashboard(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, dashboardFile, append(made, '\n'))
}

// What stands in the file, however it came there, is what Grafana needs and asks for
// what there is.
func TestDashboardAsksForWhatIsExported(t *testing.T) {
	var d struct {
		UID, Title    string
		SchemaVersion int
		Templating    struct {
			List []struct{ Name, Type, Definition string }
		}
		Panels []struct {
			ID                       int
			Type, Title, Description string
			GridPos                  struct{ X, Y, W, H int }
			Datasource               *struct{ Type, UID string }
			Targets                  []struct{ Expr, RefID string }
			FieldConfig              struct{ Defaults struct{ Unit string } }
		}
	}
	if err := json.Unmarshal([]byte(read(t, dashboardFile)), &d); err != nil {
		t.Fatal(err)
	}
	if d.UID == "" || d.Title == "" || d.SchemaVersion < 39 {
		t.Errorf("uid %q, title %q, schema %d", d.UID, d.Title, d.SchemaVersion)
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
	}
	if got := strings.Join(variables, " "); got != "datasource caller callee" {
		t.Errorf("variables: %s", got)
	}
	k := exported()
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("%s has the ID of another panel", p.Title)
		}
		ids[p.ID] = true
		for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				if other := taken[[2]int{x, y}]; other != "" || x > 23 {
					t.Fatalf("%s does not fit beside %q", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		if p.Type == "row" {
			continue
		}
		if p.Description == "" || len(p.Targets) == 0 || p.Datasource == nil || p.Datasource.UID != "${datasource}" || p.FieldConfig.Defaults.Unit == "" {
			t.Errorf("%s lacks a description, queries, the data source or a unit", p.Title)
		}
		for _, target := range p.Targets {
			if _, problems := k.check(variable.Replace(target.Expr)); len(problems) > 0 {
				t.Errorf("%s: %s: %q", p.Title, target.Expr, problems)
			}
		}
	}
}

// variable puts something in place of what Grafana would.
var variable = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h")

// Prometheus' own tool finds the queries well formed, where there is one.
func TestDashboardWithPromtool(t *testing.T) {
	tool := os.Getenv("FIREBREAK_PROMTOOL")
	if tool == "" {
		t.Skip("FIREBREAK_PROMTOOL names no promtool")
	}
	var rules strings.Builder
	rules.WriteString("groups:\n- name: dashboard\n  rules:\n")
	n := 0
	for _, r := range rows {
		for _, p := range r.panels {
			for _, q := range p.queries {
				n++
				rules.WriteString("  - {record: query:" + strconv.Itoa(n) + ", expr: " + strconv.Quote(variable.Replace(q.expr)) + "}\n")
			}
		}
	}
	file := filepath.Join(t.TempDir(), "queries.yml")
	if err := os.WriteFile(file, []byte(rules.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(tool, "check", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

type object = map[string]any

func dashboard() object {
	source := object{"type": "prometheus", "uid": "${datasource}"}
	var panels []object
	id, y := 0, 0
	for _, r := range rows {
		id++
		panels = append(panels, object{
			"id": id, "type": "row", "title": r.title, "collapsed": false, "panels": []object{},
			"gridPos": object{"x": 0, "y": y, "w": 24, "h": 1},
		})
		y++
		x, height := 0, 0
		for _, p := range r.panels {
			if x+p.width > 24 {
				x, y, height = 0, y+height, 0
			}
			id++
			panels = append(panels, p.json(id, source, object{"x": x, "y": y, "w": p.width, "h": p.height}))
			x, height = x+p.width, max(height, p.height)
		}
		y += height
	}
	return object{
		"uid": "firebreak", "title": "firebreak: is it burning?", "tags": []string{"firebreak"},
		"description":   "Logical calls and attempts, incidents and pools as firebreak serve counts them. Made by go test ./deploy -update.",
		"schemaVersion": 41, "version": 1, "editable": true, "graphTooltip": 1, "refresh": "15s", "timezone": "browser", "fiscalYearStartMonth": 0,
		"time": object{"from": "now-1h", "to": "now"}, "timepicker": object{}, "weekStart": "", "preload": false, "liveNow": false,
		"links": []object{{"type": "link", "title": "What the metrics mean", "url": "https://github.com/firebreak-io/firebreak/blob/main/docs/metrics.md", "targetBlank": true, "icon": "doc", "tags": []string{}, "asDropdown": false, "includeVars": false, "keepTime": false, "tooltip": ""}},
		"annotations": object{"list": []object{
			{"builtIn": 1, "datasource": object{"type": "grafana", "uid": "-- Grafana --"}, "enable": true, "hide": true, "iconColor": "rgba(0, 211, 255, 1)", "name": "Annotations & Alerts", "type": "dashboard"},
			{"datasource": source, "enable": true, "iconColor": "red", "name": "Incidents", "expr": `max by (label) (firebreak_incidents_open) > 0`, "titleFormat": "{{label}}", "step": "15s"},
		}},
		"templating": object{"list": []object{
			{"name": "datasource", "type": "datasource", "query": "prometheus", "label": "Prometheus", "hide": 0, "refresh": 1, "regex": "", "multi": false, "includeAll": false, "options": []object{}, "current": object{}},
			names("caller", "Caller", "label_values(firebreak_logical_calls_total, caller)", source),
			names("callee", "Callee", `label_values(firebreak_logical_calls_total{caller=~"$caller"}, callee)`, source),
		}},
		"panels": panels,
	}
}

// names is a variable of which all values, or several, may be chosen. All is also
// where the label is absent.
func names(name, label, query string, source object) object {
	return object{
		"name": name, "label": label, "type": "query", "datasource": source, "definition": query,
		"query": object{"query": query, "refId": name, "qryType": 1}, "refresh": 2, "sort": 1, "regex": "", "hide": 0,
		"multi": true, "includeAll": true, "allValue": ".*", "options": []object{},
		"current": object{"text": []string{"All"}, "value": []string{"$__all"}},
	}
}

func (p panel) json(id int, source, place object) object {
	var targets []object
	for i, q := range p.queries {
		t := object{"refId": string(rune('A' + i)), "datasource": source, "expr": q.expr, "legendFormat": q.legend, "editorMode": "code", "range": true, "instant": false}
		if p.kind == "table" || p.kind == "stat" && p.names {
			t["range"], t["instant"] = false, true
		}
		if p.kind == "table" {
			t["format"] = "table"
		}
		if p.kind == "heatmap" {
			t["format"] = "heatmap"
		}
		targets = append(targets, t)
	}
	steps := []object{{"color": "green", "value": nil}}
	for i, at := range p.limits {
		steps = append(steps, object{"color": []string{"orange", "red"}[i+2-len(p.limits)], "value": at})
	}
	defaults := object{
		"unit": p.unit, "mappings": []object{}, "links": []object{},
		"color": object{"mode": "palette-classic"}, "thresholds": object{"mode": "absolute", "steps": steps},
	}
	if p.none != "" {
		defaults["noValue"] = p.none
	}
	options := object{}
	switch p.kind {
	case "timeseries":
		custom := object{
			"drawStyle": "line", "lineInterpolation": "linear", "lineWidth": 1, "fillOpacity": 8, "showPoints": "auto", "spanNulls": false, "axisSoftMin": 0,
			"stacking": object{"mode": "none", "group": "A"}, "thresholdsStyle": object{"mode": "off"},
		}
		if p.stacked {
			custom["stacking"], custom["fillOpacity"] = object{"mode": "normal", "group": "A"}, 40
		}
		if len(p.limits) > 0 {
			custom["thresholdsStyle"] = object{"mode": "dashed"}
		}
		if p.least != 0 {
			custom["axisSoftMin"] = p.least
		}
		defaults["custom"] = custom
		options = object{
			"legend":  object{"displayMode": "table", "placement": "bottom", "calcs": []string{"lastNotNull", "max"}, "showLegend": true, "sortBy": "Last *", "sortDesc": true},
			"tooltip": object{"mode": "multi", "sort": "desc"},
		}
	case "stat":
		defaults["color"] = object{"mode": "thresholds"}
		text := "auto"
		if p.names {
			text = "name"
		}
		options = object{
			"reduceOptions": object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
			"colorMode":     "background", "graphMode": "none", "justifyMode": "auto", "orientation": "auto", "textMode": text, "wideLayout": true,
		}
	case "state-timeline":
		defaults["custom"] = object{"fillOpacity": 80, "lineWidth": 0, "spanNulls": false}
		defaults["color"] = object{"mode": "thresholds"}
		options = object{"mergeValues": true, "showValue": "never", "alignValue": "left", "rowHeight": 0.8, "legend": object{"displayMode": "list", "placement": "bottom", "showLegend": false}, "tooltip": object{"mode": "single", "sort": "none"}}
	case "bargauge":
		defaults["color"] = object{"mode": "thresholds"}
		defaults["min"], defaults["max"] = 0, 1
		options = object{"displayMode": "gradient", "orientation": "horizontal", "showUnfilled": true, "valueMode": "color", "namePlacement": "auto", "sizing": "auto", "minVizHeight": 16, "minVizWidth": 8, "maxVizHeight": 300, "reduceOptions": object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false}}
	case "heatmap":
		options = object{
			"calculate": false, "cellGap": 1, "color": object{"mode": "scheme", "scheme": "Oranges", "exponent": 0.5, "fill": "dark-orange", "reverse": false, "scale": "exponential", "steps": 32},
			"yAxis": object{"axisPlacement": "left", "unit": "short"}, "cellValues": object{"unit": p.unit}, "rowsFrame": object{"layout": "auto"},
			"showValue": "never", "legend": object{"show": true}, "tooltip": object{"mode": "single", "yHistogram": false, "showColorScale": false}, "filterValues": object{"le": 1e-9}, "exemplars": object{"color": "rgba(255,0,255,0.7)"},
		}
	case "table":
		defaults["custom"] = object{"align": "auto", "cellOptions": object{"type": "auto"}, "inspect": false}
		options = object{"showHeader": true, "cellHeight": "sm", "footer": object{"show": false, "reducer": []string{"sum"}, "countRows": false, "fields": ""}}
	}
	made := object{
		"id": id, "type": p.kind, "title": p.title, "description": p.about, "datasource": source, "gridPos": place,
		"targets": targets, "options": options, "fieldConfig": object{"defaults": defaults, "overrides": []object{}},
	}
	if p.kind == "table" {
		made["transformations"] = []object{{"id": "organize", "options": object{"excludeByName": object{"Time": true, "Value": true, "__name__": true, "alertstate": true, "job": true}, "indexByName": object{}, "renameByName": object{}}}}
	}
	return made
}
