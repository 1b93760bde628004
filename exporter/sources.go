package exporter

import (
	"cmp"
	"maps"
	"slices"

	"github.com/firebreak-io/firebreak/correlate/live"
)

// Stats are counted by others than the engine. They are asked at each scrape, by
// several goroutines; metrics of those that are nil are absent.
type Stats struct {
	Sources func() live.SourceStats
	Bundles func() live.BundleStats
	// Noticed counts incidents that were noticed, over several reports.
	Noticed  func() live.NoticedStats
	Requests func() live.RequestStats
}

// maxSources bounds the sources that have series of their own.
const maxSources = 200

// perSource calls f for each source.
func perSource(f func(s *live.SourceState, p put)) func(view, put) {
	return ofSources(func(x live.SourceStats, p put) {
		type name struct{ source, kind string }
		seen := map[name]bool{}
		for i := range x.Sources {
			s := &x.Sources[i]
			s.Source, s.Kind = clean(s.Source), clean(s.Kind)
			if n := (name{s.Source, s.Kind}); !seen[n] && len(seen) < maxSources {
				seen[n] = true
				f(s, p)
			}
		}
	})
}

func ofSources(f func(x live.SourceStats, p put)) func(view, put) {
	return func(v view, p put) {
		if v.stats.Sources != nil {
			f(v.stats.Sources(), p)
		}
	}
}

var sourceLabels = []string{"source", "kind"}

// sourceMetrics are those of what is followed and scraped.
var sourceMetrics = []metric{
	{"firebreak_records_total", counter, []string{"format"}, "Records that were read of files, dumps and endpoints, by format.", "formats", ofSources(func(x live.SourceStats, p put) { counts(x.Records, p) })},
	{"firebreak_skipped_total", counter, []string{"format", "reason"}, "Pieces of them that could not be understood.", "formats x few reasons", ofSources(func(x live.SourceStats, p put) {
		keys := slices.SortedFunc(maps.Keys(x.Skipped), func(a, b live.FormatReason) int {
			return cmp.Or(cmp.Compare(a.Format, b.Format), cmp.Compare(a.Reason, b.Reason))
		})
		for _, k := range keys {
			p.value(float64(x.Skipped[k]), clean(k.Format), clean(k.Reason))
		}
	})},
	{"firebreak_source_up", gauge, sourceLabels, "1 if a configured source could be read the last time.", "200 sources", perSource(func(s *live.SourceState, p put) {
		up := 0.0
		if s.Up {
			up = 1
		}
		p.value(up, s.Source, s.Kind)
	})},
	{"firebreak_source_lag_seconds", gauge, sourceLabels, "How long ago what is not read yet was written; absent where that cannot be known.", "200 sources", perSource(func(s *live.SourceState, p put) {
		if s.Lag >= 0 {
			p.value(s.Lag.Seconds(), s.Source, s.Kind)
		}
	})},
	{"firebreak_source_lag_bytes", gauge, sourceLabels, "Bytes that were written and are not read yet; absent where that cannot be known.", "200 sources", perSource(func(s *live.SourceState, p put) {
		if s.LagBytes >= 0 {
			p.value(float64(s.LagBytes), s.Source, s.Kind)
		}
	})},
	{"firebreak_source_last_record_timestamp_seconds", gauge, sourceLabels, "When the last record of a source came.", "200 sources", perSource(func(s *live.SourceState, p put) {
		if !s.Last.IsZero() {
			p.value(float64(s.Last.UnixMilli())/1000, s.Source, s.Kind)
		}
	})},
	{"firebreak_requests_taken_total", counter, []string{"transport"}, "Requests of senders that were acknowledged.", "2", ofRequests(func(x live.RequestStats, p put) { counts(x.Taken, p) })},
	{"firebreak_requests_refused_total", counter, []string{"reason"}, "Requests of senders that were refused whole, by reason.", "11", ofRequests(func(x live.RequestStats, p put) { counts(x.Refused, p) })},
	{"firebreak_requests_converted_total", counter, []string{"form"}, "Requests that were acknowledged though they were no plain OTLP: Tempo's, Jaeger's, Zipkin's, or with keys of older versions.", "5", ofRequests(func(x live.RequestStats, p put) { counts(x.Converted, p) })},
	{"firebreak_requests_skipped_total", counter, []string{"reason"}, "Pieces of acknowledged requests that could not be understood.", "50", ofRequests(func(x live.RequestStats, p put) { counts(x.Skipped, p) })},
	{"firebreak_requests_bytes", gauge, nil, "Bytes that requests take which are being read, unpacked.", "1", ofRequests(func(x live.RequestStats, p put) { p.value(float64(x.Bytes)) })},
	{"firebreak_requests_limit_bytes", gauge, nil, "Bytes that they may take.", "1", ofRequests(func(x live.RequestStats, p put) { p.value(float64(x.MaxBytes)) })},
}

func ofRequests(f func(x live.RequestStats, p put)) func(view, put) {
	return func(v view, p put) {
		if v.stats.Requests != nil {
			f(v.stats.Requests(), p)
		}
	}
}

func ofBundles(f func(x live.BundleStats, p put)) func(view, put) {
	return func(v view, p put) {
		if v.stats.Bundles != nil {
			f(v.stats.Bundles(), p)
		}
	}
}

func ofNoticed(f func(x live.NoticedStats) map[string]int64) func(view, put) {
	return func(v view, p put) {
		if v.stats.Noticed != nil {
			counts(f(v.stats.Noticed()), p)
		}
	}
}

// bundleMetrics are those of incidents that were noticed and of the store of
// their evidence.
var bundleMetrics = []metric{
	{"firebreak_incidents_opened_total", counter, []string{"label"}, "Incidents that were noticed: that several reports in a row told of.", "11", ofNoticed(func(x live.NoticedStats) map[string]int64 { return x.Opened })},
	{"firebreak_incidents_open", gauge, []string{"label"}, "Incidents that are open, by the deepest verdict on each; a label that had one stays, at 0.", "11", ofNoticed(func(x live.NoticedStats) map[string]int64 { return x.Open })},
	{"firebreak_bundles_written_total", counter, nil, "Bundles of evidence that were written.", "1", ofBundles(func(x live.BundleStats, p put) { p.value(float64(x.Written)) })},
	{"firebreak_bundles_failed_total", counter, nil, "Bundles that could not be written.", "1", ofBundles(func(x live.BundleStats, p put) { p.value(float64(x.Failed)) })},
	{"firebreak_bundles_removed_total", counter, []string{"reason"}, "Bundles that were removed, by what there was too much of: count, bytes, age.", "3", ofBundles(func(x live.BundleStats, p put) { counts(x.Removed, p) })},
	{"firebreak_bundles", gauge, nil, "Bundles that are kept.", "1", ofBundles(func(x live.BundleStats, p put) { p.value(float64(x.Kept)) })},
	{"firebreak_bundles_bytes", gauge, nil, "What they take on disk.", "1", ofBundles(func(x live.BundleStats, p put) { p.value(float64(x.Bytes)) })},
}
