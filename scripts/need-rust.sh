#!/bin/sh
# Says clearly what is missing when there is no Rust, or one that is too old.
set -eu

needed=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
if ! command -v cargo >/dev/null 2>&1; then
    echo "error: there is no cargo: install Rust $needed or later (https://rustup.rs)" >&2
    exit 1
fi
found=$(rustc --version | cut -d ' ' -f 2)
oldest=$(printf '%s\n%s\n' "$needed" "$found" | sort -V | head -n 1)
if [ "$oldest" != "$needed" ]; then
    echo "error: this is Rust $found, and dbtime needs $needed or later" >&2
    exit 1
fi
