package live

import "time"

// What comes now may tell of long ago: a log that was copied, a dump of the last
// fire, a folder that was restored. It is no evidence of what burns now.
const (
	oldAfter = 30 * time.Minute // on top of what reports look back at: clocks and queues are late, too
	ahead    = time.Minute      // clocks that are ahead
	zoneStep = 15 * time.Minute // offsets of time zones are multiples of this,
	zoneMax  = 26 * time.Hour   // and two of them differ by less
	zoneLag  = time.Minute      // between what happened and its line
	fewMarks = 5                // fewer marks (lines that say next to nothing) do not tell that now is looked at
)

// setAside parts the records that happened long before now, or days after it (a
// clock that is wrong), from the others. Where
// nothing has happened lately by what it says (what is sent is a recording), none is
// old. Lines whose clock seems to be that of another time zone are not, either.
func setAside(list []remembered, now time.Time, recent time.Duration) (kept []remembered, old map[string]int) {
	before, after := now.Add(-recent-oldAfter), now.Add(zoneMax)
	ages := map[string]*agesOf{}
	dumps := map[dumpName]time.Time{}
	lately, any := 0, false
	for _, x := range list {
		at := x.rec.Time
		if at.IsZero() {
			continue
		}
		foreign := at.Before(before) || at.After(after)
		any = any || foreign
		if !foreign && !at.After(now.Add(ahead)) {
			if lately++; x.rec.Mark == nil {
				lately = fewMarks
			}
		}
		if x.rec.Dump != nil {
			dumps[dumpName{x.rec.Cite.Source, x.rec.Dump.ID}] = at
		}
		a := ages[x.rec.Cite.Source]
		if a == nil {
			a = &agesOf{}
			ages[x.rec.Cite.Source] = a
		}
		a.add(x.at.Sub(at), foreign, x.rec.Cite.Source != Source)
	}
	if !any || lately < fewMarks {
		return list, nil
	}
	old = map[string]int{}
	for _, x := range list {
		source := x.rec.Cite.Source
		at, a := x.rec.Time, ages[source]
		if at.IsZero() && x.rec.Stack != nil {
			at = dumps[dumpName{source, x.rec.Stack.Dump}]
		}
		switch {
		case a == nil, a.otherZone():
		case at.IsZero() && a.old == a.dated, !at.IsZero() && (at.Before(before) || at.After(after)):
			old[source]++
			continue
		}
		kept = append(kept, x)
	}
	return kept, old
}

// agesOf counts how old the records of a source were when they came.
type agesOf struct {
	dated, old, shifted int
}

func (a *agesOf) add(age time.Duration, old, local bool) {
	a.dated++
	if !old {
		return
	}
	a.old++
	if local && age > 0 && age < zoneMax && age%zoneStep < zoneLag {
		a.shifted++
	}
}

// otherZone reports whether what seems old came, nearly all of it, whole quarters of
// an hour late: it is written now, by the clock of another zone.
func (a *agesOf) otherZone() bool { return a.old > 0 && a.shifted*10 >= a.old*9 }
