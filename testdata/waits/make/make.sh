#!/bin/sh
# Makes the Java dumps of testdata/waits: one JVM per set of libraries, every
# thread standing in a situation that its name tells. Needs Maven, a MariaDB,
# a PostgreSQL and a Redis without passwords, whose addresses are in DB, PG and
# REDIS. Usage: JAVA=/path/to/jdk LABEL=jdk-17 ./make.sh old out-directory
set -eu
here=$(cd "$(dirname "$0")" && pwd)
set_=$1
out=$2
build=${BUILD:-$(mktemp -d)}
mkdir -p "$build"
[ -d "$build/lib-$set_" ] || mvn -q -B -f "$here/pom.xml" -P "$set_" dependency:copy-dependencies -DoutputDirectory="$build/lib-$set_"
rm -rf "$build/cls-$set_" "$build/run-$set_"
mkdir -p "$build/cls-$set_" "$build/run-$set_"
find "$here/java/common" "$here/java/$set_" -name '*.java' | xargs "$JAVA/bin/javac" --release 17 -nowarn -g -d "$build/cls-$set_" -cp "$build/lib-$set_/*"
opens="--add-opens java.base/java.lang=ALL-UNNAMED --add-opens java.base/java.math=ALL-UNNAMED"
"$JAVA/bin/java" $opens -Xmx512m -Ddir="$build/run-$set_" -Ddb="${DB:-127.0.0.1:3306}" -Dpg="${PG:-127.0.0.1:5432}" -Dredis="${REDIS:-127.0.0.1:6379}" \
    -cp "$build/cls-$set_:$build/lib-$set_/*" com.acme.shop.Stand >"$build/run-$set_/out" 2>"$build/run-$set_/err" &
pid=$!
until grep -q READY "$build/run-$set_/out"; do
    kill -0 $pid
    sleep 1
done
"$JAVA/bin/jstack" -l $pid >"$out/$LABEL-$set_.txt"
kill -9 $pid
