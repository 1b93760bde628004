#!/bin/bash
# Runs the stories of the whole program: two million spans (or as many as given)
# counted exactly while a log is rotated, a kill -9 and a restart, and overload.
set -euo pipefail
cd "$(dirname "$0")/.."
FIREBREAK_FLOOD=${1:-2000000} go test ./bench -run Flood -v -timeout 20m -count 1
