#!/bin/sh
# Fuzzes every target, or those named, for so many seconds each: scripts/fuzz.sh 30 [TARGET]...
# Says at the end how long each ran and how many inputs it tried, and exits with 1 where one was
# wrong, with the file that has it, in fuzz/artifacts, and how to run it again.
#
# Needs a C++ compiler, for libFuzzer. The same readers are tested with generated input by
# `cargo test`, without one.
set -eu
cd "$(dirname "$0")/.."

seconds=${1:-30}
case $seconds in
'' | *[!0-9]*)
    echo "fuzz: error: \`$seconds\` is no number of seconds: scripts/fuzz.sh 30 [TARGET]..." >&2
    exit 2
    ;;
esac
[ $# -eq 0 ] || shift
if [ $# -eq 0 ]; then
    for source in fuzz/fuzz_targets/*.rs; do
        set -- "$@" "$(basename "$source" .rs)"
    done
fi
binaries=
for target in "$@"; do
    # A path is none, though it may lead to a file: it would be a name to cargo, and a folder here.
    case $target in
    */*) source= ;;
    *) source=fuzz/fuzz_targets/$target.rs ;;
    esac
    if [ ! -f "$source" ]; then
        echo "fuzz: error: there is no target \`$target\`: each has a file in fuzz/fuzz_targets" >&2
        exit 2
    fi
    binaries="$binaries --bin $target"
done
if [ -z "${CXX:-}" ] && ! command -v c++ >/dev/null 2>&1; then
    echo "fuzz: error: there is no C++ compiler: install g++, or name another one in CXX" >&2
    exit 1
fi
echo "fuzz: targets: $#, of $seconds s each: $((($# * seconds + 59) / 60)) minutes in all; building them \
first takes about 5 more on two CPUs" >&2

# What libFuzzer sees of a program LLVM adds to it, for stable Rust too. With a target named, build
# scripts and macros, which are run here and now, are built without these flags: they could not be
# linked, as nothing in them counts.
flags='--cfg fuzzing -Cdebug-assertions -Ccodegen-units=1 -Cpasses=sancov-module'
for argument in level=4 inline-8bit-counters pc-table trace-compares; do
    flags="$flags -Cllvm-args=-sanitizer-coverage-$argument"
done
host=$("${RUSTC:-rustc}" -vV | sed -n 's/^host: //p')
built=${CARGO_TARGET_DIR:-target}/fuzz
# Linking once more over everything, as for a release, takes minutes for each.
# shellcheck disable=SC2086 # in $binaries, $CARGO and $LOCKED words are wanted
CARGO_TARGET_DIR=$built CARGO_PROFILE_RELEASE_LTO=off RUSTFLAGS=$flags \
    ${CARGO:-cargo} build --release ${LOCKED:-} --package dbtime-fuzz --features link \
    --target "$host" $binaries

results=$(mktemp)
output=$(mktemp)
wrong=$(mktemp)
trap 'rm -f "$results" "$output" "$wrong"' EXIT
code=0
for target in "$@"; do
    echo "==> $target, $seconds s"
    program=$built/$host/release/$target
    corpus=fuzz/corpus/$target
    artifacts=fuzz/artifacts/$target/
    mkdir -p "$corpus" "$artifacts"
    begun=$(date +%s)
    # Seeds have the name of what they are: a workload, a record.
    if RUST_BACKTRACE=1 "$program" "$corpus" "fuzz/seeds/${target%%_*}" \
        -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$artifacts" \
        2>"$output"; then
        outcome=clean lines=20
    else
        # With the panic and its stack.
        outcome=FAILED lines=400 code=1
        input=$(sed -n 's/.*Test unit written to //p' "$output" | tail -n 1)
        echo "fuzz: error: $target fails${input:+ on $input}; again: $program $input" >>"$wrong"
    fi
    tail -n "$lines" "$output" >&2
    # libFuzzer says how long it ran itself.
    ran=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$output")
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$output")
    printf '%-24s %-6s %6s s %12s inputs\n' "$target" "$outcome" \
        "${ran:-$(($(date +%s) - begun))}" "${inputs:-?}" >>"$results"
done
cat "$results"
cat "$wrong" >&2
exit "$code"
