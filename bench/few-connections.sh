#!/usr/bin/env bash
# Does the driver slow the server down? Throughput and client CPU of dbtime beside sysbench and
# pgbench flat out over few connections, where server and driver share all CPUs: sysbench's
# oltp_read_write on private servers of both kinds, and pgbench's tpcb-like on PostgreSQL. dbtime
# runs each script as it does by default (sides `script` and `bank`); the workload of its own that
# does the same is the side `native`. Other sides have one or two shards for all, or one for each.
#
# Wanted: at least 0.97 of the other's throughput.
#
# Usage: bench/few-connections.sh [path of dbtime]
# Variables: LENGTH (4 seconds each), CONNECTIONS ("1 2 4 8 16"), SERVERS ("postgres mariadb"),
# SIDES ("sysbench script native"; also one each native_one native_two native_each), BANKS
# ("pgbench bank"; also bank_one bank_two bank_each), and those of servers.bash
set -euo pipefail
every=0-$(($(nproc) - 1))
SERVER_CPU=${SERVER_CPU:-$every}
CLIENT_CPU=${CLIENT_CPU:-$every}
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
need sysbench
length=${LENGTH:-4}
rows=100000

connection() {
    case $product in
    postgres) echo "--db-driver=pgsql --pgsql-host=$folder --pgsql-port=$pg_port \
--pgsql-user=postgres --pgsql-db=rw" ;;
    mariadb) echo "--db-driver=mysql --mysql-socket=$socket --mysql-user=root --mysql-db=rw" ;;
    esac
}

target() {
    case $product in
    postgres) echo "postgres://postgres@/native?host=$folder&port=$pg_port" ;;
    mariadb) echo "mysql://root@/native?socket=$socket" ;;
    esac
}

# Runs the script: side, then the program and its options before it.
script() {
    local side=$1
    shift
    # shellcheck disable=SC2046
    on_client_cpu "$@" oltp_read_write $(connection) --tables=1 --table-size="$rows" \
        --rand-type=uniform --threads="$connections" --time="$length" --events=0 run
    measure "$case" "$side" 'per second' \
        "$(sed -n 's/^ *transactions:.*(\([0-9.]*\) per sec.*/\1/p' "$folder/out")"
    measure "$case" "$side" 'client CPU, µs' "$(awk -v cpu="$spent" \
        -v count="$(sed -n 's/^ *transactions: *\([0-9]*\).*/\1/p' "$folder/out")" \
        'BEGIN { printf "%.2f", cpu / count }')"
}

side_sysbench() { script sysbench sysbench; }
side_script() { script script "$dbtime" sysbench; }
side_one() { script one "$dbtime" sysbench --shards=1; }
side_each() { script each "$dbtime" sysbench --shards="$connections"; }

native() {
    local side=$1
    shift
    on_client_cpu "$dbtime" run oltp-read-write --target "$(target)" --connections "$connections" \
        --protocol prepared --no-budget --no-record --json --warmup 500ms --time "${length}s" "$@"
    measure "$case" "$side" 'per second' "$(field throughput_tps)"
    measure "$case" "$side" 'client CPU, µs' "$(field client.cpu_us_per_tx)"
}
side_native() { native native; }
side_native_one() { native native_one --shards 1; }
side_native_two() { native native_two --shards 2; }
side_native_each() { native native_each --shards "$connections"; }

pgbench_as() {
    local side=$1
    shift
    on_client_cpu "$@" -h "$folder" -p "$pg_port" -U postgres -n -b tpcb-like -M prepared \
        -c "$connections" -j "$connections" -T "$length" tpcb
    measure "$case" "$side" 'per second' "$(sed -n 's/^tps = \([0-9.]*\).*/\1/p' "$folder/out")"
    measure "$case" "$side" 'client CPU, µs' "$(awk -v cpu="$spent" -v count="$(sed -n \
        's/^number of transactions actually processed: \([0-9]*\).*/\1/p' "$folder/out")" \
        'BEGIN { printf "%.2f", cpu / count }')"
}

side_pgbench() { pgbench_as pgbench "$pg_bin/pgbench"; }
side_bank() { pgbench_as bank "$dbtime" pgbench --classic; }
side_bank_one() { pgbench_as bank_one "$dbtime" pgbench --classic --shards=1; }
side_bank_two() { pgbench_as bank_two "$dbtime" pgbench --classic --shards=2; }
side_bank_each() { pgbench_as bank_each "$dbtime" pgbench --classic --shards="$connections"; }

for product in ${SERVERS:-postgres mariadb}; do
    "start_$product"
    case $product in
    postgres)
        for name in rw native tpcb; do
            "$pg_bin/createdb" -h "$folder" -p "$pg_port" -U postgres "$name"
        done
        "$pg_bin/pgbench" -h "$folder" -p "$pg_port" -U postgres -i -s 10 -q tpcb >/dev/null 2>&1
        ;;
    mariadb) mariadb_execute 'CREATE DATABASE rw; CREATE DATABASE native' ;;
    esac
    # shellcheck disable=SC2046
    sysbench oltp_read_write $(connection) --tables=1 --table-size="$rows" prepare >/dev/null
    "$dbtime" init oltp-read-write --target "$(target)" >/dev/null
    for connections in ${CONNECTIONS:-1 2 4 8 16}; do
        case="$product, oltp_read_write, $connections connections"
        # shellcheck disable=SC2086
        alternate ${SIDES:-sysbench script native}
        for side in script native; do
            limit "$case" 'per second' "$side/sysbench" '>=' 0.97
            limit "$case" 'client CPU, µs' "$side/sysbench" '<=' 1.05
        done
        [ "$product" = postgres ] || continue
        case="$product, tpcb-like, $connections clients"
        # shellcheck disable=SC2086
        alternate ${BANKS:-pgbench bank}
        limit "$case" 'per second' bank/pgbench '>=' 0.97
        limit "$case" 'client CPU, µs' bank/pgbench '<=' 1.05
    done
    stop_servers
done
verdict
