// Package tail follows files that others write to, and folders into which they
// drop dumps, and hands what it reads on as evidence.
//
// It promises: the records of a file are those that reading all of it at once
// would give, whatever moment it was looked at and however it was rotated; a file
// is one by device, inode and first bytes, whatever its name; what was renamed is
// read to its end before what took its name, and so are those that had the name
// between two looks, if they stand beside it uncompressed; a state that was saved (see
// [Config.State]) stands for records that were handed on, so that after a crash
// nothing is lost, and what came since the state was saved is handed on once more.
// Its memory is bounded by the number of files that are open at once, and a file
// that says much takes turns with the others. When the sink has no room, files
// wait.
//
// It cannot know: what was written and cut away or deleted between two looks, and
// which file a compressed one was made of.
//
// A Tailer is used by one goroutine.
package tail

import (
	"log/slog"
	"time"

	"github.com/firebreak-io/firebreak/collector"
)

// Config says what to follow.
type Config struct {
	Files []Files
	Dumps []Dumps
	State string         // folder of the state that survives a restart; empty: none is kept
	Zone  *time.Location // for times without an offset; nil means that of this machine
	Sink  collector.Sink
	Log   *slog.Logger // nil: nothing is logged

	Recent  time.Duration // how far back a report looks: so much is read again after a restart
	MaxOpen int           // files that are open at once (256)
}

// Files is a set of followed files.
type Files struct {
	Paths, Exclude []string // globs
	Service        string   // whose they are; empty: their names tell
	Format         string   // see parsers.Hint
	AccessFormat   string
	Start          bool // files that are there already are read from their start, not their end
}

// How often things happen, in polls, of which there is one a second.
const (
	globEvery  = 5  // globs are looked at
	holdFor    = 3  // nothing came: what is open is taken for whole
	halfFor    = 10 // nothing came: so is a line without its end
	chooseBy   = 5  // a format is chosen by what there is
	lingerFor  = 5  // a renamed file is read on
	idleFor    = 60 // a file that says nothing is closed
	saveEvery  = 5  // the state is saved
	retryEvery = 10 // what could not be opened is tried again
)

// How much is read.
const (
	chunkSize = 256 << 10 // at a time
	giantSize = 1<<20 + 64<<10
	pollSize  = 64 << 20  // in one poll, of all files
	countSize = 256 << 20 // of lines that are only counted
	headSize  = 1 << 20   // of the beginning of a file that is read on, to learn from
	lookBack  = 48 << 10  // of what stands before
	againSize = 32 << 20  // of a file for reports after a restart
)

// Tailer follows files.
type Tailer struct {
	cfg     Config
	polls   int
	now     time.Time // of this poll
	watches map[string]*watch
	order   []*watch
	files   []*file // that are read, in order
	byID    map[identity]*file
	dumps   []*dumpFolder
	ledgers map[string]*ledger // by path
	past    collector.Counts   // of paths that are not followed any more
	state   *state             // as it was found at the start
	open    int
	capped  bool // it was said that there are too many
	buf     []byte
}

// New makes a tailer. An error says that its state cannot be kept; a state that
// cannot be read is a problem that is said, and the beginning of a new one.
func New(cfg Config) (*Tailer, error) {
	if cfg.Zone == nil {
		cfg.Zone = time.Local
	}
	if cfg.MaxOpen <= 0 {
		cfg.MaxOpen = 256
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	t := &Tailer{cfg: cfg, watches: map[string]*watch{}, byID: map[identity]*file{}, ledgers: map[string]*ledger{}, past: newCounts(), buf: make([]byte, giantSize)}
	var err error
	t.cfg = cfg
	if t.state, err = t.load(); err != nil {
		return nil, err
	}
	for i := range cfg.Dumps {
		t.dumps = append(t.dumps, newDumpFolder(&cfg.Dumps[i], t.state))
	}
	return t, nil
}

// Poll looks at everything once. It is called every second.
func (t *Tailer) Poll(now time.Time) {
	t.now = now
	if t.polls%globEvery == 0 {
		t.match()
	}
	for _, w := range t.order {
		t.look(w)
	}
	t.count()
	t.read()
	for _, f := range t.files {
		f.tick()
	}
	t.sweep()
	for _, d := range t.dumps {
		t.drop(d)
	}
	t.fold()
	t.polls++
	if t.polls%saveEvery == 0 {
		t.save()
	}
	t.tell()
}

// read gives every file its turns until nothing is left, or enough was read.
func (t *Tailer) read() {
	left := pollSize
	for busy := true; busy && left > 0; {
		busy = false
		for _, f := range t.files {
			if f.counting || !t.cfg.Sink.Room() {
				continue
			}
			n := f.step()
			left -= n
			busy = busy || n > 0
		}
	}
}

// count counts lines of files that are followed from their end.
func (t *Tailer) count() {
	left := countSize
	for _, f := range t.files {
		for f.counting && left > 0 {
			left -= f.countStep()
		}
	}
}

// Close saves the state and hands on what is open. Of that the state says that
// it was not, so that after a restart it is read whole.
func (t *Tailer) Close() {
	t.save()
	for _, f := range t.files {
		f.end()
	}
	t.tell()
}

// sweep lets go the files that are not there any more and have been read.
func (t *Tailer) sweep() {
	kept := t.files[:0]
	for _, f := range t.files {
		if f.leaving && (f.quiet >= lingerFor && !f.waits || f.lost) {
			f.end()
			f.gone = true
			if x := f.saved(); x != nil { // it may come into sight again by another name
				x.Gone = t.now
				if n := len(x.Marks); n > 0 && x.Marks[n-1].position != x.position {
					x.Marks = append(x.Marks, mark{x.position, t.now})
				}
				t.state.Files = append(t.state.Files, x)
			}
			f.tell()
			delete(t.byID, f.id)
			continue
		}
		kept = append(kept, f)
	}
	clear(t.files[len(kept):])
	t.files = kept
}

// tell hands on the news of all files of which there are any.
func (t *Tailer) tell() {
	for _, f := range t.files {
		f.tell()
	}
	for _, w := range t.order {
		w.tell(t)
	}
	for _, d := range t.dumps {
		if d.problem != d.told {
			d.told = d.problem
			n := collector.News{Path: d.Dir, Kind: collector.KindDump, Format: "text", Unread: d.problem, Gone: d.problem == ""}
			if d.problem != "" {
				n.Problems = []string{d.problem}
				t.cfg.Log.Warn("unread", "path", d.Dir, "why", d.problem)
			}
			t.cfg.Sink.Source(n)
		}
	}
}
