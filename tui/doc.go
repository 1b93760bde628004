// Package tui is the terminal screen: it shows a report, walks a runbook, and
// opens whatever a number cites. It reads from a [Source] and writes nothing but
// the engineer's own words: answers, notes and bookmarks.
//
// There is one model. Screens are not models: each is a pure function from a
// [scene] (the report, the engineer's words, the size) to a [page] of rows, and
// the model alone moves the cursor, scrolls, searches, filters and paints. So a
// screen can be tested by looking at its rows, and no screen can forget a key.
//
// The package promises that Update does no I/O: reading, copying and saving are
// commands that send one message back; that every frame fits its window, down
// to 1×1; that nothing from outside reaches the terminal unsanitised; and that
// what colour says, a glyph and a word say too.
package tui
