#!/usr/bin/env bash
# How long it takes to analyse and report a large study: 12 configurations, 30 blocks. Wanted: 5 s.
#
# The study is a real one, of short runs on a server that does nothing.
#
# Usage: bench/study-report.sh [path of dbtime]
# Variables: BLOCKS (30)
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"

cat >"$folder/large.toml" <<'END'
run = "values1 --connections 2 --transactions 20"
[design]
control = false
[gate]
foreign-cpu = "1000%"
steal = "100%"
wait = "0s"
repeats = 1000
[factors]
target = ["null:?service=5ms", "null:?service=6ms", "null:?service=7ms", "null:?service=8ms"]
connections = [1, 2, 3]
END
"$dbtime" study run "$folder/large.toml" --blocks "${BLOCKS:-30}" --out "$folder/large" --quiet \
    >/dev/null || fail 'the study failed'
echo "$(find "$folder/large/runs" -mindepth 1 -maxdepth 1 | wc -l) runs"
for _ in 1 2 3 4 5; do
    TIMEFORMAT='report: %R s'
    time "$dbtime" study report "$folder/large" --html "$folder/large.html" >/dev/null
done
