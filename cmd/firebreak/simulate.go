package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firebreak-io/firebreak/incident"
	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/simulate"
)

// simulateOptions are the flags of simulate. What was not given is taken from the
// incident, if there is one.
type simulateOptions struct {
	arrivals, spread           float64
	hold, timeout, backoff     time.Duration
	calm, long                 time.Duration
	retries, threads, incident int
	layers, queue, after       string
	trouble, format            string
	cancels, ascii, quiet      bool
	seed                       uint64
}

func (a *app) simulateCommand() *cobra.Command {
	var o simulateOptions
	cmd := &cobra.Command{
		Use:   "simulate [PATH...]",
		Short: lang.T("What if: load, threads needed and recovery, before and after a change"),
		Long: lang.T(`Does the arithmetic of retries and a pool of workers, in the long run and played
over time. With PATH it starts from the numbers of the incident found there; flags
give what is not known, or something else. --after says what to change:
retries=0, retries=1,2 (by layer), hold=20ms, timeout=500ms, threads=400, queue=0,
arrivals=150, cancels=true; several apart by spaces.

It is a model: one pool, random arrivals, callers that do as configured.`),
		Example: lang.T(`  firebreak simulate --arrivals 300 --hold 3.1s --timeout 1s --retries 2 --threads 200
  firebreak simulate logs/ --after 'retries=0 hold=20ms'
  firebreak simulate --arrivals 150 --hold 5s --calm 1s --timeout 2s --retries 3 --threads 200 --queue 400`),
		RunE: func(cmd *cobra.Command, args []string) error { return a.simulate(cmd, args, o) },
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.Float64Var(&o.arrivals, "arrivals", 0, lang.T("calls a second of the business, before retries"))
	f.DurationVar(&o.hold, "hold", 0, lang.T("how long one request keeps a worker: 3.1s"))
	f.DurationVar(&o.timeout, "timeout", 0, lang.T("how long a caller waits for one attempt (default: for ever)"))
	f.IntVar(&o.retries, "retries", 0, lang.T("attempts beyond the first"))
	f.StringVar(&o.layers, "layers", "", lang.T("retries of each layer of callers, outermost first: 2,2"))
	f.DurationVar(&o.backoff, "backoff", 0, lang.T("wait before each retry"))
	f.IntVar(&o.threads, "threads", 0, lang.T("workers, of all processes together"))
	f.StringVar(&o.queue, "queue", "0", lang.T("places to wait for a worker, or endless"))
	f.Float64Var(&o.spread, "spread", simulate.DefaultSpread, lang.T("how much hold times vary: 0 not at all, 1 exponentially"))
	f.BoolVar(&o.cancels, "cancels", false, lang.T("timeouts end the work (mostly the provider goes on)"))
	f.StringVar(&o.after, "after", "retries=0", lang.T("what to change"))
	f.DurationVar(&o.long, "for", time.Minute, lang.T("how long to play"))
	f.DurationVar(&o.calm, "calm", 0, lang.T("hold time outside the trouble: does it come back afterwards?"))
	f.StringVar(&o.trouble, "trouble", "10s+20s", lang.T("with --calm: when the trouble begins, and how long it lasts"))
	f.IntVar(&o.incident, "incident", 1, lang.T("which incident of the evidence"))
	f.Uint64Var(&o.seed, "seed", 1, lang.T("of what is random"))
	f.StringVar(&o.format, "format", "text", lang.T("text or json"))
	f.BoolVar(&o.ascii, "ascii", false, lang.T("draw with ASCII only"))
	f.BoolVarP(&o.quiet, "quiet", "q", false, lang.T("no progress on standard error"))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// whatIf is what simulate found out.
type whatIf struct {
	Schema      string           `json:"schema"`
	Incident    string           `json:"incident,omitempty"`
	Inputs      []whatIfInput    `json:"inputs,omitempty"` // what the evidence told
	Before      simulate.Result  `json:"before"`
	After       simulate.Result  `json:"after"`
	Changes     []string         `json:"changes"`
	Explanation []string         `json:"explanation"`
	Trouble     simulate.Trigger `json:"trouble,omitzero"`
	ForS        float64          `json:"for_s"`
	PlayedAsIs  simulate.Series  `json:"played_before"`
	PlayedAfter simulate.Series  `json:"played_after"`

	said   []simulate.Sentence
	calmS  float64          // hold time outside the trouble, as it is
	report *incident.Report // nil without evidence
}

type whatIfInput struct {
	Input     simulate.Input `json:"input"`
	Known     bool           `json:"known"`
	How       string         `json:"how"`
	Citations []string       `json:"citations"`
}

func (a *app) simulate(cmd *cobra.Command, paths []string, o simulateOptions) error {
	if o.format != "text" && o.format != "json" {
		return usagef(lang.T("--format text or --format json"), "--format %q", o.format)
	}
	w := whatIf{Schema: "firebreak.simulate/v1"}
	m := simulate.Model{Spread: simulate.DefaultSpread}
	var origins []simulate.Origin
	if len(paths) > 0 {
		var err error
		if m, origins, err = a.simulateFrom(cmd, paths, o, &w); err != nil {
			return err
		}
	}
	m, err := o.apply(cmd, m)
	if err != nil {
		return err
	}
	after, err := changedModel(m, o.after)
	if err != nil {
		return err
	}
	for _, x := range []simulate.Model{m, after} {
		if p := x.Problems(); len(p) > 0 {
			return inputProblem(p, origins)
		}
	}
	c, err := simulate.Compare(m, after)
	if err != nil {
		return err
	}
	w.Before, w.After, w.said, w.ForS = c.Before, c.After, c.Explanation, o.long.Seconds()
	w.Changes = []string{}
	for _, s := range c.Changes {
		w.Changes = append(w.Changes, s.Say(lang.Sprintf))
	}
	if w.report != nil {
		if s, ok := simulate.Doubt(w.report, o.incident-1, &c.Before); ok {
			w.said = append(w.said, s)
		}
	}
	for _, s := range w.said {
		w.Explanation = append(w.Explanation, s.Say(lang.Sprintf))
	}
	if err := w.play(m, after, o); err != nil {
		return err
	}
	if o.format == "json" {
		enc := json.NewEncoder(a.stdout)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		return enc.Encode(&w)
	}
	return w.text(a.stdout, o.ascii)
}

// simulateFrom reads evidence and takes the model from an incident of it.
func (a *app) simulateFrom(cmd *cobra.Command, paths []string, o simulateOptions, w *whatIf) (simulate.Model, []simulate.Origin, error) {
	var none simulate.Model
	if err := a.checkPaths(cmd, paths, ""); err != nil {
		return none, nil, err
	}
	r, err := savedReport(paths)
	if r == nil && err == nil {
		ctx, stop := interruptible()
		defer stop()
		bar := a.progressBar(o.quiet)
		r, _, err = a.analyse(ctx, request{paths: paths, stdin: a.stdin, zone: time.UTC, version: version()}, bar.tell)
		bar.clear()
	}
	if err != nil {
		return none, nil, err
	}
	if o.incident < 1 || o.incident > len(r.Incidents) {
		return none, nil, usagef("--incident 1", "--incident %d: the evidence has %d", o.incident, len(r.Incidents))
	}
	w.report = r
	w.Incident = r.Incidents[o.incident-1].Headline
	m, origins := simulate.FromReport(r, o.incident-1)
	for _, x := range origins {
		in := whatIfInput{Input: x.Input, Known: x.Known, How: x.How.Say(lang.Sprintf), Citations: []string{}}
		for _, c := range x.Citations {
			in.Citations = append(in.Citations, c.String())
		}
		w.Inputs = append(w.Inputs, in)
	}
	return m, origins, nil
}

// savedReport reads a report that was written as JSON before; nil if the paths
// are something else.
func savedReport(paths []string) (*incident.Report, error) {
	if len(paths) != 1 || paths[0] == "-" {
		return nil, nil
	}
	if st, err := os.Stat(paths[0]); err != nil || !st.Mode().IsRegular() {
		return nil, nil // whoever reads evidence says what is wrong
	}
	f, err := os.Open(paths[0])
	if err != nil {
		return nil, nil
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReader(f)
	head, _ := in.Peek(4096)
	if trimmed := bytes.TrimLeft(head, " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' || !incident.IsReport(head) {
		return nil, nil
	}
	return incident.ReadJSON(in)
}

// apply puts the flags that were given into the model.
func (o *simulateOptions) apply(cmd *cobra.Command, m simulate.Model) (simulate.Model, error) {
	given := cmd.Flags().Changed
	var words []string
	for _, x := range []struct{ flag, value string }{
		{"arrivals", strconv.FormatFloat(o.arrivals, 'g', -1, 64)},
		{"hold", o.hold.String()},
		{"timeout", o.timeout.String()},
		{"retries", strconv.Itoa(o.retries)},
		{"layers", o.layers},
		{"backoff", o.backoff.String()},
		{"threads", strconv.Itoa(o.threads)},
		{"queue", o.queue},
		{"spread", strconv.FormatFloat(o.spread, 'g', -1, 64)},
		{"cancels", strconv.FormatBool(o.cancels)},
	} {
		if given(x.flag) {
			words = append(words, x.flag+"="+x.value)
		}
	}
	return changedModel(m, strings.Join(words, " "))
}

// changedModel applies changes of the form "retries=0 hold=20ms".
func changedModel(m simulate.Model, changes string) (simulate.Model, error) {
	for word := range strings.FieldsSeq(changes) {
		key, value, _ := strings.Cut(word, "=")
		bad := usagef("--after 'retries=0 hold=20ms threads=400'", "%s: what is to be changed to what?", word)
		seconds := func(p *float64) error {
			d, err := time.ParseDuration(value)
			if err != nil {
				return bad
			}
			*p = d.Seconds()
			return nil
		}
		number := func(p *float64) error {
			x, err := strconv.ParseFloat(value, 64)
			if err != nil {
				return bad
			}
			*p = x
			return nil
		}
		var err error
		switch key {
		case "arrivals":
			err = number(&m.ArrivalsPerS)
		case "spread":
			err = number(&m.Spread)
		case "hold":
			err = seconds(&m.HoldS)
		case "timeout":
			err = seconds(&m.TimeoutS)
		case "backoff":
			var s float64
			err = seconds(&s)
			m.Layers = append([]simulate.Layer(nil), m.Layers...)
			for i := range m.Layers {
				m.Layers[i].BackoffS = s
			}
		case "threads":
			if m.Threads, err = strconv.Atoi(value); err != nil {
				err = bad
			}
		case "queue":
			if m.Queue, err = strconv.Atoi(value); err != nil {
				if err = bad; value == "endless" {
					m.Queue, err = simulate.Endless, nil
				}
			}
		case "retries", "layers":
			var layers []simulate.Layer
			if layers, err = layersOf(m, value); err != nil {
				err = bad
			}
			m.Layers = layers
		case "cancels":
			if m.Cancels, err = strconv.ParseBool(value); err != nil {
				err = bad
			}
		default:
			err = bad
		}
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

// layersOf reads the retries of each layer; one number is for all that there are.
func layersOf(m simulate.Model, value string) ([]simulate.Layer, error) {
	parts := strings.Split(value, ",")
	var list []simulate.Layer
	for i := range max(len(parts), len(m.Layers)) {
		part := parts[0]
		switch {
		case i < len(parts):
			part = parts[i]
		case len(parts) > 1:
			return list, nil
		}
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, err
		}
		l := simulate.Layer{Retries: n}
		if i < len(m.Layers) {
			l.Name, l.BackoffS = m.Layers[i].Name, m.Layers[i].BackoffS
		}
		list = append(list, l)
	}
	return list, nil
}

// examples are values of the flags that are needed.
var examples = map[simulate.Input]string{simulate.Arrivals: "300", simulate.Hold: "3.1s", simulate.Threads: "200"}

// inputProblem says which numbers are missing or make no sense, and what would
// tell them.
func inputProblem(list []simulate.Problem, origins []simulate.Origin) error {
	var said, try []string
	for _, p := range list {
		switch {
		case !p.Missing:
			return usagef("firebreak simulate --help", "%s: must be %s", string(p.Input), lang.T(p.Wants))
		case len(origins) == 0:
			said = append(said, lang.Sprintf("%s: not given", string(p.Input)))
		}
		for _, x := range origins {
			if x.Input == p.Input {
				said = append(said, lang.Sprintf("%s: not known from the evidence (%s)", string(p.Input), x.How.Say(lang.Sprintf)))
			}
		}
		try = append(try, "--"+string(p.Input)+" "+examples[p.Input])
	}
	if len(origins) == 0 {
		try = append([]string{"firebreak simulate"}, try...)
	}
	return usagef(strings.Join(try, " "), "%s", strings.Join(said, "\n"))
}

// play plays both models, with the trouble if one was asked for.
func (w *whatIf) play(before, after simulate.Model, o simulateOptions) error {
	if !(o.long > 0) {
		return usagef("--for 60s", "--for %v: must be above 0", o.long)
	}
	var t simulate.Trigger
	if o.calm > 0 || w.Before.Metastable {
		var ok bool
		if t, ok = troubleOf(o.trouble); !ok {
			return usagef("--trouble 10s+20s", "--trouble %s: from when, and for how long?", o.trouble)
		}
	}
	played := func(m simulate.Model) (simulate.Series, error) {
		s := simulate.Troubled(m, o.calm.Seconds(), w.Before.Metastable, t)
		s.ForS, s.Seed = o.long.Seconds(), o.seed
		w.Trouble, w.calmS = s.Trigger, s.Model.HoldS
		return simulate.Run(s)
	}
	var err error
	if w.PlayedAfter, err = played(after); err != nil {
		return err
	}
	w.PlayedAsIs, err = played(before)
	return err
}

// troubleOf reads "10s+20s".
func troubleOf(text string) (simulate.Trigger, bool) {
	at, long, ok := strings.Cut(text, "+")
	from, err := time.ParseDuration(strings.TrimSpace(at))
	last, err2 := time.ParseDuration(strings.TrimSpace(long))
	return simulate.Trigger{AtS: from.Seconds(), ForS: last.Seconds()}, ok && err == nil && err2 == nil && from >= 0 && last > 0
}
