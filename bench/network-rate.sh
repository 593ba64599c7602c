#!/usr/bin/env bash
# A network that dbtime simulates (--network-rate) against one that the kernel limits (tc-tbf(8) on
# both ends of a pair of interfaces, each in a network namespace of its own), and against none: one
# workload flat out on a private MariaDB, the sides in turns. `tbf` and `sim-tcp` go through the
# pair of interfaces, `simulated` over a Unix socket, as runs on private servers do. As root.
#
# Usage: bench/network-rate.sh [path of dbtime]
# Variables: LENGTH (5 seconds each), RATES ("1000 100 20", Mbit/s), CONNECTIONS (16), WORKLOAD
# (oltp-read-only), and those of servers.bash
set -euo pipefail
if [ -z "${DBTIME_BENCH_NAMESPACE:-}" ]; then
    DBTIME_BENCH_NAMESPACE=1 exec unshare --net "$0" "$@"
fi
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
length=${LENGTH:-5} connections=${CONNECTIONS:-16} workload=${WORKLOAD:-oltp-read-only}
need ip tc unshare mariadb

clients=dbtime-bench$$
ip netns add "$clients"
trap 'end; ip netns del "$clients"' EXIT
ip link add servers0 type veth peer name clients0 netns "$clients"
ip addr add 10.202.0.1/24 dev servers0
ip link set lo up
ip link set servers0 up
ip -n "$clients" addr add 10.202.0.2/24 dev clients0
ip -n "$clients" link set clients0 up

start_mariadb --skip-networking=0 --bind-address=10.202.0.1 --port=3306
mariadb_execute "CREATE USER app@'%'; GRANT ALL ON *.* TO app@'%'; CREATE DATABASE app"
over_socket="mysql://app@/app?socket=$socket"
over_tcp=mysql://app@10.202.0.1:3306/app
"$dbtime" init "$workload" --target "$over_socket" --quiet >/dev/null

# Limits both ends of the pair (add RATE), or no more (del).
limit_interfaces() {
    local limit=()
    [ "$1" = del ] || limit=(tbf rate "$2"mbit burst 32kb latency 50ms)
    tc qdisc "$1" dev servers0 root "${limit[@]}"
    tc -n "$clients" qdisc "$1" dev clients0 root "${limit[@]}"
}

# Runs the load: side, target, flags.
run_load() {
    local side=$1 target=$2
    shift 2
    on_client_cpu ip netns exec "$clients" "$dbtime" run "$workload" --target "$target" \
        --connections "$connections" --warmup 1s --time "${length}s" --no-record --json "$@"
    measure "$case" "$side" 'per second' "$(field throughput_tps)"
    measure "$case" "$side" 'p50, µs' "$(field latency_us.response.p50)"
    measure "$case" "$side" 'p99, µs' "$(field latency_us.response.p99)"
}

side_none() { run_load none "$over_socket"; }
side_simulated() { run_load simulated "$over_socket" --network-rate "${rate}Mbit/s"; }
side_sim_tcp() { run_load sim-tcp "$over_tcp" --network-rate "${rate}Mbit/s"; }
side_tbf() {
    limit_interfaces add "$rate"
    run_load tbf "$over_tcp"
    limit_interfaces del
}

for rate in ${RATES:-1000 100 20}; do
    case="$workload, $connections connections, $rate Mbit/s"
    alternate tbf simulated sim_tcp none
done
verdict
