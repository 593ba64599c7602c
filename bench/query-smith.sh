#!/usr/bin/env bash
# Richard Smith's three rewrites of Olio's queries (2009), on tables of their shape: a subquery that
# becomes a join, the count of all but a few rows as that of all less the few, and the order by the
# indexed column. As A and B: the verdict and whether the rows are the same. As A alone: whether the
# advice has the other form by itself.
#
# Servers: a private MariaDB and PostgreSQL, and MySQL 5.5.9, which lacks semi-joins as his did, where
# `make setup-versions` has put it. He measured 8 queries a second against 682 for the first.
#
# Usage: bench/query-smith.sh [path of dbtime]
# Variables: EVENTS (100000), TIME (5s for each form), MYSQL55 (its prefix), and those of servers.bash
set -euo pipefail
# shellcheck source=bench/servers.bash
. "$(dirname "$0")/servers.bash"
events=${EVENTS:-100000}
time=${TIME:-5s}
mysql55=${MYSQL55:-/var/cache/dbtime/versions/mysql-5.5.9}

python3 - "$events" "$folder" <<'P'
import datetime, random, sys

events, folder = int(sys.argv[1]), sys.argv[2]
begin = datetime.datetime(2026, 1, 1)

def stamp():
    # One event in fifty has been.
    days = random.randint(-700, -1) if random.random() < 0.02 else random.randint(1, 3000)
    return begin + datetime.timedelta(days=days, minutes=random.randrange(1440))

for kind, moment in (("mysql", "datetime"), ("postgres", "timestamp")):
    random.seed(5)
    out = open(f"{folder}/{kind}.sql", "w")
    out.write(f"CREATE TABLE event (id int PRIMARY KEY, title varchar(100) NOT NULL, day date NOT NULL,"
              f" at {moment} NOT NULL);\nCREATE INDEX event_at ON event (at);\n"
              "CREATE TABLE tag (id int PRIMARY KEY, word varchar(30) NOT NULL, uses int NOT NULL);\n"
              "CREATE TABLE event_tag (event int NOT NULL, tag int NOT NULL, PRIMARY KEY (event, tag));\n"
              "BEGIN;\n")

    def insert(table, rows):
        for first in range(0, len(rows), 1000):
            out.write(f"INSERT INTO {table} VALUES {','.join(rows[first:first + 1000])};\n")

    def event(n):
        at = stamp()
        return f"({n},'event {n}','{at:%Y-%m-%d}','{at:%Y-%m-%d %H:%M:%S}')"
    insert("event", [event(n) for n in range(1, events + 1)])
    insert("tag", [f"({n},'tag{n:05}',{random.randint(0, 20)})" for n in range(1, 20001)])
    insert("event_tag", [f"({n},{tag})" for n in range(1, events + 1)
                         for tag in sorted(random.sample(range(1, 20001), 2))])
    out.write("COMMIT;\n")
P

write() { cat >"$folder/$1.sql"; }
write 1a <<'EOF'
SELECT word, uses FROM tag WHERE id IN (SELECT tag FROM event_tag WHERE event = :id) AND uses > 0
ORDER BY word
EOF
write 1b <<'EOF'
SELECT t.word, t.uses FROM tag t JOIN event_tag e ON t.id = e.tag WHERE e.event = :id AND t.uses > 0
ORDER BY t.word
EOF
write 2a <<'EOF'
SELECT count(*) FROM event WHERE at >= '2026-01-01 00:00:00'
EOF
write 2b <<'EOF'
SELECT (SELECT count(*) FROM event) - (SELECT count(*) FROM event WHERE at < '2026-01-01 00:00:00')
EOF
write 3a <<'EOF'
SELECT id, title, day FROM event WHERE at >= '2026-01-01 00:00:00' ORDER BY day LIMIT 10
EOF
write 3b <<'EOF'
SELECT id, title, day FROM event WHERE at >= '2026-01-01 00:00:00' ORDER BY at LIMIT 10
EOF

# $1: what the server is called; $target: where it is.
try() {
    local case
    for case in 1 2 3; do
        local keys=()
        [ "$case" != 1 ] || keys=(--dict "id=range:1..$events")
        "$dbtime" query "$folder/${case}a.sql" "$folder/${case}b.sql" --target "$target" "${keys[@]}" \
            --time "$time" --json >"$folder/pair.json" 2>"$folder/err" || fail "$(tail -n 3 "$folder/err")"
        "$dbtime" query "$folder/${case}a.sql" --target "$target" "${keys[@]}" --time "$time" --json \
            >"$folder/alone.json" 2>"$folder/err" || fail "$(tail -n 3 "$folder/err")"
        python3 - "$1" "$case" "$folder" <<'P'
import json, sys

server, case, folder = sys.argv[1:]
pair, alone = (json.load(open(f"{folder}/{name}.json")) for name in ("pair", "alone"))
found, rows = pair["comparison"], pair["rows"]
a, b = (1e6 / form["times"]["mean_us"] for form in pair["forms"])
interval = found["ratio"]
print(f"{server:12} case {case}: {a:7.0f} against {b:7.0f} a second, ratio {interval['ratio']:.4f} "
      f"({interval['low']:.4f} .. {interval['high']:.4f}) {found['verdict']}; rows "
      f"{rows['outcome']} for {rows['keys']} keys")
for advice in alone.get("advice", []):
    print(f"{'':12}   alone: {advice['rule']} takes {advice['trial']['ratio']['ratio']:.4f} of the time")
P
    done
}

start_mariadb
mariadb_execute 'CREATE DATABASE olio'
mariadb --no-defaults --socket="$socket" --user=root olio <"$folder/mysql.sql"
mariadb_execute 'ANALYZE TABLE olio.event, olio.tag, olio.event_tag' >"$folder/analyze.log"
target="mysql://root@/olio?socket=$socket"
try 'MariaDB'
stop_servers
start_postgres
psql=("$pg_bin/psql" -h "$folder" -p "$pg_port" -U postgres -q)
"${psql[@]}" -c 'CREATE DATABASE olio'
"${psql[@]}" -d olio -f "$folder/postgres.sql" -c 'VACUUM ANALYZE'
target="postgres://postgres@/olio?host=$folder&port=$pg_port"
try 'PostgreSQL'
stop_servers
if [ -x "$mysql55/bin/mysqld" ]; then
    mkdir -p "$folder/mysql55/mysql"
    chown -R nobody "$folder/mysql55"
    chmod 755 "$folder"
    socket=$folder/mysql55/socket
    # Its installation as mysql_install_db makes it.
    { echo 'USE mysql;'; cat "$mysql55"/share/mysql_system_tables{,_data}.sql; } |
        "$mysql55/bin/mysqld" --no-defaults --bootstrap --user=nobody --basedir="$mysql55" \
            --lc-messages-dir="$mysql55/share" --datadir="$folder/mysql55" >"$folder/install55.log" 2>&1 ||
        fail "no data folder: $(tail -n 3 "$folder/install55.log")"
    "$mysql55/bin/mysqld" --no-defaults --user=nobody --basedir="$mysql55" \
        --lc-messages-dir="$mysql55/share" --datadir="$folder/mysql55" --skip-networking \
        --socket="$socket" --innodb-buffer-pool-size=256M >"$folder/mysql55.log" 2>&1 &
    server=$!
    servers+=("$server")
    until_healthy mariadb --no-defaults --socket="$socket" --user=root --execute='SELECT 1'
    mariadb_execute 'CREATE DATABASE olio'
    mariadb --no-defaults --socket="$socket" --user=root olio <"$folder/mysql.sql"
    target="mysql://root@/olio?socket=$socket"
    try 'MySQL 5.5.9'
fi
