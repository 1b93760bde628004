// Package incident says what is concluded: the report, read-only once made,
// and its text, Markdown, HTML and JSON forms. Its JSON is firebreak.report/v1, whose
// keys are an interface: unknown numbers are absent, never zero, every list is
// ordered with the most important first, and the same evidence gives the same
// bytes apart from generated_at.
package incident

import (
	"time"

	"github.com/firebreak-io/firebreak/evidence"
	"github.com/firebreak-io/firebreak/lang"
)

// Schema is the name and version of the report's JSON form.
const Schema = "firebreak.report/v1"

// Report is the whole answer.
type Report struct {
	Schema      string        `json:"schema"`
	GeneratedAt time.Time     `json:"generated_at,omitzero"`
	Tool        Tool          `json:"tool"`
	Window      Window        `json:"window,omitzero"`
	Incidents   []Incident    `json:"incidents"`
	Findings    []Finding     `json:"findings"`
	Edges       []Edge        `json:"edges"`
	Paths       []Path        `json:"paths,omitempty"`
	Traces      []Trace       `json:"traces,omitempty"`
	Pools       []Pool        `json:"pools"`
	Stacks      []StackGroup  `json:"stacks"`
	SQL         []Fingerprint `json:"sql"`
	Timeline    []Series      `json:"timeline"`
	Sources     []Source      `json:"sources"`

	OpenIncidents []OpenIncident `json:"open_incidents,omitempty"` // of firebreak serve: the incidents that are not over, whatever this report says
}

// Tool says which build made the report.
type Tool struct {
	Version string `json:"version"`
}

// Window is the time that the evidence covers.
type Window struct {
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
}

// IsZero reports whether no evidence had a time.
func (w Window) IsZero() bool { return w.From.IsZero() && w.To.IsZero() }

// Label says what an incident, or a link of its chain, is.
type Label string

// The labels. An incident's label is its trigger, or the lowest link that the
// evidence supports. Healthy and Inconclusive are answers like the others.
const (
	RetryAmplification Label = "retry-amplification"
	SlowSQL            Label = "slow-sql"
	PoolStarvation     Label = "pool-starvation"
	LockContention     Label = "lock-contention"
	DownstreamWait     Label = "downstream-wait"
	GCPause            Label = "gc-pause"
	CPUSaturation      Label = "cpu-saturation"
	NoProvider         Label = "no-provider"
	TrafficSkew        Label = "traffic-skew"
	DuplicateWrites    Label = "duplicate-writes"
	Deadlock           Label = "deadlock"
	Healthy            Label = "healthy"
	Inconclusive       Label = "inconclusive"
)

// Labels lists all labels in the order of the documentation.
func Labels() []Label {
	return []Label{
		RetryAmplification, SlowSQL, PoolStarvation, LockContention, DownstreamWait, GCPause, CPUSaturation,
		NoProvider, TrafficSkew, DuplicateWrites, Deadlock, Healthy, Inconclusive,
	}
}

// Certainty is a word with a measured meaning: over incidents with known
// answers, High is right at least 95 times of 100 and Medium 75 times.
type Certainty string

// The certainties.
const (
	High   Certainty = "high"
	Medium Certainty = "medium"
	Low    Certainty = "low"
)

// Role is a label's part in the chain.
type Role string

// The roles.
const (
	Trigger   Role = "trigger"   // began it
	Amplifier Role = "amplifier" // made it worse
	Victim    Role = "victim"    // broke because of it
)

// Incident is one verdict.
type Incident struct {
	ID           string        `json:"id"`
	Label        Label         `json:"label"`
	Certainty    Certainty     `json:"certainty"`
	ActFirst     Label         `json:"act_first,omitempty"` // what to deal with first; absent when there is nothing to do
	Headline     string        `json:"headline"`            // one line to paste into the channel
	Subject      string        `json:"subject,omitempty"`   // service or pool it is about, where several incidents stand side by side
	Window       Window        `json:"window,omitzero"`
	Chain        []Link        `json:"chain"`
	Notes        []Note        `json:"notes,omitempty"` // sentences a person should know, with their findings
	Alternatives []Alternative `json:"alternatives"`
	Walk         []Answered    `json:"walk"`
	Actions      []Action      `json:"actions"`
	Missing      []Missing     `json:"missing"`
	Remarks      []Remark      `json:"remarks,omitempty"` // what the engineer noted on the evidence
}

// What a remark says of the verdict: that what it is about speaks for or against
// it. Without either it is a bookmark.
const (
	For     = "for"
	Against = "against"
)

// Remark is an engineer's note on something of the evidence. It is never made
// by firebreak itself.
type Remark struct {
	Stance    string              `json:"stance,omitempty"`
	About     string              `json:"about"` // what was on the screen
	Text      string              `json:"text,omitempty"`
	Findings  []string            `json:"findings,omitempty"`
	Citations []evidence.Citation `json:"citations,omitempty"`
}

// Link is one part of the causal chain.
type Link struct {
	Role     Role      `json:"role"`
	Label    Label     `json:"label"`
	Since    time.Time `json:"since,omitzero"`
	Subject  string    `json:"subject"`
	Findings []string  `json:"findings"`          // IDs, at least one
	Assumed  bool      `json:"assumed,omitempty"` // the order before the next link is assumed, not shown by times
}

// Note is a sentence with the findings it rests on.
type Note struct {
	Text     string   `json:"text"`
	Findings []string `json:"findings"`
}

// Alternative is another label that was weighed.
type Alternative struct {
	Label     Label     `json:"label"`
	Certainty Certainty `json:"certainty"`
	For       []string  `json:"for"`     // finding IDs
	Against   []string  `json:"against"` // finding IDs
	WhyNot    string    `json:"why_not"`
}

// Says is the stance in words.
func (r *Remark) Says() string {
	switch r.Stance {
	case For:
		return lang.T("speaks for it")
	case Against:
		return lang.T("speaks against it")
	}
	return lang.T("noted")
}

// Answer is the answer to a runbook step.
type Answer string

// The answers.
const (
	Yes      Answer = "yes"
	No       Answer = "no"
	DontKnow Answer = "unknown"
)

// Answered is one step of a runbook's walk.
type Answered struct {
	Runbook      string   `json:"runbook"`
	Step         string   `json:"step"`
	Ask          string   `json:"ask"`
	Answer       Answer   `json:"answer"`
	Because      []string `json:"because"` // finding IDs
	OverriddenBy *string  `json:"overridden_by"`
	Concludes    Label    `json:"concludes,omitempty"` // set on the step at which the walk ended with a label
}

// ByHand returns the label that the walk came to where an engineer answered some
// of its steps, and how many; zero if nobody did. It is the engineer's word: the
// incident's own label is firebreak's.
func (in *Incident) ByHand() (Label, int) {
	n := 0
	var label Label
	for _, w := range in.Walk {
		if w.OverriddenBy != nil {
			n++
		}
		if w.Concludes != "" && label == "" {
			label = w.Concludes
		}
	}
	if n == 0 {
		return "", 0
	}
	if label == "" {
		label = Inconclusive
	}
	return label, n
}

// byHandWords says beside the verdict what the engineer's answers led to; empty
// if there are none.
func (in *Incident) byHandWords() string {
	label, n := in.ByHand()
	switch {
	case n == 0:
		return ""
	case label == in.Label:
		return lang.Sprintf("the engineer says %s as well (answers by hand: %d; see the runbook)", lang.Word(string(label)), n)
	}
	return lang.Sprintf("the engineer says %s, firebreak says %s (answers by hand: %d; see the runbook, whose actions follow them)", lang.Word(string(label)), lang.Word(string(in.Label)), n)
}

// Action is something to do, with the incident's own names filled in. It is
// shown and copied, never run.
type Action struct {
	Order   int    `json:"order"`
	What    string `json:"what"`
	Command string `json:"command,omitempty"`
	Why     string `json:"why"`
	Risk    string `json:"risk,omitempty"`
	Label   Label  `json:"label,omitempty"` // the link of the chain that it deals with; absent for all of them
}

// Missing is evidence that would help, how to collect it, and what each outcome
// would mean.
type Missing struct {
	What      string `json:"what"`
	Command   string `json:"command,omitempty"`
	WouldTell string `json:"would_tell"`
}

// Finding is one thing seen.
type Finding struct {
	ID        string              `json:"id"`
	Kind      Kind                `json:"kind"`
	Subject   string              `json:"subject"`
	Text      string              `json:"text"` // one plain sentence with its numbers
	Values    map[string]float64  `json:"values,omitempty"`
	Names     map[string]string   `json:"names,omitempty"` // what templates may fill in: service, method, table …
	First     time.Time           `json:"first,omitzero"`
	Last      time.Time           `json:"last,omitzero"`
	Count     int                 `json:"count,omitempty"`
	Citations []evidence.Citation `json:"citations"` // at least one, as "file:line"
}

// Edge is a consumer's calls of one provider method.
type Edge struct {
	Consumer      string              `json:"consumer,omitempty"`
	Service       string              `json:"service"`
	Method        string              `json:"method"`
	Calls         *int64              `json:"calls,omitempty"`
	Attempts      *int64              `json:"attempts,omitempty"`
	Amplification *float64            `json:"amplification,omitempty"`
	ByAttempts    map[string]int64    `json:"by_attempts,omitempty"`
	Ceiling       *int                `json:"ceiling,omitempty"`
	TimeoutMS     *int64              `json:"timeout_ms,omitempty"`
	Candidates    []Stage             `json:"candidates,omitempty"`
	Outcomes      map[string]int64    `json:"outcomes,omitempty"`
	Provider      string              `json:"provider,omitempty"`     // the service that was called, where its name is not Service
	Protocol      string              `json:"protocol,omitempty"`     // "dubbo", "http", …
	Peak          *float64            `json:"peak,omitempty"`         // amplification while it was retried, where that is not all of the time
	RetryShare    *float64            `json:"retry_share,omitempty"`  // retries / calls; a budget is commonly 0.1
	Cumulative    *float64            `json:"cumulative,omitempty"`   // attempts / calls that were asked for once the retries of the layers above are folded away
	Fates         map[string]int64    `json:"fates,omitempty"`        // calls by how they ended
	Abandoned     *int64              `json:"abandoned,omitempty"`    // of the calls, those whose caller had given up while the provider went on
	OtherSends    map[string]int64    `json:"other_sends,omitempty"`  // requests that are no retries: hedges, redirects, challenges, transparent
	Ambiguous     *int64              `json:"ambiguous,omitempty"`    // groups of requests that may be retries or a loop, counted as single calls
	OrphanedS     *float64            `json:"orphaned_s,omitempty"`   // provider time after the caller had given up
	WastedShare   *float64            `json:"wasted_share,omitempty"` // share of the provider's time whose answer nobody used
	AttemptP95MS  *int64              `json:"attempt_p95_ms,omitempty"`
	CallP95MS     *int64              `json:"call_p95_ms,omitempty"`
	Providers     []ProviderShare     `json:"providers,omitempty"`
	Basis         string              `json:"basis"`           // "spans", "logs", "access-logs", "metrics"
	Exact         bool                `json:"exact"`           // false: attempts were put together by inference or are hidden in a span of the whole call, or only failed calls were seen
	Scope         string              `json:"scope,omitempty"` // "failed-calls" where only calls that failed leave a trace, "since-start" where one scrape tells of a process's whole life
	Citations     []evidence.Citation `json:"citations,omitempty"`
}

// ProviderShare is what one provider got of an edge's attempts.
type ProviderShare struct {
	Name     string   `json:"name"`
	Attempts int64    `json:"attempts"`
	Failures int64    `json:"failures"`
	BusyS    *float64 `json:"busy_s,omitempty"` // its own time, or its callers' where it was not seen
	P95MS    *int64   `json:"p95_ms,omitempty"`
}

// Path is a way that requests took through several edges, retries multiplying
// on it.
type Path struct {
	Layers        []Layer             `json:"layers"`
	Amplification float64             `json:"amplification"` // the product of the layers'
	Load          float64             `json:"load"`          // attempts at the last edge for each request that came in, fan-out included
	InPerS        *float64            `json:"in_per_s,omitempty"`
	OutPerS       *float64            `json:"out_per_s,omitempty"`
	Citations     []evidence.Citation `json:"citations,omitempty"`
}

// Layer is one edge of a path, counted on that path only.
type Layer struct {
	Edge          string  `json:"edge"` // "order -> SkuService.getSkuStock"
	Calls         int64   `json:"calls"`
	Attempts      int64   `json:"attempts"`
	FanOut        float64 `json:"fan_out"` // calls for each attempt of the layer before
	Amplification float64 `json:"amplification"`
}

// Stage is how many candidates were left at one stage of routing.
type Stage struct {
	Stage string `json:"stage"`
	Count int    `json:"count"`
}

// Pool is the state of a pool, the worst that was seen.
type Pool struct {
	Name               string              `json:"name"`
	Kind               string              `json:"kind"` // "thread" or "connection"
	Owner              string              `json:"owner,omitempty"`
	Max                *int                `json:"max,omitempty"`
	Active             *int                `json:"active,omitempty"`
	Idle               *int                `json:"idle,omitempty"`
	Queued             *int                `json:"queued,omitempty"`
	Waiting            *int                `json:"waiting,omitempty"`
	Rejected           *int64              `json:"rejected,omitempty"`
	CompletedPerSecond *float64            `json:"completed_per_s,omitempty"` // between the first and the last snapshot
	HoldSeconds        *float64            `json:"hold_s,omitempty"`          // active / completed_per_s (Little's law)
	Diagnosis          string              `json:"diagnosis,omitempty"`       // "frozen", "slow", "too-small", "shutting-down"
	ByWaitKind         map[string]int      `json:"by_wait_kind,omitempty"`
	Citations          []evidence.Citation `json:"citations,omitempty"`
}

// StackGroup is the threads with one normalised stack.
type StackGroup struct {
	Pool      string              `json:"pool"`
	Threads   int                 `json:"threads"` // in the dump where there are most
	State     string              `json:"state,omitempty"`
	WaitKind  WaitKind            `json:"wait_kind"`
	AppFrame  string              `json:"app_frame,omitempty"` // first frame of the user's own code
	Top       []string            `json:"top"`
	Dumps     int                 `json:"dumps"` // in how many dumps it was seen
	Lock      string              `json:"lock,omitempty"`
	Owner     string              `json:"owner,omitempty"`
	Citations []evidence.Citation `json:"citations,omitempty"`
}

// WaitKind is what a thread waits for.
type WaitKind string

// The wait kinds.
const (
	WaitDBRead    WaitKind = "db-read"
	WaitDBPool    WaitKind = "db-pool"
	WaitRedis     WaitKind = "redis"
	WaitHTTP      WaitKind = "http"
	WaitRPC       WaitKind = "rpc"
	WaitMQ        WaitKind = "mq"
	WaitLock      WaitKind = "lock"
	WaitCondition WaitKind = "condition"
	WaitDisk      WaitKind = "disk"
	WaitDNS       WaitKind = "dns"
	WaitLogging   WaitKind = "logging"
	WaitClassInit WaitKind = "class-init"
	WaitGC        WaitKind = "gc"
	WaitCPU       WaitKind = "cpu"
	WaitIdle      WaitKind = "idle"
	WaitOther     WaitKind = "other"
)

// Fingerprint is what was seen of one SQL statement.
type Fingerprint struct {
	Fingerprint  string              `json:"fingerprint"`
	Count        *int64              `json:"count,omitempty"`
	TotalSeconds *float64            `json:"total_s,omitempty"`
	P95Seconds   *float64            `json:"p95_s,omitempty"`
	MaxSeconds   *float64            `json:"max_s,omitempty"`
	RowsExamined *int64              `json:"rows_examined,omitempty"` // the most for one execution
	FullScan     *bool               `json:"full_scan,omitempty"`
	RunningNow   *int                `json:"running_now,omitempty"`
	LockWaits    *int                `json:"lock_waits,omitempty"`
	Table        string              `json:"table,omitempty"`
	Method       string              `json:"method,omitempty"` // service method that runs it, where stacks or logs tell
	DAOFrame     string              `json:"dao_frame,omitempty"`
	Citations    []evidence.Citation `json:"citations,omitempty"`
}

// Series is one line of the timeline.
type Series struct {
	Signal string    `json:"signal"`
	Unit   string    `json:"unit"`
	Onset  time.Time `json:"onset,omitzero"`
	Points []Point   `json:"points"`
}

// Source is one input, with what could not be read of it.
type Source struct {
	Path     string    `json:"path"`
	Format   string    `json:"format,omitempty"`
	Bytes    int64     `json:"bytes"`
	Records  int       `json:"records"`
	Skipped  int       `json:"skipped"`
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	Problems []string  `json:"problems"`
	Unread   string    `json:"unread,omitempty"` // why evidence in it was not read; absent if all of it was
}
