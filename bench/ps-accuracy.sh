#!/bin/sh
# How far `dbtime ps` is from the truth: children burn stated amounts of their own CPU clock within
# one interval of ten seconds. Each is compared with what it says of itself, and all together. The
# target is 0.1 %.
#
# Usage: bench/ps-accuracy.sh [path of dbtime]
set -eu
cd "$(dirname "$0")/.."
dbtime=${1:-${CARGO_TARGET_DIR:-target}/release/dbtime}
cargo build --quiet --release --package dbtime-observe --example burn
burn=${CARGO_TARGET_DIR:-target}/release/examples/burn
dir=$(mktemp -d)
pids=
trap 'kill $pids 2>/dev/null || true; rm -rf "$dir"' EXIT

for seconds in 0.02 0.1 0.5 1.5 2.5; do
    mkfifo "$dir/$seconds.fifo"
    "$burn" "$seconds" "$dir/$seconds.fifo" "$dir/$seconds.burned" &
    pids="$pids $!"
    echo "$! $seconds" >>"$dir/children"
done
# shellcheck disable=SC2086
"$dbtime" ps 10 $pids --json >"$dir/ps.json" &
ps=$!
sleep 1
for fifo in "$dir"/*.fifo; do
    echo go >"$fifo"
done
wait "$ps"

for fifo in "$dir"/*.fifo; do
    if [ ! -s "${fifo%.fifo}.burned" ]; then
        echo 'the machine is too busy: not everything was burned in time' >&2
        exit 1
    fi
done
echo 'One interval of 10 s, CPU seconds'
printf '%8s %12s %12s %10s %9s\n' PID burned measured 'error µs' 'error %'
while read -r pid seconds; do
    burned=$(cat "$dir/$seconds.burned")
    measured=$(awk -v pid="$pid" -F'[:,]' '/"pid"/ { mine = $2 + 0 == pid }
        mine && /"cpu_us"/ { print $2 + 0; exit }' "$dir/ps.json")
    echo "$pid $burned $measured"
done <"$dir/children" | awk '
    function row(name, burned, measured) {
        error = measured - burned / 1e3
        printf "%8s %12.6f %12.6f %10.0f %9.4f\n", name, burned / 1e9, measured / 1e6, error,
            100 * error / (burned / 1e3)
    }
    { row($1, $2, $3); burned += $2; measured += $3 }
    END { row("all", burned, measured) }'
