#!/bin/sh
# Fetches Apache Derby 10.2 and 10.3 by Maven, once, and compiles the client. Neither is part of dbtime.
set -eu
cd "$(dirname "$0")"
for program in java javac mvn; do
    command -v "$program" >/dev/null || {
        echo "$program is missing: on Debian, install default-jdk-headless and maven" >&2
        exit 1
    }
done
for version in 10.2.2.0 10.3.1.4; do
    for artifact in derby derbynet derbyclient; do
        test -e "lib/$version/$artifact-$version.jar" || mvn --quiet --batch-mode dependency:copy \
            "-Dartifact=org.apache.derby:$artifact:$version" "-DoutputDirectory=$PWD/lib/$version"
    done
done
javac -d lib Values1.java
