#!/usr/bin/env bash
# How fast `dbtime log` reads, and in how much memory.
#
#   slow      2 GB of a slow log of MySQL 5.7 and MariaDB; wanted: 500 MB/s on two CPUs, and 200 times
#             the rate of pt-query-digest, which reads a part of it in the same rounds where it is
#             installed
#   access    an access log in the combined format; wanted: 500 MB/s
#   csv json  csvlog and jsonlog of PostgreSQL; wanted: 300 MB/s
#
# Each in at most 256 MB. Logs are made just before and are in the page cache, if memory allows.
#
# Usage: bench/log-rate.sh [path of dbtime]
# Variables: SLOW_MB (2000), OTHER_MB (1000), PART_MB (16, what pt-query-digest reads), THREADS (2),
# and those of servers.bash
set -euo pipefail
PAIRS=${PAIRS:-3}
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
threads=${THREADS:-2}

# Runs a command over a file; measures the rate and the most memory of it.
rate_of() {
    local side=$1 log=$2 seconds kilobytes
    shift 2
    /usr/bin/time -f '%e %M' -o "$folder/time" "$@" "$log" >"$folder/out" 2>"$folder/err" ||
        fail "$1: $(tail -n 3 "$folder/err")"
    read -r seconds kilobytes < <(tail -n 1 "$folder/time")
    measure "$case" "$side" 'MB/s' "$(awk -v bytes="$(stat -c %s "$log")" -v s="$seconds" \
        'BEGIN { printf "%.2f", bytes / 1e6 / s }')"
    measure "$case" "$side" 'peak memory, MB' $((kilobytes / 1024))
}

side_dbtime() { rate_of dbtime "$folder/log" "$dbtime" log --threads "$threads" --json; }
side_alone() { rate_of alone "$folder/log" "$dbtime" log --threads 1 --json; }
side_pt() { rate_of pt "$folder/part" pt-query-digest --limit 20; }

# A log of a kind, of so many megabytes; then the sides that read it.
begin_case() {
    case=$1
    python3 bench/make_log.py "$1" "$2" >"$folder/log"
    cat "$folder/log" >/dev/null
}

limits() {
    limit "$case" 'MB/s' dbtime '>=' "$1"
    limit "$case" 'peak memory, MB' dbtime '<=' 256
}

begin_case slow "${SLOW_MB:-2000}"
if command -v pt-query-digest >/dev/null; then
    python3 bench/make_log.py slow "${PART_MB:-16}" >"$folder/part"
    alternate dbtime alone pt
    limit slow 'MB/s' dbtime/pt '>=' 200
else
    echo 'pt-query-digest is not installed: dbtime is measured alone' >&2
    alternate dbtime alone
fi
limits 500
begin_case access "${OTHER_MB:-1000}"
alternate dbtime alone
limits 500
for kind in csv json; do
    begin_case "$kind" "${OTHER_MB:-1000}"
    alternate dbtime alone
    limits 300
done
echo "kernel $(uname -r), $(nproc) CPUs, $threads threads that read"
python3 bench/verdict.py "$folder/measured"
