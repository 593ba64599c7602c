#!/bin/sh
# Runs the tests of the workspace, or what the arguments select of them:
#
#   scripts/test.sh                       all
#   scripts/test.sh -E 'test(tls)'        any arguments of cargo nextest run
#
# cargo-nextest runs them in the lanes of .config/nextest.toml; where it is not to be had, cargo test
# runs all of them.
set -eu

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
has_room && place=$memory
TMPDIR=$(mktemp -d "$place/dbtime-test.XXXXXX")
chmod 1777 "$TMPDIR"
trap 'rm -rf "$TMPDIR"' EXIT
trap 'exit 130' INT TERM HUP
# Each kind of server makes its data folder once.
DBTIME_NEW_DATA=$TMPDIR/new-data
export TMPDIR DBTIME_NEW_DATA

if nextest=$(sh scripts/nextest.sh); then
    # shellcheck disable=SC2086 # words are wanted
    $nextest run --workspace $locked "$@"
    # shellcheck disable=SC2086
    $cargo test --workspace --doc $locked
else
    echo 'test: there is no cargo-nextest: cargo test runs all tests and takes twice as long' >&2
    # shellcheck disable=SC2086
    RUST_TEST_THREADS=$(nproc) $cargo test --workspace $locked
fi
