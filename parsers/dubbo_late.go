package parsers

import (
	"bytes"
	"strings"
	"time"

	"github.com/firebreak-io/firebreak/evidence"
)

// A response that came after its caller had given up:
//
//	The timeout response finally returned at <t>, response Response [id=7, version=2.6.12, status=20, …], channel: …                  (to 2.7.6)
//	The timeout response finally returned at <t>, response status is 20, channel: …, please check provider side …                    (2.7.7 and later)
//	The timeout response finally returned at <t>, response status is 20, response id is 12, channel: /10.20.1.31:37068 -> /10.20.0.11:20880, …
//
// Later 2.7 and 3.x print several lines of one response: ExchangeCodec finds no
// request for it and names its id, DubboCodec cannot decode it for that reason,
// and DefaultFuture is given what is left of it, without an id and with the
// status 90 (client error). An id of 3.x may be negative.

func readDubboLate(d *dubboText, off int) (bool, error) {
	msg := d.message(off)
	if !bytes.Contains(msg, []byte("response ")) || !bytes.Contains(msg, []byte("channel: ")) {
		return false, nil
	}
	a := &evidence.Attempt{Side: evidence.Consumer, Duration: evidence.None, Timeout: evidence.None, Outcome: evidence.Late}
	for _, key := range []string{"Response [id=", "response id is "} {
		if id := after(msg, key); id != nil && a.RequestID == "" {
			a.RequestID = string(until(id, ", ]\n"))
		}
	}
	status := until(after(msg, "status="), ", ]")
	if len(status) == 0 || len(status) > 3 {
		status = until(after(msg, "response status is "), ", ]")
	}
	if len(status) > 0 && len(status) <= 3 {
		a.Error = "status " + string(status)
	}
	d.channelOf(msg, a)
	if echo := string(status) == "90"; echo != (a.RequestID != "") && d.o.late.told(plainChannel(a.Channel), d.r.Time, echo) {
		return true, nil
	}
	ev := d.at(off)
	ev.Attempt = a
	return true, d.o.send(ev)
}

// plainChannel drops the host names and slashes of a channel's addresses:
// "order-1/10.20.1.31:46672 -> /10.20.0.11:20880".
func plainChannel(ch string) string {
	local, remote, ok := strings.Cut(ch, " -> ")
	if !ok {
		return ch
	}
	return local[strings.LastIndexByte(local, '/')+1:] + " -> " + remote[strings.LastIndexByte(remote, '/')+1:]
}

// lateEcho is how long after the codec's line the future's may follow: another
// thread prints it, on a machine that is busy.
const lateEcho = time.Second

// lateAnswers pairs the two lines of one late response: the one that names its
// id with the one that does not, its echo. Two that name ids are two responses.
type lateAnswers struct {
	coded map[string]bool // channels of which the codec told: their echoes say nothing more
	lines [64]lateLine    // echoes that came before anything else; the oldest is overwritten
	next  int
}

type lateLine struct {
	channel string
	at      time.Time
}

// maxLateChannels bounds what is remembered of channels.
const maxLateChannels = 10_000

// told reports whether the other line of this response was there already.
func (l *lateAnswers) told(channel string, at time.Time, echo bool) bool {
	if channel == "" {
		return false
	}
	if echo {
		if !l.coded[channel] {
			l.lines[l.next] = lateLine{channel, at}
			l.next = (l.next + 1) % len(l.lines)
		}
		return l.coded[channel]
	}
	if l.coded == nil {
		l.coded = map[string]bool{}
	}
	if len(l.coded) < maxLateChannels {
		l.coded[channel] = true
	}
	for i := range l.lines {
		line := &l.lines[(l.next+i)%len(l.lines)]
		if line.channel == channel && at.Sub(line.at).Abs() <= lateEcho {
			line.channel = ""
			return true
		}
	}
	return false
}
