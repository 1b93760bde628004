package tui

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/lang"
	"github.com/firebreak-io/firebreak/simulate"
)

// supposed is what the what-if screen reckons with: a model, and how long one
// request is held outside the trouble (0: not known).
type supposed struct {
	simulate.Model
	calmS float64
}

// input is a number of the what-if screen that can be changed.
type input struct {
	id   string // of its row, and in a kept case
	name string // English
	ask  string // English: what it is, with an example
	of   simulate.Input
	kind inputKind
	get  func(*supposed) float64
	set  func(*supposed, float64)
	from float64 // where a step goes from 0
	zero string  // English: what 0 means, if it is not a number
	must bool    // without it nothing can be reckoned
	both bool    // it is no change: before and after have it alike
}

// inputKind is how an input is written.
type inputKind uint8

const (
	kindRate inputKind = iota
	kindTime           // a time, with its unit
	kindAmount
	kindTries // retries, of each layer
	kindYesNo
)

// inputs lists them in the order of the screen, which is that in which they are
// put into a model.
func inputs() []input {
	return []input{
		{
			id: "arrivals", name: lang.Mark("calls/s"), ask: lang.Mark("calls a second of the business, before retries (300)"), of: simulate.Arrivals, kind: kindRate, must: true,
			get: func(m *supposed) float64 { return m.ArrivalsPerS }, set: func(m *supposed, x float64) { m.ArrivalsPerS = x },
		},
		{
			id: "hold", name: lang.Mark("hold time"), ask: lang.Mark("how long one request keeps a worker (3.1s, 20ms, /20)"), of: simulate.Hold, kind: kindTime, must: true,
			get: func(m *supposed) float64 { return m.HoldS }, set: func(m *supposed, x float64) { m.HoldS = x },
		},
		{
			id: "calm", name: lang.Mark("hold when calm"), ask: lang.Mark("how long it is held outside the trouble, to see whether it comes back (50ms)"), kind: kindTime, both: true,
			get: func(m *supposed) float64 { return m.calmS }, set: func(m *supposed, x float64) { m.calmS = x },
		},
		{
			id: "timeout", name: lang.Mark("timeout"), ask: lang.Mark("how long a caller waits for one attempt (500ms, never)"), of: simulate.Timeout, kind: kindTime, from: 10, zero: lang.Mark("never"),
			get: func(m *supposed) float64 { return m.TimeoutS }, set: func(m *supposed, x float64) { m.TimeoutS = x },
		},
		{
			id: "retries", name: lang.Mark("retries"), ask: lang.Mark("attempts beyond the first; of several layers, outermost first (0, or 2,1)"), of: simulate.Layers, kind: kindTries,
			get: retriesOf, set: setRetries,
		},
		{
			id: "layers", name: lang.Mark("retry layers"), ask: lang.Mark("how many layers of callers try again; their attempts multiply (1)"), of: simulate.Layers, kind: kindAmount,
			get: layersOf, set: setLayers,
		},
		{
			id: "backoff", name: lang.Mark("backoff"), ask: lang.Mark("wait before each retry (200ms)"), of: simulate.Layers, kind: kindTime, from: 0.1,
			get: backoffOf, set: setBackoff,
		},
		{
			id: "threads", name: lang.Mark("threads"), ask: lang.Mark("workers, of all processes together (400)"), of: simulate.Threads, kind: kindAmount, must: true,
			get: func(m *supposed) float64 { return float64(m.Threads) }, set: func(m *supposed, x float64) { m.Threads = int(x) },
		},
		{
			id: "queue", name: lang.Mark("queue"), ask: lang.Mark("places to wait for a worker (100, endless)"), of: simulate.Queue, kind: kindAmount, from: 10,
			get: func(m *supposed) float64 { return float64(m.Queue) }, set: func(m *supposed, x float64) { m.Queue = int(x) },
		},
		{
			id: "cancels", name: lang.Mark("timeouts cancel"), ask: lang.Mark("does a timeout end the work? (yes, no)"), kind: kindYesNo,
			get: func(m *supposed) float64 { return oneIf(m.Cancels) }, set: func(m *supposed, x float64) { m.Cancels = x != 0 },
		},
	}
}

// inputOf finds an input by its ID.
func inputOf(id string) *input {
	list := inputs()
	if i := slices.IndexFunc(list, func(in input) bool { return in.id == id }); i >= 0 {
		return &list[i]
	}
	return nil
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// retriesOf is the most that a layer retries; setRetries is for all of them.
func retriesOf(m *supposed) float64 {
	most := 0
	for _, l := range m.Layers {
		most = max(most, l.Retries)
	}
	return float64(most)
}

func setRetries(m *supposed, x float64) { m.Layers = setEach(m.Layers, []int{int(x)}) }

// setEach gives layers their retries: one number is for all that there are.
func setEach(layers []simulate.Layer, retries []int) []simulate.Layer {
	n := len(retries)
	if n == 1 {
		n = max(n, len(layers))
	}
	list := make([]simulate.Layer, n)
	for i := range list {
		if j := len(layers) - n + i; j >= 0 { // the innermost stay
			list[i] = layers[j]
		}
		list[i].Retries = retries[min(i, len(retries)-1)]
	}
	return list
}

func layersOf(m *supposed) float64 { return float64(len(m.Layers)) }

// setLayers leaves the innermost layers, or puts more of the outermost in front.
func setLayers(m *supposed, x float64) {
	n := int(x)
	list := slices.Clone(m.Layers)
	for len(list) > n {
		list = list[1:]
	}
	for len(list) < n && len(list) < 100 {
		l := simulate.Layer{Retries: 1}
		if len(list) > 0 {
			l = simulate.Layer{Retries: list[0].Retries, BackoffS: list[0].BackoffS}
		}
		list = append([]simulate.Layer{l}, list...)
	}
	m.Layers = list
}

func backoffOf(m *supposed) float64 {
	most := 0.0
	for _, l := range m.Layers {
		most = max(most, l.BackoffS)
	}
	return most
}

func setBackoff(m *supposed, x float64) {
	m.Layers = slices.Clone(m.Layers)
	for i := range m.Layers {
		m.Layers[i].BackoffS = x
	}
}

// show writes the value that a model has.
func (in *input) show(m *supposed) string {
	x := in.get(m)
	switch {
	case in.kind == kindYesNo && x != 0:
		return lang.T("yes")
	case in.kind == kindYesNo:
		return lang.T("no")
	case in.kind == kindTries:
		if len(m.Layers) == 0 {
			return "0"
		}
		var each []string
		for _, l := range m.Layers {
			each = append(each, strconv.Itoa(l.Retries))
		}
		return strings.Join(each, ",")
	case x == 0 && in.zero != "":
		return lang.T(in.zero)
	case in.id == "queue" && x == simulate.Endless:
		return lang.T("endless")
	case in.kind == kindTime:
		return simulate.Seconds(x)
	case in.kind == kindAmount:
		return simulate.Whole(x)
	}
	return simulate.Number(x)
}

// put gives a model a value as it was typed. It returns what is wrong with that,
// in words, and then the model is as before. Texts like /20 and x2 are of what
// the model has.
func (in *input) put(m *supposed, typed string) (wrong string) {
	next := *m
	text := strings.ToLower(strings.Join(strings.Fields(typed), ""))
	if in.kind == kindTries {
		each, ok := wholes(text)
		if !ok {
			return lang.Sprintf("%s: how many retries is that? One number, or one for each layer: 2,1", typed)
		}
		next.Layers = setEach(m.Layers, each)
	} else {
		x, said := in.read(m, text)
		if said != "" {
			return lang.Sprintf("%s: %s", typed, said)
		}
		in.set(&next, x)
	}
	if said := in.nonsense(&next); said != "" {
		return lang.Sprintf("%s: %s", typed, said)
	}
	*m = next
	return ""
}

// nonsense says what values an input may have, if the model's is none of them.
func (in *input) nonsense(m *supposed) string {
	if in.id == "calm" && !(m.calmS >= 0 && m.calmS <= 1e6) {
		return lang.Sprintf("it must be %s", lang.T("above 0 and at most 1,000,000 s"))
	}
	if in.id == "layers" && len(m.Layers) == 0 {
		return lang.T("it must be 1 or more; for no retries, set the retries to 0")
	}
	for _, p := range m.Problems() {
		switch {
		case p.Input != in.of || in.of == "":
		case p.Missing:
			return lang.T("it must be above 0")
		default:
			return lang.Sprintf("it must be %s", lang.T(p.Wants))
		}
	}
	return ""
}

// read reads a value; said tells what it cannot be.
func (in *input) read(m *supposed, text string) (x float64, said string) {
	if len(text) > 1 && in.kind != kindYesNo {
		sign, rest := text[:1], strings.TrimPrefix(text, "×")
		if rest == text {
			rest = text[1:]
		} else {
			sign = "x"
		}
		if by, err := strconv.ParseFloat(rest, 64); err == nil && by > 0 && strings.Contains("/x*", sign) {
			if sign == "/" {
				by = 1 / by
			}
			x = in.get(m) * by
			if in.kind == kindAmount {
				x = math.Round(x)
			}
			return x, ""
		}
	}
	switch in.kind {
	case kindYesNo:
		switch text {
		case "yes", "y", "true", "1", "on", "是", lang.T("yes"):
			return 1, ""
		case "no", "n", "false", "0", "off", "否", lang.T("no"):
			return 0, ""
		}
		return 0, lang.T("yes or no?")
	case kindTime:
		return in.readTime(text)
	case kindAmount:
		if in.id == "queue" && (text == "endless" || text == lang.T("endless")) {
			return simulate.Endless, ""
		}
		n, err := strconv.Atoi(ungrouped(text))
		if err != nil {
			return 0, lang.T("how many is that? A whole number: 400")
		}
		if n < 0 {
			return 0, lang.T("it must be 0 or more")
		}
		return float64(n), ""
	}
	x, err := strconv.ParseFloat(ungrouped(strings.TrimSuffix(text, "/s")), 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, lang.T("how many a second is that? A number: 300")
	}
	return x, ""
}

func (in *input) readTime(text string) (x float64, said string) {
	if in.zero != "" && (text == "never" || text == lang.T(in.zero)) {
		return 0, ""
	}
	if strings.HasSuffix(text, "min") {
		text = strings.TrimSuffix(text, "in")
	}
	if d, err := time.ParseDuration(text); err == nil {
		if d < 0 {
			return 0, lang.T("it must be 0 or more")
		}
		return d.Seconds(), ""
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return 0, lang.Sprintf("which unit? %sms or %ss", text, text)
	}
	return 0, lang.T("how long is that? A number with its unit: 500ms, 3.1s, 2m")
}

// wholes reads "2" or "2,1".
func wholes(text string) ([]int, bool) {
	var list []int
	for part := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil, false
		}
		list = append(list, n)
	}
	return list, true
}

// ungrouped takes the commas out of "1,200"; "24,3" stays as it is, and is no
// number.
func ungrouped(text string) string {
	parts := strings.Split(text, ",")
	for _, p := range parts[1:] {
		if len(p) != 3 {
			return text
		}
	}
	return strings.Join(parts, "")
}

// roundNumbers are the round numbers that a value is moved along.
var roundNumbers = []float64{1, 1.5, 2, 3, 4, 5, 6, 8}

// step returns the next round value, as it would be typed; false at the end.
func (in *input) step(m *supposed, up bool) (typed string, ok bool) {
	x := in.get(m)
	switch in.kind {
	case kindYesNo:
		if (x != 0) == up {
			return "", false
		}
		return map[bool]string{true: "yes", false: "no"}[up], true
	case kindTries:
		var each []string
		for _, l := range m.Layers {
			n := l.Retries - 1
			if up {
				n = l.Retries + 1
			}
			each = append(each, strconv.Itoa(max(0, n)))
		}
		if len(each) == 0 && up {
			each = []string{"1"}
		}
		return strings.Join(each, ","), len(each) > 0 && (up || x > 0)
	}
	var next float64
	switch {
	case in.id == "layers":
		if next = x + 1; !up {
			next = x - 1
		}
		if next < 1 {
			return "", false
		}
	case x == simulate.Endless:
		return "", false
	case x == 0 && in.id == "timeout": // never: the only way is shorter
		if next = in.from; up {
			return "", false
		}
	case x == 0 && (in.from == 0 || !up):
		return "", false
	case x == 0:
		next = in.from
	default:
		next = round(x, up)
		if in.kind == kindAmount {
			if next = math.Floor(next); up {
				next = max(x+1, math.Ceil(round(x, up)))
			}
		}
		if in.kind == kindTime && next < 0.001 {
			return "", false
		}
	}
	if next < 0 || next == 0 && in.must {
		return "", false
	}
	if in.kind == kindTime {
		return time.Duration(math.Round(next * 1e9)).String(), true
	}
	return strconv.FormatFloat(next, 'f', -1, 64), true
}

// round returns the next of them above or below x.
func round(x float64, up bool) float64 {
	scale := math.Pow(10, math.Floor(math.Log10(x)+1e-9))
	const near = 1e-6
	if up {
		for _, s := range roundNumbers {
			if s*scale > x*(1+near) {
				return s * scale
			}
		}
		return 10 * scale
	}
	for _, s := range slices.Backward(roundNumbers) {
		if s*scale < x*(1-near) {
			return s * scale
		}
	}
	return roundNumbers[len(roundNumbers)-1] * scale / 10
}
