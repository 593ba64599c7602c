# Private servers and measuring for the scripts beside it, which source this before all else. It goes
# to the root of the sources and sets `dbtime` to the program, which is the scripts' first argument.
# Everything lives in a folder of its own and goes with it; servers are ended by their process id.
#
# Variables: SERVER_CPU, CLIENT_CPU (0, 1), SERVER_OPTIONS (more options of the server), PAIRS (9),
# MAX_STEAL (100: the percentage of CPU time taken by the hypervisor above which a round is taken
# again, three times as many rounds at most)

export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."
dbtime=${1:-${CARGO_TARGET_DIR:-target}/release/dbtime}
server_cpu=${SERVER_CPU:-0}
client_cpu=${CLIENT_CPU:-1}
folder=$(mktemp -d "${TMPDIR:-/tmp}/dbtime-bench.XXXXXX")
chmod 711 "$folder"
server=
servers=()
load_before=$(cut -d' ' -f1 /proc/loadavg)

end() {
    stop_servers
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

# Leaves with a word on why.
fail() {
    echo "${0##*/}: $*" >&2
    exit 3
}

need() {
    for program in "$@"; do
        command -v "$program" >/dev/null || fail "$program is missing"
    done
}

# All that were started, of which $server is the last.
stop_servers() {
    local one
    for one in "${servers[@]}"; do
        kill "$one" 2>/dev/null || true
        wait "$one" 2>/dev/null || true
    done
    server= servers=()
}

need "$dbtime" taskset python3

# Waits until the command that follows succeeds.
until_healthy() {
    local tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        kill -0 "$server" 2>/dev/null || fail "the server ended: $(tail -n 3 "$folder/server${instance:-}.log")"
        [ "$tries" -lt 600 ] || fail 'the server is not healthy after a minute'
        sleep 0.1
    done
}

# MariaDB on the socket $socket, root without a password. One beside another is called by $instance.
start_mariadb() {
    need mariadb-install-db mariadbd mariadb
    local user data=$folder/mariadb${instance:-}
    socket=$data.sock
    user=$(id -un)
    mariadb-install-db --no-defaults --user="$user" --datadir="$data" --skip-test-db \
        --auth-root-authentication-method=normal >"$folder/install${instance:-}.log" 2>&1 ||
        fail "no data folder: $(tail -n 3 "$folder/install${instance:-}.log")"
    # shellcheck disable=SC2086
    taskset -c "$server_cpu" mariadbd --no-defaults --user="$user" --datadir="$data" \
        --socket="$socket" --pid-file="$data.pid" --skip-networking --max-connections=3000 \
        --back-log=1000 --max-prepared-stmt-count=100000 --innodb-flush-log-at-trx-commit=2 \
        "$@" ${SERVER_OPTIONS:-} >"$folder/server${instance:-}.log" 2>&1 &
    server=$!
    servers+=("$server")
    until_healthy mariadb --no-defaults --socket="$socket" --user=root --execute='SELECT 1'
}

mariadb_execute() {
    mariadb --no-defaults --socket="$socket" --user=root --execute="$1"
}

# PostgreSQL on the socket of port $pg_port in $folder, postgres without a password. One beside another
# is called by $instance. It refuses to be run by root.
pg_port=5432
start_postgres() {
    need setpriv
    pg_bin=${PG_BIN:-$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)}
    [ -x "$pg_bin/postgres" ] || fail 'PostgreSQL is missing: set PG_BIN to its folder bin'
    local data=$folder/postgres${instance:-} as=()
    mkdir "$data"
    if [ "$(id -u)" = 0 ]; then
        as=(setpriv --reuid=postgres --regid=postgres --clear-groups)
        chown postgres "$data"
        chmod 1777 "$folder"
    fi
    "${as[@]}" "$pg_bin/initdb" -D "$data" -A trust -U postgres -N >"$folder/install${instance:-}.log" 2>&1 ||
        fail "no data folder: $(tail -n 3 "$folder/install${instance:-}.log")"
    # shellcheck disable=SC2086
    taskset -c "$server_cpu" "${as[@]}" "$pg_bin/postgres" -D "$data" -k "$folder" -p "$pg_port" \
        -c listen_addresses= -c max_connections=600 -c shared_buffers=256MB \
        -c synchronous_commit=off "$@" ${SERVER_OPTIONS:-} >"$folder/server${instance:-}.log" 2>&1 &
    server=$!
    servers+=("$server")
    until_healthy "$pg_bin/psql" -h "$folder" -p "$pg_port" -U postgres -c 'SELECT 1'
}

# Runs a command on the driver's CPU. What it prints goes to $folder/out; sets `spent` to the CPU
# that it and its threads used, in microseconds.
on_client_cpu() {
    local TIMEFORMAT='%3U %3S'
    { time taskset -c "$client_cpu" "$@" >"$folder/out" 2>"$folder/err"; } 2>"$folder/time" ||
        fail "$1: $(tail -n 3 "$folder/err" "$folder/out")"
    spent=$(awk '{ printf "%.0f", ($1 + $2) * 1e6 }' "$folder/time")
}

# A figure of the record that the last command printed, by its path.
field() {
    python3 -c '
import json, sys
value = json.load(open(sys.argv[1]))
for name in sys.argv[2].split("."):
    value = value[name]
print("" if value is None else value)' "$folder/out" "$1"
}

# Remembers a measured value: case, side, name, value. Without one the round is taken again.
measure() {
    [ -n "$4" ] || flaw="no $3 of $2"
    printf 'measure\t%s\t%s\t%s\t%s\n' "$@" >>"$folder/measured"
}

# Requires something of the medians: case, name, side or side/side, <= or >=, value.
limit() {
    printf 'limit\t%s\t%s\t%s\t%s\t%s\n' "$@" >>"$folder/measured"
}

# Sets `stolen` and `jiffies`: what the hypervisor took so far, and all CPU time so far.
read_steal() {
    local user nice system idle iowait irq softirq steal rest
    read -r _ user nice system idle iowait irq softirq steal rest </proc/stat
    stolen=$steal
    jiffies=$((user + nice + system + idle + iowait + irq + softirq + steal))
}

# Remembers what share of CPU time was stolen since `read_steal`, in percent.
measure_steal() {
    local stolen_before=$stolen jiffies_before=$jiffies
    read_steal
    measure "$1" machine 'steal %' "$(awk -v part=$((stolen - stolen_before)) \
        -v all=$((jiffies - jiffies_before)) 'BEGIN { printf "%.2f", all ? 100 * part / all : 0 }')"
}

# Measures `side_NAME` of each NAME given, round after round; every other round begins from the other
# end. Sides find what they measure in variables.
alternate() {
    local pairs=${PAIRS:-9} sides=("$@") turned=() side kept=0 tried measured=$folder/measured flaw
    for side in "$@"; do
        turned=("$side" "${turned[@]}")
    done
    touch "$measured"
    for ((tried = 0; kept < pairs && tried < 3 * pairs; tried++)); do
        cp "$measured" "$folder/before"
        ((tried % 2)) && sides=("${turned[@]}") || sides=("$@")
        flaw=
        read_steal
        for side in "${sides[@]}"; do
            "side_$side"
        done
        measure_steal "$case"
        awk -v most="${MAX_STEAL:-100}" 'END { exit $NF > most }' "$measured" ||
            flaw="more than $MAX_STEAL % of steal"
        if [ -z "$flaw" ]; then
            kept=$((kept + 1))
        else
            mv "$folder/before" "$measured"
            printf 'dropped\t%s\t%s\n' "$case" "$flaw" >>"$measured"
        fi
    done
}

# Prints what was measured: medians with quartiles, ratios, and whether the limits hold.
verdict() {
    echo "kernel $(uname -r), $(nproc) CPUs, server on CPU $server_cpu, driver on CPU $client_cpu"
    echo "load average before $load_before, after $(cut -d' ' -f1 /proc/loadavg); a quiet machine ends \
at about 2"
    python3 bench/verdict.py "$folder/measured"
}
