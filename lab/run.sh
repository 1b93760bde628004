#!/usr/bin/env bash
# Makes the lab burn, on a Debian 12 machine with Go and Java: installs what else it
# needs as packages, builds the services and the driver, and runs.
#
#   lab/run.sh [smoke]          the reference chain, judged by firebreak; under 6 minutes
#   lab/run.sh all              every scenario in every dose, then asks firebreak about each
#   lab/run.sh SCENARIO...      some scenarios, in the full dose unless -dose says otherwise
#   lab/run.sh live             the reference chain beside firebreak serve and Prometheus; under 5 minutes
#   lab/run.sh fixtures         trims what was captured into testdata/incidents/lab-*
#
# Everything is kept below lab/.work, or in $LAB_WORK. Servers that Debian starts by
# itself do not matter: the lab's own have ports and data folders of their own.
set -euo pipefail
cd "$(dirname "$0")/.."

sudo() { if [ "$(id -u)" = 0 ]; then "$@"; else command sudo "$@"; fi; }

# What is needed, by a program that shows it is there.
install=()
need() {
	local program
	for program in "$1" "/usr/sbin/$1"; do
		if command -v "$program" > /dev/null; then return; fi
	done
	install+=("$2")
}
need mariadbd mariadb-server
need mariadb mariadb-client
need nginx nginx
# Debian keeps PostgreSQL's servers off the path.
ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || need initdb postgresql
need mvn maven
need jstack default-jdk-headless
need vmstat procps
if [ "${1:-}" = live ]; then
	need prometheus prometheus
	need tmux tmux
fi
if [ ${#install[@]} -gt 0 ]; then
	echo "installing ${install[*]}"
	sudo apt-get update -qq
	sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${install[@]}" > /dev/null
fi

work=${LAB_WORK:-lab/.work}
mkdir -p "$work"
begun=$SECONDS
# What only reads captures needs no services.
reads() { [[ ${1:-} == list || ${1:-} == judge || ${1:-} == fixtures ]]; }
if reads "$@"; then
	:
elif [ ! -e lab/java/target/dubbo3/shop.jar ] || [ -n "$(find lab/java -newer lab/java/target/dubbo3/shop.jar -name '*.java' -o -newer lab/java/target/dubbo3/shop.jar -name pom.xml | head -1)" ]; then
	lab/java/build.sh
fi
reads "$@" || (cd lab/dubbogo && go build -o dubbogo .)
go build -o "$work/burn" ./lab/cmd/burn
echo "built in $((SECONDS - begun)) s"

burn() { "$work/burn" "$1" -lab lab -work "$work" "${@:2}"; }

case ${1:-smoke} in
smoke) burn smoke ;;
live) burn live ;;
all)
	# What was captured is worth judging even if some runs failed.
	failed=0
	burn all || failed=1
	burn judge || failed=1
	exit $failed
	;;
fixtures | judge | list) burn "$@" ;;
*) burn run "$@" ;;
esac
