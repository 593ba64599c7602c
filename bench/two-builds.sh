#!/usr/bin/env bash
# Has a change made the driver slower? Two builds of dbtime in turn, flat out in a closed loop: the null
# target, SQLite with one worker and with as many as there are CPUs, and private servers. Prints the
# median throughput of either, and the median, smallest and largest ratio of the pairs (B over A).
#
# Usage: bench/two-builds.sh A B   paths of dbtime
# Variables: PAIRS (5), LENGTH (3 seconds each), CASES ("null point atm atm2 tpcb mariadb postgres")
set -euo pipefail
[ $# -eq 2 ] || { echo "two-builds: error: name two builds: bench/two-builds.sh A B" >&2; exit 2; }
builds=("$(realpath "$1")" "$(realpath "$2")")
pairs=${PAIRS:-5}
length=${LENGTH:-3}
cases=${CASES:-null point atm atm2 tpcb mariadb postgres}

arguments() {
    case $1 in
    null) echo "values1 --target null --connections 8 --no-budget" ;;
    point) echo "point-select --workers 1" ;;
    atm) echo "atm --workers 1" ;;
    atm2) echo "atm --workers $(nproc)" ;;
    tpcb) echo "tpcb --workers 1" ;;
    mariadb) echo "point-select --target mariadb --connections 4" ;;
    postgres) echo "point-select --target postgres --connections 4" ;;
    *) echo "two-builds: error: there is no case \`$1\`" >&2; exit 2 ;;
    esac
}

throughput() {
    # shellcheck disable=SC2046 # words are wanted
    "$1" run $(arguments "$2") --warmup 500ms --time "${length}s" --no-record --json --quiet |
        python3 -c 'import json, sys; print(json.load(sys.stdin)["throughput_tps"])'
}

for case in $cases; do
    arguments "$case" >/dev/null
    for pair in $(seq "$pairs"); do
        # Every other pair begins with the other one.
        if [ $((pair % 2)) = 0 ]; then
            b=$(throughput "${builds[1]}" "$case")
            a=$(throughput "${builds[0]}" "$case")
        else
            a=$(throughput "${builds[0]}" "$case")
            b=$(throughput "${builds[1]}" "$case")
        fi
        echo "$a $b"
    done | python3 -c '
import statistics, sys
pairs = [tuple(map(float, line.split())) for line in sys.stdin]
ratios = [b / a for a, b in pairs]
a, b = (statistics.median(side) for side in zip(*pairs))
print(f"{sys.argv[1]:9} A {a:9.0f}/s  B {b:9.0f}/s  B / A {statistics.median(ratios):.3f} '"\
"'({min(ratios):.3f}-{max(ratios):.3f})")' "$case"
done
