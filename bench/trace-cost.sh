#!/usr/bin/env bash
# What watching costs: CPU of the whole machine per statement that `dbtime trace` adds while it writes
# a line for every request to a file (stream) and while it adds them up (summary), and what others add:
# a bpftrace script that tells of responses, CPU and pre-emptors, the slow log with long_query_time=0,
# and performance_schema with statements and waits, which takes a server that was started with it: it
# is a second one, beside that without, as for pg_stat_statements. Point selects of dbtime's own driver
# on a private MariaDB, over a Unix socket, at half of the rate it carries and flat out; by TLS over
# TCP; and on a private PostgreSQL, beside pg_stat_statements. Each measurement is a pair, with and
# without, one behind the other; every other pair begins with the other one.
#
# Server and driver share a CPU, and watchers have the other: where each has its own, much of a
# statement is waking an idle CPU, which batches spare now and then, so that the load has several modes
# (bench/results/watching.md). Half of the rate comes in bursts, one statement to a connection: the driver
# spins before something is due, and where that is always what is added would vanish in there.
#
# What the kernel spends in dbtime's programs alone comes from its own statistics of them
# (kernel.bpf_stats_enabled), in rounds of their own: taking those costs as well. What dbtime says of
# itself in that round stands beside it.
#
# The layout that people have is a case of its own: nothing is pinned, and sysbench's point selects come
# over four threads. Flat out there, CPU of a statement is what throughput lost. The load has modes
# there, from one run to the next: how often a statement wakes the other CPU, which is an interrupt.
# bench/modes.py takes out what that explains, by the runs with nobody watching.
#
# With neighbours, that is with loops beside it that want the CPUs and move memory, there are two more
# figures: the CPU of the server's own threads, and of the driver, as the scheduler counts them.
#
# The CPU is that of all processes and the kernel, by the server's own count of statements: all time
# but that which the kernel says was idle or stolen (/proc/stat). Idle time is measured there, what
# processes use is sampled at each tick.
#
# OTHER names another dbtime, whose tracer is compared by what its programs take in the kernel, which
# differs less between runs than the CPU added does (CASES=other), and by what either says that its
# processes and the kernel take of a request at 10,000 a second (CASES=own).
#
# Usage: bench/trace-cost.sh [path of dbtime]   as root
# Variables: LENGTH (5 seconds each), CONNECTIONS (8), CASES ("unpinned full half tls neighbours postgres"), and
# those of servers.bash, but that CLIENT_CPU is SERVER_CPU where it is not set
set -euo pipefail
CLIENT_CPU=${CLIENT_CPU:-${SERVER_CPU:-0}}
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
# shellcheck source=bench/tracer.bash
. bench/tracer.bash
length=${LENGTH:-5}
connections=${CONNECTIONS:-8}
cases=${CASES:-unpinned full half tls neighbours postgres}
turn=0
trap 'end_neighbours; end' EXIT
driver=dbtime
has_neighbours=
neighbours=()

# Point selects of sysbench, from wherever the kernel puts it.
load_sysbench() {
    sysbench oltp_point_select --db-driver=mysql --mysql-socket="$socket" --mysql-user=root \
        --mysql-db=sysbench --tables=1 --table-size=100000 --threads=4 --time="$length" "$@" \
        >"$folder/out" 2>"$folder/err" || fail "sysbench: $(tail -n 3 "$folder/err" "$folder/out")"
}

load() {
    on_client_cpu "$dbtime" run point-select --target "$target" \
        --connections "$connections" --warmup 0s --time "${length}s" --no-budget --no-record --json "$@"
}

status() {
    mariadb_execute "SHOW GLOBAL STATUS LIKE '$1'" | awk 'END { print $2 }'
}

statements_of_mariadb() { status Questions; }

postgres_execute() {
    "$pg_bin/psql" -XAtq -h "$folder" -p "$pg_port" -U postgres -c "$1"
}

# A server's process counts what it did as it leaves.
statements_of_postgres() {
    until [ "$(postgres_execute "SELECT count(*) FROM pg_stat_activity WHERE datname = 'bench'")" = 0 ]; do
        sleep 0.05
    done
    postgres_execute "SELECT xact_commit FROM pg_stat_database WHERE datname = 'bench'"
}

# Microseconds that a process and its threads have been on CPUs.
on_cpu() {
    awk '{ s += $1 } END { printf "%.0f", s / 1e3 }' "/proc/$1/task/"*/schedstat
}

# Interrupts of all CPUs since the machine started.
interrupts() { awk '/^intr / { print $2 }' /proc/stat; }

# Microseconds that all CPUs together have been busy, from some instant on.
busy() {
    awk -v now="$EPOCHREALTIME" -v cpus="$(getconf _NPROCESSORS_ONLN)" -v hz="$(getconf CLK_TCK)" \
        '/^cpu / { printf "%.0f", 1e6 * (cpus * now - ($5 + $6 + $9) / hz) }' /proc/stat
}

# Sets `cost` (µs of CPU a statement), `mode` (interrupts a statement), `rate` and `response` (p50,
# µs) of a load.
once() {
    local begun statements ended of_server interrupts
    of_server=$(on_cpu "$server")
    interrupts=$(interrupts)
    begun=$(busy)
    statements=$("statements_of_$kind")
    if [ "$driver" = sysbench ]; then
        load_sysbench run
    else
        load "${more[@]}"
    fi
    ended=$(busy)
    statements=$(($("statements_of_$kind") - statements))
    server_cost=$(awk -v us=$(($(on_cpu "$server") - of_server)) -v n="$statements" \
        'BEGIN { printf "%.3f", us / n }')
    driver_cost=$(awk -v us="${spent:-0}" -v n="$statements" 'BEGIN { printf "%.3f", us / n }')
    mode=$(awk -v n=$(($(interrupts) - interrupts)) -v of="$statements" 'BEGIN { printf "%.5f", n / of }')
    cost=$(awk -v us=$((ended - begun)) -v n="$statements" 'BEGIN { printf "%.3f", us / n }')
    if [ "$driver" = sysbench ]; then
        rate=$(sed -n 's/^ *transactions:.*(\([0-9.]*\) per sec.*/\1/p' "$folder/out")
        response=$(sed -n 's/^ *avg: *\([0-9.]*\).*/\1/p' "$folder/out" | awk '{ print 1000 * $1 }')
    else
        rate=$(field throughput_tps)
        response=$(field latency_us.response.p50)
    fi
}

watched() {
    watching=$1
    "begin_$1"
    once
    "end_$1"
    with=("$cost" "$rate" "$response" "$server_cost" "$driver_cost" "$mode")
}

bare() {
    once
    without=("$cost" "$rate" "$response" "$server_cost" "$driver_cost" "$mode")
}

pair() {
    turn=$((turn + 1))
    if ((turn % 2)); then
        bare
        watched "$1"
    else
        watched "$1"
        bare
    fi
    difference() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f", a - b }'; }
    ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f", a / b }'; }
    measure "$case" "$1" 'CPU without, µs' "${without[0]}"
    measure "$case" "$1" 'CPU added, µs' "$(difference "${with[0]}" "${without[0]}")"
    measure "$case" "$1" 'interrupts without' "${without[5]}"
    measure "$case" "$1" 'interrupts with' "${with[5]}"
    measure "$case" "$1" 'throughput, of that without' "$(ratio "${with[1]}" "${without[1]}")"
    measure "$case" "$1" 'response added, µs' "$(difference "${with[2]}" "${without[2]}")"
    if [ -n "$has_neighbours" ]; then
        measure "$case" "$1" "server's own CPU without, µs" "${without[3]}"
        measure "$case" "$1" "server's own CPU added, µs" "$(difference "${with[3]}" "${without[3]}")"
        measure "$case" "$1" "driver's own CPU added, µs" "$(difference "${with[4]}" "${without[4]}")"
        measure "$case" "$1" 'CPU as dbtime tells, µs' "$(own_word)"
    fi
    printf '%s: %s: CPU %s µs, %s added; throughput %s of %s\n' "$case" "$1" "${without[0]}" \
        "$(difference "${with[0]}" "${without[0]}")" "$(ratio "${with[1]}" "${without[1]}")" "${without[1]}"
}

begin_trace() {
    # Where clients are still there dbtime asks the server for what they have prepared.
    sleep 0.3
    begin_tracer "$@"
}

begin_stream() { begin_trace --raw-sql; }
begin_summary() { begin_trace --summary; }

end_trace() {
    end_tracer
    tail -n 5 "$folder/trace" >"$folder/trace.end"
}

end_summary() { end_trace; }

end_stream() {
    end_trace
    measure "$case" "$watching" 'dropped' "$(tracer_dropped "$folder/trace.end")"
    rm "$folder/trace"
}

begin_bpftrace() {
    local dispatch
    rm -f "$folder/trace.err"
    dispatch=$(nm -D "$(command -v mariadbd)" | awk '/ _Z16dispatch_command19enum/ && !n++ { print $3 }')
    dispatch=${dispatch%%@*}
    bpftrace -e "
        uprobe:$(command -v mariadbd):$dispatch { @start[tid] = nsecs; @on[tid] = nsecs; }
        uretprobe:$(command -v mariadbd):$dispatch /@start[tid]/ {
            @response = hist((nsecs - @start[tid]) / 1000);
            @cpu = hist((@ran[tid] + nsecs - @on[tid]) / 1000);
            @statements = count();
            delete(@start[tid]); delete(@on[tid]); delete(@ran[tid]);
        }
        tracepoint:sched:sched_switch {
            if (@start[args->prev_pid]) {
                @ran[args->prev_pid] += nsecs - @on[args->prev_pid];
                if (args->prev_state == 0) { @preemptors[args->next_comm] = count(); }
            }
            if (@start[args->next_pid]) { @on[args->next_pid] = nsecs; }
        }
        BEGIN { printf(\"watching\\n\"); }" >"$folder/trace.err" 2>&1 &
    tracer=$!
    wait_for watching "$folder/trace.err"
    # Its other probes come behind that word.
    sleep 1
}

# It has been seen not to mind an interrupt.
end_bpftrace() {
    kill "$tracer"
    wait "$tracer" || true
}

# What is locked is watched only if it was made while that was on: from the start.
start_with_schema() {
    local before=("$socket" "$server")
    instance=-schema start_mariadb --performance-schema=ON \
        "--performance-schema-instrument=statement/%=ON" "--performance-schema-instrument=wait/%=ON"
    schema_socket=$socket
    mariadb_execute "CREATE DATABASE bench; UPDATE performance_schema.setup_consumers SET ENABLED='YES'"
    "$dbtime" init point-select --target "mysql://root@/bench?socket=$socket" --scale 1
    socket=${before[0]} server=${before[1]}
}

begin_schema() {
    without_schema=$socket
    socket=$schema_socket target="mysql://root@/bench?socket=$schema_socket"
}

end_schema() {
    socket=$without_schema target="mysql://root@/bench?socket=$without_schema"
}

begin_slowlog() {
    mariadb_execute "SET GLOBAL slow_query_log_file='$folder/slow.log'; SET GLOBAL long_query_time=0; \
        SET GLOBAL slow_query_log=1"
}

end_slowlog() {
    mariadb_execute 'SET GLOBAL slow_query_log=0'
    rm -f "$folder/slow.log"
}

start_bench_postgres() {
    start_postgres "$@"
    postgres_execute 'CREATE DATABASE bench'
    "$dbtime" init point-select --target "$(postgres_target)" --scale 1
}

postgres_target() { echo "postgres://postgres@/bench?host=$folder&port=$pg_port"; }

# Where it is loaded it takes something even if it counts nothing.
start_with_statements() {
    local before=$server
    instance=-statements pg_port=5433
    start_bench_postgres -c shared_preload_libraries=pg_stat_statements
    postgres_execute 'CREATE EXTENSION pg_stat_statements'
    instance='' pg_port=5432 server=$before
}

begin_statements() { pg_port=5433 target=$(pg_port=5433 && postgres_target); }

end_statements() {
    local calls
    calls=$(postgres_execute 'SELECT max(calls) FROM pg_stat_statements')
    [ "$calls" -gt 1000 ] || fail 'pg_stat_statements has not counted'
    pg_port=5432 target=$(pg_port=5432 && postgres_target)
}

# What the kernel spends in the programs of a way to watch, by its own statistics.
in_kernel() {
    local statements spent before
    before=$(sysctl -n kernel.bpf_stats_enabled)
    sysctl -q kernel.bpf_stats_enabled=1
    watching="$1, in the kernel"
    "begin_$1"
    statements=$("statements_of_$kind")
    if [ "$driver" = sysbench ]; then load_sysbench run; else load "${more[@]}"; fi
    statements=$(($("statements_of_$kind") - statements))
    # The programs are the helper's.
    spent=$(cat /proc/"$helper"/fdinfo/* 2>/dev/null |
        awk '/^run_time_ns/ { s += $2 } END { print s }')
    [ "${spent:-0}" -gt 0 ] || fail "the kernel has no statistics of the programs"
    "end_$1"
    measure "$case" "$1, in the kernel" 'CPU as dbtime tells, µs' "$(own_word)"
    sysctl -q kernel.bpf_stats_enabled="$before"
    spent=$(awk -v ns="$spent" -v n="$statements" 'BEGIN { printf "%.3f", ns / 1e3 / n }')
    measure "$case" "$1, in the kernel" 'CPU, µs' "$spent"
    printf '%s: %s, in the kernel: %s µs, as dbtime tells %s\n' "$case" "$1" "$spent" "$(own_word)"
}

# What dbtime says that a request has cost in the kernel, in microseconds.
own_word() {
    sed -n 's/^cost .*: a request \([0-9.]* [^ ]*s\) in the kernel.*/\1/p' "$folder/trace.end" |
        awk '{ print $2 == "ns" ? $1 / 1000 : $1 }'
}

side_stream() { pair stream; in_kernel stream; }
side_summary() { pair summary; in_kernel summary; }
side_bpftrace() { pair bpftrace; }
side_slowlog() { pair slowlog; }
side_schema() { pair schema; }

side_statements() { pair statements; }

# A key and a certificate for the server of 127.0.0.1.
certify() {
    need openssl
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -keyout "$folder/key.pem" \
        -out "$folder/cert.pem" 2>"$folder/openssl.err" || fail "$(tail -n 3 "$folder/openssl.err")"
}

ways=(stream summary slowlog schema)
# Where it is not mounted it is for as long as this takes.
if [ ! -d /sys/kernel/tracing/events/sched ] && mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null; then
    trap 'end_neighbours; end; umount /sys/kernel/tracing' EXIT
fi
if ! command -v bpftrace >/dev/null; then
    echo 'without bpftrace, which is missing'
elif ! [ -d /sys/kernel/tracing/events/sched ]; then
    echo 'without bpftrace, which needs tracefs on /sys/kernel/tracing'
else
    ways+=(bpftrace)
fi

limits() {
    limit "$case" 'CPU added, µs' stream '<=' 6
    limit "$case" 'CPU added, µs' summary '<=' 3
    limit "$case" 'CPU, µs' 'stream, in the kernel' '<=' 2
    limit "$case" 'CPU, µs' 'summary, in the kernel' '<=' 2
}
# Of the others, and by both ways.
ahead() {
    local other
    for other in "$@"; do
        limit "$case" 'CPU added, µs' "stream/$other" '<=' 1
        limit "$case" 'CPU added, µs' "summary/$other" '<=' 1
    done
}

# As people have it.
case_unpinned() {
    need sysbench
    local own=$server_cpu
    server_cpu=0-$(($(nproc) - 1)) start_mariadb
    mariadb_execute 'CREATE DATABASE sysbench'
    load_sysbench prepare
    driver=sysbench kind=mariadb case='nothing pinned, sysbench with 4 threads'
    alternate stream summary "${ways[@]:4}"
    python3 bench/modes.py "$folder/measured" "$case" >"$folder/modes"
    cat "$folder/modes" >>"$folder/measured"
    limit "$case" 'CPU added, µs' stream '<=' 6
    limit "$case" 'CPU added, µs' summary '<=' 3
    limit "$case" 'CPU added at its mode, µs' stream '<=' 6
    limit "$case" 'CPU added at its mode, µs' summary '<=' 3
    driver=dbtime server_cpu=$own
    stop_servers
    rm -rf "$folder/mariadb"
}

start_pinned() {
    certify
    port=$(python3 -c 'import socket; s = socket.create_server(("127.0.0.1", 0)); print(s.getsockname()[1])')
    start_mariadb --skip-networking=0 --bind-address=127.0.0.1 --port="$port" \
        --ssl-cert="$folder/cert.pem" --ssl-key="$folder/key.pem"
    start_with_schema
    mariadb_execute 'CREATE DATABASE bench'
    kind=mariadb target="mysql://root@/bench?socket=$socket"
    "$dbtime" init point-select --target "$target" --scale 1
}

case_full() {
    case="flat out, $connections connections" more=()
    alternate "${ways[@]}"
    limits
    ahead "${ways[@]:2}"
}

case_half() {
    more=()
    once
    local half
    half=$(awk -v rate="$rate" 'BEGIN { printf "%.0f", rate / 2 }')
    case="$half a second, half of that" more=(--rate "$half/s" --arrivals "burst:$connections")
    alternate "${ways[@]}"
    limits
    ahead "${ways[@]:2}"
}

case_tls() {
    case="flat out by TLS, $connections connections" more=()
    target="mysql://root@127.0.0.1:$port/bench?ssl-mode=required"
    alternate stream summary
}

# What dbtime says that its own processes have taken for a request, in microseconds.
own_cost() {
    sed -n 's/^cost .* in the kernel[^,]*, \([0-9.]* [^ ]*s\) in dbtime.*/\1/p' "$folder/trace.end" |
        awk '{ print $2 == "ns" ? $1 / 1000 : $1 }'
}

begin_record() {
    rm -f "$folder/recording"
    begin_trace --record "$folder/recording"
}
end_record() { end_trace; }

# What dbtime says of itself, by a way to watch.
own() {
    watching=$1
    "begin_$1"
    load "${more[@]}"
    "end_$1"
    measure "$case" "$1" 'in dbtime, µs' "$(own_cost)"
    measure "$case" "$1" 'in the kernel, µs' "$(own_word)"
    printf '%s: %s: %s µs in dbtime, %s in the kernel\n' "$case" "$1" "$(own_cost)" "$(own_word)"
}

begin_other_stream() { dbtime=$OTHER begin_stream; }
begin_other_summary() { dbtime=$OTHER begin_summary; }
begin_other_record() { dbtime=$OTHER begin_record; }
end_other_stream() { end_stream; }
end_other_summary() { end_summary; }
end_other_record() { end_record; }
side_this_stream() { in_kernel stream; }
side_this_summary() { in_kernel summary; }
side_other_stream() { in_kernel other_stream; }
side_other_summary() { in_kernel other_summary; }

case_other() {
    [ -x "${OTHER:-}" ] || fail 'OTHER names no program'
    case="flat out, $connections connections, beside another dbtime" more=()
    alternate other_summary this_summary other_stream this_stream
}

for way in summary record stream; do
    eval "side_own_$way() { own $way; }; side_own_other_$way() { own other_$way; }"
done

case_own() {
    [ -x "${OTHER:-}" ] || fail 'OTHER names no program'
    case='10,000 a second, beside another dbtime' more=(--rate 10000/s)
    alternate own_summary own_other_summary own_record own_other_record own_stream own_other_stream
}

# What moves more memory than caches hold, and what only computes.
begin_neighbours() {
    has_neighbours=yes
    python3 -c '
import os
room = bytearray(64 << 20)
other = bytearray(64 << 20)
while os.getppid() > 1:
    room[:] = other' &
    neighbours=("$!")
    sh -c 'while kill -0 $PPID 2>/dev/null; do i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; done' &
    neighbours+=("$!")
}

end_neighbours() {
    local one
    for one in "${neighbours[@]}"; do
        kill "$one" 2>/dev/null || true
        wait "$one" 2>/dev/null || true
    done
    has_neighbours= neighbours=()
}

case_neighbours() {
    case='10,000 a second, with neighbours' more=(--rate 10000/s)
    target="mysql://root@/bench?socket=$socket"
    begin_neighbours
    alternate stream summary
    end_neighbours
}

case_postgres() {
    start_bench_postgres
    start_with_statements
    kind=postgres target=$(postgres_target) more=()
    case="PostgreSQL flat out, $connections connections"
    alternate stream summary statements
    ahead statements
}

more=()
if [[ $cases == *unpinned* ]]; then case_unpinned; fi
if [[ $cases =~ full|half|tls|neighbours|other|own ]]; then
    start_pinned
    for one in full half tls neighbours other own; do
        if [[ $cases == *$one* ]]; then "case_$one"; fi
    done
    stop_servers
fi
if [[ $cases == *postgres* ]]; then case_postgres; fi
verdict
