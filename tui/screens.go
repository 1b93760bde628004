package tui

import "github.com/firebreak-io/firebreak/lang"

// screenID names a screen.
type screenID string

// The screens. The first nine have a number to press.
const (
	onVerdict  screenID = "verdict"
	onRunbook  screenID = "runbook"
	onCalls    screenID = "calls"
	onPools    screenID = "pools"
	onSQL      screenID = "sql"
	onRoutes   screenID = "routes"
	onTimeline screenID = "timeline"
	onSources  screenID = "sources"
	onWhatIf   screenID = "what-if"

	onFinding screenID = "finding" // one finding with its numbers
	onFlame   screenID = "flame"   // the threads of a pool by their frames
	onTrace   screenID = "trace"   // one trace as a waterfall
	onExcerpt screenID = "excerpt" // the text that a citation names
	onLinks   screenID = "links"   // where the chosen thing leads
	onHelp    screenID = "help"
	onPalette screenID = "palette"
	onRemarks screenID = "remarks"
	onBooks   screenID = "books" // choice of a runbook
)

// screen is one way to look at a report.
type screen struct {
	id   screenID
	name string // English: the key of the catalogue

	// list makes the page. It must not depend on the place's key or top, which
	// are the cursor's.
	list func(s *scene, at place) *page

	// detail makes the page of one thing of the list, which stands beside it where
	// there is room and behind Enter where there is none. Nil: there is none.
	detail func(s *scene, at place, key string) *page

	deeper bool // the page of one thing has details beside it too

	sorts []string // English names of the orders that s goes through
}

// screens lists all of them; those with a number first.
func screens() []screen {
	return []screen{
		{id: onVerdict, name: lang.Mark("Verdict"), list: verdictPage},
		{id: onRunbook, name: lang.Mark("Runbook"), list: runbookPage},
		{id: onCalls, name: lang.Mark("Calls"), list: callsPage, detail: callsDetail, deeper: true, sorts: callSorts()},
		{id: onPools, name: lang.Mark("Pools"), list: poolsPage, detail: poolsDetail},
		{id: onSQL, name: lang.Mark("SQL"), list: sqlPage, detail: sqlDetail, sorts: sqlSorts()},
		{id: onRoutes, name: lang.Mark("Routes"), list: routesPage, detail: routesDetail, deeper: true},
		{id: onTimeline, name: lang.Mark("Timeline"), list: timelinePage},
		{id: onSources, name: lang.Mark("Sources"), list: sourcesPage, detail: sourcesDetail},
		{id: onWhatIf, name: lang.Mark("What-if"), list: whatIfPage},

		{id: onFlame, name: lang.Mark("Flame"), list: flamePage},
		{id: onFinding, name: lang.Mark("Finding"), list: findingPage},
		{id: onTrace, name: lang.Mark("Trace"), list: tracePage},
		{id: onExcerpt, name: lang.Mark("Evidence")},
		{id: onLinks, name: lang.Mark("Leads to")},
		{id: onHelp, name: lang.Mark("Help")},
		{id: onPalette, name: lang.Mark("Commands")},
		{id: onRemarks, name: lang.Mark("Notes"), list: remarksPage},
		{id: onBooks, name: lang.Mark("Runbooks"), list: booksPage},
	}
}

// numbered is how many screens have a number.
const numbered = 9

// title returns a screen's name in the language of the screen.
func (s *screen) title() string { return lang.T(s.name) }
