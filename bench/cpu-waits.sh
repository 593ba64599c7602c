#!/usr/bin/env bash
# Whether waits for a CPU have their parts and their names. One connection of a private MariaDB executes
# 40 statements each beside a busy process, a storm of processes, two that take turns, under a quota of
# its control group, and stopped again and again. What `dbtime trace` says that its thread waited, before
# it read a statement and behind that, is compared with the scheduler's own account of the thread
# (schedstat, in which throttled is waiting), and what has names with what was waited for. The target: both
# accounts within 3 % of each other.
#
# As root; without a control group that may be limited the quota is left out.
#
# Usage: bench/cpu-waits.sh [path of dbtime]
set -euo pipefail
source "$(dirname "$0")/servers.bash"
source bench/tracer.bash

statements=40
planters=()
group=

# The control group is the last to go: nothing may be in it.
clear_up() {
    unplant
    stop_servers
    [ -z "$group" ] || rmdir "$group" 2>/dev/null || true
    rm -rf "$folder"
}
trap clear_up EXIT

plant() {
    taskset -c "$server_cpu" "$@" >"$folder/planted" 2>&1 &
    planters+=("$!")
}

unplant() {
    local one
    for one in "${planters[@]}"; do
        kill -CONT "$one" 2>/dev/null || true
        kill -KILL "$one" 2>/dev/null || true
        wait "$one" 2>/dev/null || true
    done
    planters=()
    kill -CONT "$server" 2>/dev/null || true
    [ -z "$group" ] || { lift_quota && echo "$server" >"${group%/*}/cgroup.procs"; }
}

lift_quota() {
    if [ -e "$group/cpu.max" ]; then
        echo 'max 100000' >"$group/cpu.max"
    else
        echo -1 >"$group/cpu.cfs_quota_us"
    fi
}

# A tenth of a CPU for the server and a busy process. Fails where no group can be limited.
plant_quota() {
    local mount
    for mount in /sys/fs/cgroup/cpu /sys/fs/cgroup; do
        group=$mount/dbtime-bench.$$
        [ -d "$group" ] || mkdir "$group" 2>/dev/null || continue
        if { echo '10000 100000' >"$group/cpu.max" || echo 10000 >"$group/cpu.cfs_quota_us"; } 2>/dev/null; then
            plant sh -c 'while :; do :; done'
            echo "$server" >"$group/cgroup.procs"
            echo "${planters[-1]}" >"$group/cgroup.procs"
            return
        fi
        rmdir "$group"
    done
    group=
    return 1
}

plant_cause() {
    case $1 in
        busy) plant sh -c 'while :; do :; done' ;;
        storm) plant sh -c 'while :; do /bin/true; done' ;;
        turns) plant python3 -c '
import os
(a, b), (c, d) = os.pipe(), os.pipe()
child = os.fork()
at, to = (a, d) if child else (c, b)
os.write(d, b".") if not child else None
while True:
    os.write(to, os.read(at, 1))' ;;
        quota) plant_quota ;;
        stop) plant sh -c "while :; do kill -STOP $server; sleep 0.03; kill -CONT $server; sleep 0.05; done" ;;
    esac
}

# Executes the statements on a connection of its own. How long each thread of the server has waited for
# CPUs in its life, in nanoseconds, is then in $folder/delays.
execute() {
    local said task
    coproc client { taskset -c "$client_cpu" mariadb --no-defaults --socket="$socket" --user=root \
        --unbuffered --skip-column-names; }
    for _ in $(seq "$statements"); do
        echo 'DO BENCHMARK(100000, 1 + 1);' >&"${client[1]}"
    done
    echo "SELECT 'over';" >&"${client[1]}"
    read -r said <&"${client[0]}"
    [ "$said" = over ] || fail "the client: $said"
    for task in "/proc/$server/task/"*; do
        echo "${task##*/} $(cut -d' ' -f2 "$task/schedstat")"
    done >"$folder/delays"
    eval "exec ${client[1]}>&-"
    wait "$client_PID" 2>/dev/null || true
}

start_mariadb --thread-cache-size=0
printf '%-8s %10s %14s %14s %7s %12s %11s %12s\n' \
    planted statements 'schedstat ms' 'traced ms' ratio 'stopped ms' 'named ms' 'not named %'
for cause in busy storm turns quota stop; do
    if ! plant_cause "$cause"; then
        printf '%-8s no control group can be limited here\n' "$cause"
        continue
    fi
    begin_tracer --json --raw-sql
    execute
    unplant
    end_tracer
    python3 - "$folder/trace" "$folder/delays" "$cause" <<'PYTHON'
import collections, json, sys

path, delays, cause = sys.argv[1:]
lines = (line for line in open(path) if line.startswith('{"request"'))
requests = [json.loads(line)["request"] for line in lines]
# The thread of the connection has nearly all of them to itself, and is as old as the connection.
thread, _ = collections.Counter(one["thread"] for one in requests).most_common(1)[0]
requests = [one for one in requests if one["thread"] == thread]
delay = dict(line.split() for line in open(delays))[str(thread)]
delay = int(delay) / 1e6

def parts(names):
    both = [one[of] or {} for one in requests for of in ("parts_us", "server_queue_parts_us")]
    return sum(of.get(name, 0) for of in both for name in names) / 1e3

waited = parts(["runq_preempted", "runq_woken"])
traced = waited + parts(["throttled"])
rivals = [of for one in requests for of in [one["preemptor"], *one.get("further_preemptors", [])] if of]
named = sum(of["wait_us"] for of in rivals) / 1e3
print(f'{cause:8} {len(requests):10} {delay:14.1f} {traced:14.1f} {traced / max(delay, 1e-9):7.3f} '
      f'{parts(["stopped"]):12.1f} {named:11.1f} {100 * (1 - named / max(waited, 1e-9)):12.1f}')
PYTHON
done
