#!/bin/sh
# Makes the dumps in this folder and in threadinfo/, actuator/ and dump-to-file/ with the
# JDK whose home is given: ./make.sh /usr/lib/jvm/jdk-17 17
set -eu
jdk=$1 v=$2
cd "$(dirname "$0")"
work=$(mktemp -d)
"$jdk/bin/javac" -d "$work" Sample.java
name="Dubbo_JStack.log.2026-03-14_10-02-07"
run() { # starts the program in the background; $pid is its process
	: >"$work/stdout"
	"$jdk/bin/java" -Xmx64m "$@" >"$work/stdout" 2>&1 &
	pid=$!
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		grep -q ready "$work/stdout" && return
		sleep 0.5
	done
	exit 1
}
run -cp "$work" Sample threadinfo "../threadinfo/jdk-$v-tostring.txt"
kill "$pid"
run -cp "$work" Sample dubbo "../threadinfo/$name"
mv "../threadinfo/$name" "../threadinfo/jdk-$v-$name"
kill "$pid"
run -cp "$work" Sample actuator "../actuator/jdk-$v-spring-boot-2.7.json"
kill "$pid"
run -cp "$work" Sample
"$jdk/bin/jstack" -l -e "$pid" >"jdk-$v-jstack-l-e.txt"
"$jdk/bin/jcmd" "$pid" Thread.print >"jdk-$v-jcmd.txt"
if [ "$v" -ge 21 ]; then
	"$jdk/bin/jcmd" "$pid" Thread.dump_to_file -overwrite "$work/d.txt" >/dev/null
	"$jdk/bin/jcmd" "$pid" Thread.dump_to_file -overwrite -format=json "$work/d.json" >/dev/null
	mv "$work/d.txt" "../dump-to-file/jdk-$v-text.txt"
	mv "$work/d.json" "../dump-to-file/jdk-$v-json.json"
fi
kill -3 "$pid"; sleep 1; echo "10:02:07.113 [main] WARN  com.acme.shop.Health - slow" >>"$work/stdout"
kill -3 "$pid"; sleep 1
mv "$work/stdout" "jdk-$v-kill-3-twice.txt"
"$jdk/bin/jhsdb" jstack --pid "$pid" >"jdk-$v-jhsdb.txt" 2>&1 || true
kill "$pid"
rm -rf "$work"
