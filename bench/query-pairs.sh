#!/usr/bin/env bash
# What the verdicts of `dbtime query A.sql B.sql` are worth, on an SQLite file and a private
# PostgreSQL:
#
#   same     the same statement twice, SAME times; wanted: a verdict of faster or slower in at most
#            5 % ± 3 of them
#   width    keys whose costs spread over a decade: the unpaired interval by the paired one; wanted:
#            at least 3
#   rows     a million rows of three columns through the check of rows, by what their execution
#            takes; wanted: at most 15 % more
#
# Usage: bench/query-pairs.sh [path of dbtime]
# Variables: SAME (200), TIME (300ms for each form)
set -euo pipefail
dbtime=$(realpath "${1:-target/release/dbtime}")
same=${SAME:-200}
time=${TIME:-300ms}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 - <<'P'
import random, sqlite3
random.seed(1)
db = sqlite3.connect("events.db")
db.execute("CREATE TABLE events (id INTEGER PRIMARY KEY, day INTEGER, title TEXT)")
db.execute("CREATE INDEX by_day ON events (day)")
rows = ((n, random.randrange(1000), "t" * random.randrange(5, 50)) for n in range(1_000_000))
db.executemany("INSERT INTO events VALUES (?, ?, ?)", rows)
db.commit()
P
statement='SELECT sum(length(title)) FROM events WHERE day BETWEEN :d AND :d + 9'
# Days from 1 to 10: what a key costs spreads over a decade.
spread='SELECT sum(length(title)) FROM events WHERE day BETWEEN 1 AND :d'
query() { "$dbtime" query --target sqlite:events.db --no-analyze --json "$@"; }

for n in $(seq "$same"); do
    query --query "$statement" --query "$statement" --dict d=range:0..989 --seed "$n" \
        --time "$time" --row-keys 1 >"same-$n.json"
done
query --query "$spread" --query "$spread" --dict d=range:1..10 --time 3s --row-keys 1 >width.json
query --query 'SELECT id, day, title FROM events' --query 'SELECT id, day, title FROM events' \
    --time 3s --row-keys 1 >rows.json

python3 - "$same" <<'P'
import collections, json, math, sys
verdicts = collections.Counter()
for n in range(1, int(sys.argv[1]) + 1):
    verdicts[json.load(open(f"same-{n}.json"))["comparison"]["verdict"]] += 1
print("the same twice:", dict(verdicts))
wrong = verdicts["faster"] + verdicts["slower"]
print(f"  called different: {wrong} of {sum(verdicts.values())}")
comparison = json.load(open("width.json"))["comparison"]
width = lambda of: math.log(of["high"] / of["low"])
paired, unpaired = width(comparison["ratio"]), width(comparison["unpaired"])
print(f"keys over a decade: unpaired interval {unpaired / paired:.1f} times as wide as the paired one")
P
