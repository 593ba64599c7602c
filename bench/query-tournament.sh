#!/usr/bin/env bash
# How far is the optimiser's choice from the best of its plans, and does the best one hold with other
# keys? `dbtime query --tournament` over eight queries of the Join Order Benchmark's shape on private
# servers of both kinds. Each query has a parameter besides, the year from which its films are.
# Prints a line for each: the choice's time, what was tried, the fastest other way with its ratio and
# the ratio with other keys, and whether that is the verdict.
#
# Usage: bench/query-tournament.sh [path of dbtime]
# Variables: QUERIES ("1a 3a 6f 8c 9d 12a 16b 25a"), LENGTH (10 seconds for each form), SERVERS
# ("mariadb postgres"), and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
length=${LENGTH:-10}
source=crates/dbtime-lab/tests/queries
tables=$(sed -n 's/^CREATE TABLE \([a-z_]*\) .*/\1/p' "$source/films_data.sql" |
    grep -vxE 'digits|numbers|words' | paste -sd,)

fill_mariadb() {
    mariadb_execute 'CREATE DATABASE films'
    mariadb --no-defaults --socket="$socket" --user=root films <"$source/films_data.sql"
    mariadb --no-defaults --socket="$socket" --user=root films \
        --execute="ANALYZE TABLE $tables" >"$folder/analyze.log"
    target="mysql://root@/films?socket=$socket"
}

fill_postgres() {
    local psql=("$pg_bin/psql" -h "$folder" -p "$pg_port" -U postgres -q -v ON_ERROR_STOP=1)
    "${psql[@]}" -c 'CREATE DATABASE films'
    "${psql[@]}" -d films -f "$source/films_data.sql" -c ANALYZE
    target="postgres://postgres@/films?host=$folder&port=$pg_port"
}

# The text of a query such as 6a, as the tests of dbtime-lab make it, with its parameter.
text_of() {
    python3 - "$source/films_queries.txt" "$1" <<'EOF'
import sys

path, name = sys.argv[1:]
head, *graphs = open(path).read().split("\n= ")
ranges = {}
for line in head.splitlines():
    if line.startswith("+ "):
        alias, table, *link = line[2:].split(" ", 2)
        ranges[alias] = (table, link)
first, *filters = graphs[int(name[:-1]) - 1].splitlines()
aliases, columns = first.split(" > ")
aliases = aliases.split()
links = [link for alias in aliases for link in ranges[alias][1]]
of_film = [link.removesuffix(" = t.id") for link in links if link.endswith(" = t.id")]
siblings = [f"{one} = {other}" for one, other in zip(of_film, of_film[1:])]
kept = filters[ord(name[-1]) - ord("a")]
print("SELECT", ", ".join(f"min({column})" for column in columns.split(", ")))
print("FROM", ", ".join(f"{ranges[alias][0]} {alias}" for alias in aliases))
print("WHERE", " AND ".join(links + siblings + [kept, "t.production_year >= :year"]))
EOF
}

# What the record in $folder/out has of the tournament.
result() {
    python3 - "$folder/out" "$product" "$1" <<'EOF'
import json, sys

path, product, name = sys.argv[1:]
record = json.load(open(path))
tournament = record.get("tournament") or {"entries": []}
entries = tournament["entries"]
if not entries:
    sys.exit(f"{product} {name}: no tournament")
best = tournament.get("best")
measured = [entry for entry in entries[1:] if entry.get("ratio")]
shown = entries[best] if best else measured[0] if measured else None


def interval(ratio):
    return f"{ratio['ratio']:.3f} [{ratio['low']:.3f}, {ratio['high']:.3f}]" if ratio else "-"


print("\t".join([
    product,
    name,
    f"{entries[0]['mean_us'] / 1e3:.2f} ms",
    f"{len(entries) - 1} tried",
    shown["switch"] if shown else "-",
    interval(shown and shown["ratio"]),
    interval(shown and shown.get("confirmation")),
    "best" if best else "the choice stands",
    tournament.get("misled_by") or "",
]))
EOF
}

echo "kernel $(uname -r), $(nproc) CPUs, server on CPU $server_cpu, driver on CPU $client_cpu"
printf 'server\tquery\tchoice\tothers\tfastest other\tratio\twith other keys\tverdict\tmisled by\n'
for product in ${SERVERS:-mariadb postgres}; do
    "start_$product"
    "fill_$product"
    for name in ${QUERIES:-1a 3a 6f 8c 9d 12a 16b 25a}; do
        text_of "$name" >"$folder/$name.sql"
        on_client_cpu "$dbtime" query "$folder/$name.sql" --target "$target" \
            --dict year=range:1930..2000 --tournament --no-advice --time "${length}s" --json
        result "$name"
    done
    stop_servers
done
