#!/bin/sh
# Runs sysbench's own tests, once with sysbench and once with dbtime in its place, and compares what
# they print: crates/dbtime/tests/it/versions/sysbench_suite.rs.
#
# They come with Debian's source package of sysbench, which apt-get fetches from the mirror in use;
# nothing of it is installed. DBTIME_SYSBENCH_SOURCE=FOLDER names sysbench's unpacked source instead.
# A source that cannot be had is told, and its tests are left out.
set -eu
. "${0%/*}/apt-private.sh"

say() {
    echo "sysbench-tests: $*" >&2
}

# Fetches the source and prints its folder.
fetched() {
    folder=$(fetched_folder)/source-of-sysbench
    found=$(find "$folder" -mindepth 1 -maxdepth 1 -type d -name 'sysbench-*' 2>/dev/null | head -n 1)
    if [ -n "$found" ]; then
        echo "$found"
        return
    fi
    mirror=$(debian_mirror) || { say "apt-get knows no mirror"; return 1; }
    apt_begin "$folder/apt" deb-src "${mirror% *}" "${mirror#* }" || return 1
    (cd "$folder" && apt_here source --download-only sysbench) || return 1
    for archive in "$folder"/sysbench_*.orig.tar.*; do
        # What was unpacked half does not count.
        rm -rf "$folder/unpacked.part"
        mkdir -p "$folder/unpacked.part" || return 1
        tar -x -C "$folder/unpacked.part" -f "$archive" || return 1
        mv "$folder/unpacked.part"/sysbench-* "$folder" || return 1
    done
    find "$folder" -mindepth 1 -maxdepth 1 -type d -name 'sysbench-*' | head -n 1
}

if [ -z "${DBTIME_SYSBENCH_SOURCE:-}" ]; then
    DBTIME_SYSBENCH_SOURCE=$(fetched) || DBTIME_SYSBENCH_SOURCE=
fi
if ! [ -d "$DBTIME_SYSBENCH_SOURCE/tests/t" ]; then
    say "NOT TESTED: the source of sysbench cannot be had here"
    exit 0
fi
sh "${0%/*}/setup-debian.sh" python3-cram
export DBTIME_SYSBENCH_SOURCE
# shellcheck disable=SC2086 # none or one word
exec ${CARGO:-cargo} test --package dbtime --features versions --test it ${LOCKED:-} sysbench_suite
