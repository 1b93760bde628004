#!/usr/bin/env bash
# Builds a Collector with the firebreak connector of this checkout:
#   otelconnector/builder/build.sh [FOLDER]
# The program is FOLDER/otelcol-firebreak (/tmp/otelcol-firebreak). It takes two or
# three minutes of two cores.
set -euo pipefail
cd "$(dirname "$0")"
out=${1:-/tmp/otelcol-firebreak}
env "dist.output_path=$out" GOFLAGS=-mod=mod go run go.opentelemetry.io/collector/cmd/builder@v0.165.0 --config manifest.yaml --ldflags '-s -w'
echo "$out/otelcol-firebreak"
