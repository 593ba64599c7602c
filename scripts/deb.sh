#!/bin/sh
# Builds the Debian package: the program, its manual pages, what completes it in shells, the docs,
# the licences of all crates in it.
#
#   scripts/deb.sh            as released
#   scripts/deb.sh quick      of another profile of Cargo.toml
#
# Prints the path of the package last. Needs cargo-deb, which is installed where it is missing.
set -eu

profile=${1:-release}
cargo=${CARGO:-cargo}

if ! command -v cargo-deb >/dev/null 2>&1; then
    echo 'deb: there is no cargo-deb: installing it by `cargo install cargo-deb --locked`' >&2
    $cargo install cargo-deb --locked >&2
fi

# shellcheck disable=SC2086 # LOCKED is a word or none
$cargo build --profile "$profile" ${LOCKED:-} --bin dbtime >&2

built=${CARGO_TARGET_DIR:-target}/$profile

rm -rf "$built/package"
mkdir -p "$built/package/man"
"$built/dbtime" manual "$built/package/man"
"$built/dbtime" completions bash >"$built/package/dbtime.bash"
"$built/dbtime" completions zsh >"$built/package/_dbtime"
"$built/dbtime" completions fish >"$built/package/dbtime.fish"
# shellcheck disable=SC2086
$cargo run --quiet --package xtask ${LOCKED:-} -- licences "$built/package/THIRD-PARTY-LICENSES"

# shellcheck disable=SC2086
$cargo deb --package dbtime --no-build --profile "$profile" ${LOCKED:-}
