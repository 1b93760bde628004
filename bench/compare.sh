#!/bin/bash
# Compares what taking in spans costs firebreak and the Collector's spanmetrics
# connector: the same load to each in turn (ABAB), processor time of the server
# (user and system) per million spans, and the most memory that it took.
#
#   bench/compare.sh FIREBREAK COLLECTOR [RUNS] [CALLS] [flags of bench/flood ...]
#
# COLLECTOR is a Collector 0.165 with otlpreceiver, the spanmetrics connector and
# the prometheus exporter, as ocb builds it. Needs go, curl, jq and awk. GOMAXPROCS
# is handed on to the servers: with 1 the spans a second are those of one core.
set -euo pipefail
firebreak=$1 collector=$2 runs=${3:-5} calls=${4:-66000}
shift $(($# < 4 ? $# : 4))
cd "$(dirname "$0")/.."
tmp=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null; rm -rf "$tmp"' EXIT
go build -o "$tmp/flood" ./bench/flood
hertz=$(getconf CLK_TCK)

cat > "$tmp/collector.yaml" <<YAML
receivers: {otlp: {protocols: {grpc: {endpoint: "127.0.0.1:24317"}, http: {endpoint: "127.0.0.1:24318"}}}}
connectors: {${CONNECTOR:-span_metrics}: {metrics_flush_interval: 15s}}
exporters: {prometheus: {endpoint: "127.0.0.1:29464"}}
service:
  telemetry: {metrics: {level: none}, logs: {level: error}}
  pipelines:
    traces: {receivers: [otlp], exporters: [${CONNECTOR:-span_metrics}]}
    metrics: {receivers: [${CONNECTOR:-span_metrics}], exporters: [prometheus]}
YAML

cpu() { awk -v hertz="$hertz" '{sub(/^.*\) /, ""); print ($12 + $13) / hertz}' "/proc/$pid/stat"; }

# measure NAME COMMAND... starts a server, sends the load, scrapes it as Prometheus
# does (every 15 s) until all is counted, and adds a line to its results.
measure() {
	local name=$1 before after
	shift
	"$@" > "$tmp/$name.log" 2>&1 &
	pid=$!
	for _ in $(seq 300); do curl -sf localhost:29464/metrics > /dev/null && break; sleep 0.1; done
	before=$(cpu)
	"$tmp/flood" -calls "$calls" -grpc localhost:24317 -http localhost:24318 "${flags[@]}" > "$tmp/sent.json"
	sleep 15
	curl -sf localhost:29464/metrics > "$tmp/$name.metrics"
	after=$(cpu)
	jq -r --arg cpu "$(awk "BEGIN {print $after - $before}")" --arg rss "$(awk '/VmHWM/ {print $2 / 1000}' "/proc/$pid/status")" \
		'[($cpu | tonumber) * 1e6 / .truth.spans, ($rss | tonumber), .truth.spans / (.sent.took_ns / 1e9), .sent.refused] | @tsv' "$tmp/sent.json" | tee -a "$tmp/$name.tsv" | sed "s/^/$name\t/"
	kill "$pid"
	wait "$pid" 2> /dev/null || true
	pid=
}

flags=("$@")
printf 'what\tCPU s per million\tMB at most\tspans/s\trefused\n'
for _ in $(seq "$runs"); do
	measure firebreak "$firebreak" serve --otlp-grpc localhost:24317 --otlp-http localhost:24318 --web.listen-address localhost:29464
	measure spanmetrics "$collector" --config "$tmp/collector.yaml"
done
echo
for name in firebreak spanmetrics; do
	for column in 1 2 3; do
		sort -n -k$column,$column "$tmp/$name.tsv" | awk -v c=$column '{v[NR] = $c} END {printf "%.2f\t", NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2}'
	done | sed "s/^/median of $name\t/"
	echo
done
