#!/usr/bin/env bash
# Whose lateness is whose: the driver, and then the server, is stopped (SIGSTOP) for 300 ms three
# times in a run of an open loop, and the report must book that where it belongs.
#
# What was due in a stop waited for its end, half of the stop on average: rate × length² / 2 in all.
# Wanted: of a stopped driver, `lag` has that within 5 % and `queue` none of it; of a stopped server,
# `lag` has none of it.
#
# Usage: bench/stalls.sh [path of dbtime] [targets]
set -euo pipefail
dbtime=${1:-target/release/dbtime}
targets=${2:-sqlite postgres mariadb}
rate=500
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# Stops processes for 300 ms, three times, and says how long in all, squared and halved.
stop() {
    python3 -c '
import os, signal, sys, time
total = 0
for _ in range(3):
    time.sleep(0.7)
    begun = time.monotonic()
    for pid in sys.argv[1:]: os.kill(int(pid), signal.SIGSTOP)
    time.sleep(0.3)
    for pid in sys.argv[1:]: os.kill(int(pid), signal.SIGCONT)
    total += (time.monotonic() - begun) ** 2 / 2
print(total)' "$@"
}

children() { # a process and all its descendants
    echo "$1"
    for child in $(cat "/proc/$1/task/"*/children 2>/dev/null); do children "$child"; done
}

printf '%-10s %-7s %12s %10s %10s %10s\n' target stopped 'expected ms' 'lag ms' 'queue ms' 'stalls'
for target in $targets; do
    for whom in nobody driver server; do
        [ "$target-$whom" = sqlite-server ] && continue
        # The driver says on stderr when the load begins only to a terminal: its threads tell.
        "$dbtime" run point-select --target "$target" --rate "$rate/s" --connections 8 \
            --warmup 1s --time 5s --no-record --json >"$dir/run.json" 2>/dev/null &
        driver=$!
        until grep -qsE '^(worker|shard) 0' "/proc/$driver/task/"*/comm; do sleep 0.05; done
        # Trials come first: what measuring costs is tried out in threads of the same name.
        sleep 3
        case $whom in
        nobody) squared=0 ;;
        driver) squared=$(stop "$driver") ;;
        server)
            # shellcheck disable=SC2046
            squared=$(stop $(children "$driver" | grep -vx "$driver"))
            ;;
        esac
        wait "$driver" || true
        python3 - "$dir/run.json" "$target" "$whom" "$squared" "$rate" <<'P'
import json, sys
path, target, whom, squared, rate = sys.argv[1:]
run = json.load(open(path))
count = run["counts"]["offered"]
expected = float(squared) * float(rate) * 1e3
part = lambda name: run["budget_us"][name] * count / 1e3
print(f"{target:10} {whom:7} {expected:12.0f} {part('lag'):10.0f} {part('queue'):10.0f} "
      f"{len(run['stalls']):10}")
P
    done
done
