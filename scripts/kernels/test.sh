#!/bin/bash
# Runs tests of the tracer on other kernels: those of Debian 11, 12 and 13 and the newest, each under
# qemu on this machine's own files (see boot.sh). The tests are those of tests.txt.
#
#   scripts/kernels/test.sh                 all of these kernels, all tests of the list
#   scripts/kernels/test.sh --short 6.1     only the short ones, on these kernels
#   scripts/kernels/test.sh --tests encrypted 6.1     only those whose names match
#   scripts/kernels/test.sh --prepare 6.1   only installs and fetches what it takes
#
# Two kernels run at a time, in the order given. Where there is no qemu to be had nothing is
# tested, which is said; with CI set that is a failure.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

say() {
    echo "kernels: $*" >&2
}

kinds='short|long' seconds=5400 patience=900 only= pattern=
case ${1:-} in
--short)
    kinds=short seconds=300 patience=120
    shift
    ;;
--tests)
    pattern=${2:-}
    [ -n "$pattern" ] || { say '--tests takes a pattern of names'; exit 2; }
    shift 2
    ;;
--prepare)
    only=prepare
    shift
    ;;
esac
[ $# -gt 0 ] || set -- 6.1 6.12 newest 5.10

# The tests of a kernel, a line each.
tests_of() {
    local of=$kinds
    [ "$1" != 5.10 ] || of=old
    grep -E "^($of) " scripts/kernels/tests.txt | cut -d ' ' -f 2- | grep -E -- "$pattern"
}
for name in "$@"; do
    tests_of "$name" >/dev/null || {
        say "no test of the list for $name matches '$pattern' (scripts/kernels/tests.txt)"
        exit 2
    }
done

if ! sh scripts/setup-debian.sh qemu-system-x86 busybox-static cpio xz-utils ||
    ! command -v qemu-system-x86_64 >/dev/null; then
    say 'NOT TESTED on other kernels: there is no qemu-system-x86_64 here'
    [ -z "${CI:-}" ] || exit 1
    exit 0
fi
sh scripts/kernels/fetch.sh "$@" >/dev/null
[ -z "$only" ] || exit 0
. scripts/apt-private.sh
kernels=$(fetched_folder)/kernels

work=$(mktemp -d "${TMPDIR:-/var/tmp}/dbtime-kernels.XXXXXX")
guests=
stop() {
    # shellcheck disable=SC2086 # words are wanted
    [ -z "$guests" ] || { kill $guests; wait $guests; } 2>/dev/null || true
    rm -rf "$work"
}
trap stop EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# The binaries, as `make test` builds them: of fewer crates others would be built, with fewer features.
# shellcheck disable=SC2086 # words are wanted
binaries=$(${CARGO:-cargo} test ${LOCKED:-} --no-run --quiet --message-format json | python3 -c '
import json, sys
for line in sys.stdin:
    built = json.loads(line)
    if built.get("executable"):
        crate = built["manifest_path"].split("/")[-2]
        print(crate, built["target"]["name"], built["executable"])')
binary() {
    echo "$binaries" | awk -v crate="$1" -v name="$2" '$1 == crate && $2 == name { print $3; exit }'
}
it=$(binary dbtime it)
observe=$(binary dbtime-observe dbtime_observe)
dbtime=${it%/deps/*}/dbtime

# Each kind of server makes its data folder here, where that is quick.
mkdir -m 700 "$work/new-data"
for product in mariadb postgres; do
    DBTIME_NEW_DATA=$work/new-data "$dbtime" run values1 \
        --target "$product" --connections 1 --time 1s --no-record --quiet >/dev/null
done

boot() {
    local shared=$work/$1
    mkdir "$shared"
    cp scripts/kernels/guest.sh "$shared/tests.sh"
    tests_of "$1" >"$shared/list"
    cat >"$shared/settings" <<SETTINGS
workspace=$PWD
it=$it
observe=$observe
patience=$patience
export DBTIME_NEW_DATA=$work/new-data
SETTINGS
    # In place of this shell, so that a signal reaches it.
    DBTIME_GUEST_SECONDS=$seconds exec sh scripts/kernels/boot.sh "$kernels/$1" "$shared" tests.sh
}

failed=0
report() {
    echo "== Linux $(cat "$work/$1/release" 2>/dev/null || echo "$1"): $2"
    cat "$work/$1/log" 2>/dev/null || tail -n 20 "$work/$1/console"
    for output in "$work/$1"/failed-*; do
        [ -f "$output" ] || continue
        echo "-- ${output##*/failed-}"
        tail -n 30 "$output" | cut -c 1-400
    done
}
while [ $# -gt 0 ]; do
    pair=("${@:1:2}")
    shift ${#pair[@]}
    guests=
    for name in "${pair[@]}"; do
        boot "$name" &
        guests="$guests $!"
    done
    for guest in $guests; do
        name=${pair[0]}
        pair=("${pair[@]:1}")
        if wait "$guest"; then
            report "$name" 'all ok'
        else
            report "$name" FAILED
            failed=1
        fi
        guests=${guests# "$guest"}
    done
done
tables=()
for verified in "$work"/*/verified; do
    [ -s "$verified" ] && tables+=("$(cut -d - -f 1 "${verified%/*}/release")=$verified")
done
[ ${#tables[@]} -eq 0 ] || {
    echo '== What the verifiers went through, in instructions'
    python3 scripts/kernels/table.py "${tables[@]}"
}
exit "$failed"
