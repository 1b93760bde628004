#!/bin/sh
# Makes the samples pools-*: ./make.sh <folder for the results>. Needs JDK 17 and Maven.
set -eu
cd "$(dirname "$0")"
out=${1:?folder}
run() { # name, Maven properties, parts
	name=$1 props=$2; shift 2
	mvn -q dependency:build-classpath -Dmdep.outputFile="$out/$name.cp" $props
	mkdir -p "$out/classes-$name"
	javac -nowarn -cp "$(cat "$out/$name.cp")" -d "$out/classes-$name" src/*.java
	cp src/logback.xml "$out/classes-$name/"
	java -Dout="$out/pools-$name" -cp "$out/classes-$name:$(cat "$out/$name.cp")" com.acme.shop.Pools "$@"
}
run jdbc "-Dhikari=5.1.0" hikari hikari-down druid dbcp1 dbcp2 tomcat c3p0
run clients "-Dhikari=5.1.0" jedis jedis-down http4 http5 lettuce okhttp jdk-http rejected resilience4j
run hikari-2.7 "-Dhikari=2.7.9" hikari hikari-down
run hikari-4.0 "-Dhikari=4.0.3" hikari
run hikari-6.2 "-Dhikari=6.2.1" hikari hikari-down
run dbcp2-2.13 "-Ddbcp2=2.13.0 -Dpool2=2.12.1" dbcp2
run jedis-3 "-Djedis=3.10.0" jedis jedis-down
