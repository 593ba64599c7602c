#!/bin/sh
# Fuzzes every target for so many seconds: scripts/fuzz.sh 30
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
for target in $(cargo +nightly fuzz list); do
    echo "==> $target, $seconds s"
    mkdir -p "fuzz/corpus/$target"
    # Seeds have the name of what they are: a workload, a record.
    cargo +nightly fuzz run "$target" "fuzz/corpus/$target" "fuzz/seeds/${target%%_*}" -- \
        -max_total_time="$seconds" -print_final_stats=1
done
