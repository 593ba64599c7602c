#!/usr/bin/env bash
# What attaching costs: `dbtime trace` of an idle MariaDB for 100 ms, by one build of dbtime and by
# another, in turn. CPU is that of all its processes, the kernel's verifier included.
#
# Usage: bench/trace-attach.sh DBTIME OTHER_DBTIME (as root)
# Variables: those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
other=${2:?"the path of another dbtime"}
need "$other"

# Traces by this program, with the options of the case.
trace_by() {
    local side=$1 begun
    begun=$(date +%s%N)
    # shellcheck disable=SC2086
    on_client_cpu "$2" trace -p "$server" --time 100ms $options
    measure "$case" "$side" 'wall ms' $((($(date +%s%N) - begun) / 1000000))
    measure "$case" "$side" 'CPU ms' $((spent / 1000))
}

side_one() { trace_by one "$dbtime"; }
side_other() { trace_by other "$other"; }

start_mariadb
case='single requests' options=
alternate one other
case=sums options=--summary
alternate one other
verdict
