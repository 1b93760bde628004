#!/bin/sh
# Makes the samples tomcat-*.log: fetches two versions of the embedded Tomcat by
# Maven, runs TomcatLogs with each, and puts fictional addresses in.
set -e
cd "$(dirname "$0")"
repo=${M2:-$HOME/.m2/repository}
tmp=$(mktemp -d)
for v in 9.0.98:javax 10.1.34:jakarta; do
  version=${v%%:*}
  for a in embed:tomcat-embed-core :tomcat-annotations-api; do
    group=org.apache.tomcat; sub=${a%%:*}; artifact=${a##*:}
    [ -z "$sub" ] || group=$group.$sub
    path=$repo/$(echo $group | tr . /)/$artifact/$version/$artifact-$version.jar
    [ -f "$path" ] || mvn -q dependency:get -Dartifact=$group:$artifact:$version -Dtransitive=false
    cp "$path" "$tmp/"
  done
  mkdir -p "$tmp/classes" "$tmp/out"
  javac -cp "$tmp/tomcat-embed-core-$version.jar" -d "$tmp/classes" TomcatLogs.java "${v##*:}/Shop.java"
  java -cp "$tmp/classes:$tmp/*" TomcatLogs "$tmp/out"
  for f in "$tmp"/out/*.log; do
    sed 's/127\.0\.0\.1/10.20.9.14/g' "$f" > "../tomcat-${version%.*}-$(basename "$f")"
  done
  rm -r "$tmp/classes" "$tmp/out" "$tmp"/*.jar
done
rm -r "$tmp"
