#!/bin/sh
# Builds the programs in tests/drivers with the drivers that they are for, which `make test-versions`
# has be sent errors.
#
#   scripts/drivers.sh          all of them
#   scripts/drivers.sh python   those of a language: go, java, node, python
#
# Prints a file with a line for each driver: its name, whether it speaks postgres or mysql, its modes,
# and its program, with a tab between them. What is there already and has not changed is not built
# again. Progress and trouble go to stderr.
#
# Drivers come from pip, npm, go and mvn, as they are set up here. Those of a language whose tools or
# packages cannot be had are named, and the script fails at its end, or, with
# DBTIME_DRIVERS_MAY_LACK=yes, goes on without them.
#
# DBTIME_VERSIONS=FOLDER is where they are kept, as for versions.sh.
set -eu

. "${0%/*}/apt-private.sh"
sources=$(cd "${0%/*}/../tests/drivers" && pwd)
folder=$(fetched_folder)/drivers

say() {
    echo "drivers: $*" >&2
}

need() {
    for program in "$@"; do
        command -v "$program" >/dev/null || {
            say "$program is missing: Debian has golang, nodejs, npm, default-jdk-headless, maven"
            return 1
        }
    done
}

# Each builds in the present folder, where its sources are, and prints its lines.

build_go() {
    need go || return 1
    go build -mod=mod -buildvcs=false -o plant . >&2 || return 1
    row pgx postgres text,binary "$final/plant"
    row pq postgres text,binary "$final/plant"
    row go-sql-driver mysql text,binary "$final/plant"
}

build_node() {
    need node npm || return 1
    npm install --silent --no-audit --no-fund --ignore-scripts >&2 || return 1
    row node-pg postgres text,binary "node $final/plant.js"
    row mysql2 mysql text,binary "node $final/plant.js"
}

build_java() {
    need java javac mvn || return 1
    while read -r artifact; do
        mvn --quiet --batch-mode dependency:copy "-Dartifact=$artifact" \
            "-DoutputDirectory=$PWD/jars" </dev/null >&2 || return 1
    done <artifacts.txt
    mkdir -p classes
    javac -d classes Plant.java >&2 || return 1
    row pgjdbc postgres text,binary "java -cp $final/classes:$final/jars/* Plant"
    row connector-j mysql text,binary "java -cp $final/classes:$final/jars/* Plant"
}

build_python() {
    need python3 || return 1
    python3 -m pip install --quiet --disable-pip-version-check --target libraries \
        --requirement requirements.txt >&2 || return 1
    program="env PYTHONPATH=$final/libraries python3 $final/plant.py"
    row asyncpg postgres text,binary "$program"
    row psycopg postgres text,binary "$program"
    row pymysql mysql text "$program"
    # Of what it prepares, its library in C does not tell an error's number.
    row mysql-connector mysql text "$program"
}

row() {
    printf '%s\t%s\t%s\t%s\n' "$@"
}

mkdir -p "$folder"
: >"$folder/all.tsv"
missing=
for language in go java node python; do
    [ "${1:-$language}" = "$language" ] || continue
    final=$folder/$language
    # What was built of other sources, or of none.
    if ! [ -f "$final/rows.tsv" ] || ! diff -r "$sources/$language" "$final/sources" >/dev/null 2>&1; then
        say "building those for $language"
        rm -rf "$final"
        mkdir -p "$final"
        cp "$sources/$language"/* "$final"
        if ! (cd "$final" && "build_$language") </dev/null >"$final/rows.part"; then
            say "NOT TESTED: drivers for $language, which cannot be had here"
            missing="$missing $language"
            continue
        fi
        cp -r "$sources/$language" "$final/sources"
        mv "$final/rows.part" "$final/rows.tsv"
    fi
    cat "$final/rows.tsv" >>"$folder/all.tsv"
done
if [ -n "$missing" ] && [ "${DBTIME_DRIVERS_MAY_LACK:-}" != yes ]; then
    say "error: missing:$missing (DBTIME_DRIVERS_MAY_LACK=yes goes on without them)"
    exit 1
fi
echo "$folder/all.tsv"
