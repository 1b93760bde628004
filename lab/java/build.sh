#!/bin/sh
# Builds both Dubbo lines into target/dubbo3 and target/dubbo27 (shop.jar and lib/), and puts the OpenTelemetry agent beside them.
set -eu
cd "$(dirname "$0")"
exec mvn -q -B package "$@"
