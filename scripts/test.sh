#!/bin/sh
# Runs the tests of the workspace, or what the arguments select of them:
#
#   scripts/test.sh                       all, those in the documentation too
#   scripts/test.sh -p dbtime-sql         those of a crate
#   scripts/test.sh -E 'test(tls)'        any arguments of cargo nextest run
#
# cargo-nextest runs them in the lanes of .config/nextest.toml; if it cannot be installed, cargo test
# runs all of them.
set -eu
cd "$(dirname "$0")/.."

cargo=${CARGO:-cargo}
locked=${LOCKED:-}

# Databases come and go by the hundred: in memory nobody waits for a disk. What is to wait for one
# goes to /var/tmp. Servers run as other users, who have to get in, and programs are run from there.
memory=/dev/shm
needed_kb=$((6 * 1024 * 1024))
has_room() {
    [ "$(stat -f -c %T "$memory" 2>/dev/null)" = tmpfs ] &&
        ! grep -q "^[^ ]* $memory [^ ]* [^ ]*noexec" /proc/mounts &&
        [ "$(df -k --output=avail "$memory" | tail -n 1)" -ge "$needed_kb" ] &&
        [ "$(sed -n 's/^MemAvailable: *\([0-9]*\) kB/\1/p' /proc/meminfo)" -ge "$needed_kb" ]
}
place=${TMPDIR:-/tmp}
if has_room; then
    place=$memory
else
    echo "test: temporary files go to $place, not to $memory, where 6 GB of memory would have to be \
free: the tests take longer" >&2
fi

# What a run that was killed has left. The name has its process, which may be one of another
# container that shares the place: what is in use is younger than an hour.
for left in "$place"/dbtime-test.*; do
    process=${left#"$place"/dbtime-test.}
    [ -O "$left" ] && [ ! -e "/proc/${process%%.*}" ] &&
        [ -n "$(find "$left" -maxdepth 0 -mmin +60)" ] && rm -rf "$left"
done
TMPDIR=$(mktemp -d "$place/dbtime-test.$$.XXXXXX")
# Each kind of server makes its data folder once; nobody else may put one there.
DBTIME_NEW_DATA=$TMPDIR/new-data
mkdir -m 700 "$DBTIME_NEW_DATA"
chmod 1777 "$TMPDIR"
export TMPDIR DBTIME_NEW_DATA

groups=/proc/sys/kernel/sched_autogroup_enabled
had_groups=0

# Servers that are being ended may still write there.
leave() {
    [ "$had_groups" = 0 ] || echo 1 >"$groups"
    for _ in 1 2 3 4 5; do
        rm -rf "$TMPDIR" 2>/dev/null && return
        sleep 1
    done
}
trap leave EXIT
running=
# The shell hears a signal while it waits, not while it runs something. What it started is a group of
# its own, all of which ends.
stop() {
    trap '' INT TERM HUP
    if [ -n "$running" ]; then
        kill -TERM "-$running" 2>/dev/null || kill -TERM "$running" 2>/dev/null || true
        wait "$running" || true
    fi
    exit "$1"
}
trap 'stop 129' HUP
trap 'stop 130' INT
trap 'stop 143' TERM

# Each PostgreSQL backend is a session, for which Linux may make a group of its own that shares the
# CPUs with the others. Linux 6.18 then starves groups and threads of the kernel, RCU's too, for up to
# a minute; attaching a tracer waits for RCU. Without such groups it does not.
if [ -w "$groups" ] && [ "$(cat "$groups")" = 1 ] && echo 0 2>/dev/null >"$groups"; then
    had_groups=1
fi

# What a script starts beside it ignores Ctrl-C, which the tests send to what they start.
run() {
    setsid env --default-signal=INT "$@" &
    running=$!
    code=0
    wait "$running" || code=$?
    running=
    return "$code"
}

# shellcheck disable=SC2086 # in $cargo and $locked words are wanted
if nextest=$(sh scripts/nextest.sh); then
    failed=0
    # Those are in no binary. First, so that the last lines name what has failed of the others.
    [ $# -gt 0 ] || run $cargo test --doc $locked || failed=$?
    run "$nextest" nextest run $locked "$@" || failed=$?
    exit "$failed"
else
    echo 'test: cargo-nextest cannot be installed: cargo test runs the tests, which takes twice as long' >&2
    RUST_TEST_THREADS=$(nproc)
    export RUST_TEST_THREADS
    run $cargo test $locked "$@"
fi
