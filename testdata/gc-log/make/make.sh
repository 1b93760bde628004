#!/bin/sh
# Makes the samples of this folder: ./make.sh <folder for the results> <java 17 home> <java 25 home>.
set -eu
cd "$(dirname "$0")"
out=${1:?folder} j17=${2:?JDK 17} j25=${3:?JDK 25}
javac=$j17/bin/javac
$javac --release 17 -d "$out/classes" Garbage.java
run() { # name, java home, MiB kept, options
	name=$1 java=$2/bin/java keep=$3; shift 3
	"$java" "$@" -cp "$out/classes" Garbage "$keep" 3 2>&1 | head -n 300 >"$out/$name"
}
run jdk-17-g1.log "$j17" 22 -Xmx32m -XX:+UseG1GC -Xlog:gc
run jdk-17-g1-details.log "$j17" 22 -Xmx32m -XX:+UseG1GC '-Xlog:gc*,safepoint:stdout:time,uptime,pid,tid,level,tags'
run jdk-17-parallel-safepoint.log "$j17" 22 -Xmx32m -XX:+UseParallelGC '-Xlog:gc,safepoint:stdout:time,level,tags'
run jdk-17-serial-nested.log "$j17" 22 -Xmx32m -XX:+UseSerialGC '-Xlog:gc*:stdout:uptimemillis,level,tags'
run jdk-17-z-stalls.log "$j17" 22 -Xmx48m -XX:+UseZGC '-Xlog:gc*:stdout:utctime,level,tags'
run jdk-17-shenandoah.log "$j17" 22 -Xmx32m -XX:+UseShenandoahGC '-Xlog:gc:stdout:time'
run jdk-25-g1.log "$j25" 22 -Xmx32m -XX:+UseG1GC -Xlog:gc
run jdk-25-parallel.log "$j25" 22 -Xmx32m -XX:+UseParallelGC '-Xlog:gc:stdout:none'
run jdk-25-serial.log "$j25" 22 -Xmx32m -XX:+UseSerialGC '-Xlog:gc,safepoint:stdout:uptimenanos,hostname,level,tags'
run jdk-25-z-generational.log "$j25" 22 -Xmx48m -XX:+UseZGC '-Xlog:gc*:stdout:time,uptime,level,tags'
run jdk-25-shenandoah-generational.log "$j25" 22 -Xmx32m -XX:+UseShenandoahGC -XX:+UnlockExperimentalVMOptions -XX:ShenandoahGCMode=generational '-Xlog:gc*:stdout:time,level,tags'
go build -o "$out/gctrace" gctrace.go
GODEBUG=gctrace=1 "$out/gctrace" 2>"$out/go-1.26-gctrace.log"
