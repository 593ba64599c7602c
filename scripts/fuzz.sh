#!/bin/sh
# Fuzzes every target, or those named, for so many seconds each: scripts/fuzz.sh 30 [TARGET]...
# Says at the end how long each ran and how many inputs it tried, and fails where one was wrong.
#
# Needs nightly Rust and cargo-fuzz; what it finds goes to fuzz/artifacts. The same readers are
# tested with generated input by `cargo test`, without either.
set -eu

seconds=${1:-30}
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz: error: needs nightly Rust: \`rustup toolchain install nightly\`" >&2
    exit 1
fi
if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "fuzz: error: needs cargo-fuzz: \`cargo install cargo-fuzz\`" >&2
    exit 1
fi
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- $(cargo +nightly fuzz list)
results=$(mktemp)
output=$(mktemp)
trap 'rm -f "$results" "$output"' EXIT
failed=0
# Linking once more over everything, as for a release, takes minutes for each.
export CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16
for target in "$@"; do
    echo "==> $target, $seconds s"
    mkdir -p "fuzz/corpus/$target"
    begun=$(date +%s)
    # Seeds have the name of what they are: a workload, a record.
    if cargo +nightly fuzz run --features link "$target" "fuzz/corpus/$target" "fuzz/seeds/${target%%_*}" -- \
        -max_total_time="$seconds" -print_final_stats=1 2>"$output"; then
        outcome=clean lines=20
    else
        # With the panic and its stack, or what the compiler says.
        outcome=FAILED failed=1 lines=400
    fi
    tail -n "$lines" "$output" >&2
    # Building is part of the time where it was needed; libFuzzer says how long it ran itself.
    ran=$(sed -n 's/^Done [0-9]* runs in \([0-9]*\) second.*/\1/p' "$output")
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$output")
    printf '%-24s %-6s %6s s %12s inputs\n' "$target" "$outcome" \
        "${ran:-$(($(date +%s) - begun))}" "${inputs:-?}" >>"$results"
done
cat "$results"
exit "$failed"
