"""Writes a log of so many megabytes to standard output: records of varied statements and times, the
same for the same seed, repeated from a stretch of 32 MB on, which no cache of texts holds.

Usage: make_log.py slow|csv|json|access MEGABYTES
"""

import json
import random
import sys
from datetime import datetime, timedelta

STRETCH = 32 << 20
BEGIN = datetime(2026, 11, 1, 8, 0, 0)
STATEMENTS = [
    "SELECT c FROM sbtest{table} WHERE id={number}",
    "SELECT DISTINCT c FROM sbtest{table} WHERE id BETWEEN {number} AND {other} ORDER BY c",
    "UPDATE sbtest{table} SET k=k+1, c='{text}' WHERE id={number}",
    "INSERT INTO sbtest{table} (id, k, c, pad) VALUES ({number}, {other}, '{text}', '{text}')",
    "SELECT o.id, o.total, c.name FROM orders o JOIN customer c ON c.id = o.customer_id WHERE "
    "o.state IN ('open', 'paid') AND o.created > '2026-10-{day:02}' AND c.mail = '{text}' LIMIT 20",
    "DELETE FROM session WHERE token = '{text}' AND seen < {number}",
]
PATHS = ["/item/{number}", "/", "/static/app.{number:08x}.js", "/search?q={text}&page={day}", "/api/v1/order"]
AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"


def values(draw):
    return {
        "table": draw.randrange(1, 11),
        "number": draw.randrange(10**7),
        "other": draw.randrange(10**7),
        "day": draw.randrange(1, 29),
        "text": "%032x" % draw.getrandbits(128),
    }


def statement(draw):
    return draw.choice(STATEMENTS).format(**values(draw))


def seconds(draw):
    return draw.lognormvariate(-7, 1.5)


def mysql57(draw, at):
    return (
        f"# Time: {at.isoformat()}Z\n# User@Host: app[app] @ web3 [10.0.0.7]  Id: {draw.randrange(999):5}\n"
        f"# Query_time: {seconds(draw):.6f}  Lock_time: 0.000012 Rows_sent: 1  Rows_examined: "
        f"{draw.randrange(9999)}\nSET timestamp={int(at.timestamp())};\n{statement(draw)};\n"
    )


def mariadb(draw, at):
    return (
        f"# Time: {at:%y%m%d %H:%M:%S}\n# User@Host: app[app] @ web3 [10.0.0.7]\n"
        f"# Thread_id: {draw.randrange(999)}  Schema: shop  QC_hit: No\n"
        f"# Query_time: {seconds(draw):.6f}  Lock_time: 0.000012  Rows_sent: 1  Rows_examined: "
        f"{draw.randrange(9999)}\n# Rows_affected: 0  Bytes_sent: {draw.randrange(9999)}\n"
        f"# Full_scan: No  Full_join: No  Tmp_table: No  Tmp_table_on_disk: No\n"
        f"# Filesort: No  Filesort_on_disk: No  Merge_passes: 0  Priority_queue: No\n"
        f"SET timestamp={int(at.timestamp())};\n{statement(draw)};\n"
    )


def slow(draw, at):
    return draw.choice((mysql57, mariadb))(draw, at)


def csv(draw, at):
    text = statement(draw).replace('"', '""')
    return (
        f'{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03} UTC,"app","shop",{draw.randrange(99999)},'
        f'"10.0.0.7:4711",6164e2c2.c,{draw.randrange(999)},"SELECT",{BEGIN} UTC,3/9,0,LOG,00000,'
        f'"duration: {seconds(draw) * 1000:.3f} ms  statement: {text}",,,,,,,,,"app","client backend",,0\n'
    )


def jsonlog(draw, at):
    record = {
        "timestamp": f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03} UTC",
        "user": "app",
        "dbname": "shop",
        "pid": draw.randrange(99999),
        "remote_host": "10.0.0.7",
        "session_id": "6164e2c2.c",
        "line_num": draw.randrange(999),
        "error_severity": "LOG",
        "message": f"duration: {seconds(draw) * 1000:.3f} ms  statement: {statement(draw)}",
        "application_name": "app",
        "backend_type": "client backend",
        "query_id": draw.getrandbits(62),
    }
    return json.dumps(record, separators=(",", ":")) + "\n"


def access(draw, at):
    path = draw.choice(PATHS).format(**values(draw))
    status = draw.choice((200, 200, 200, 304, 404))
    return (
        f"10.0.{draw.randrange(256)}.{draw.randrange(256)} - - [{at:%d/%b/%Y:%H:%M:%S} +0000] "
        f'"GET {path} HTTP/1.1" {status} {draw.randrange(99999)} "https://shop.example/" "{AGENT}"\n'
    )


def main(kind, megabytes):
    record = {"slow": slow, "csv": csv, "json": jsonlog, "access": access}[kind]
    draw, at = random.Random(4711), BEGIN
    stretch, length = [], 0
    while length < min(STRETCH, megabytes << 20):
        at += timedelta(microseconds=draw.randrange(2000))
        stretch.append(record(draw, at).encode())
        length += len(stretch[-1])
    stretch = b"".join(stretch)
    for _ in range(max(1, (megabytes << 20) // len(stretch))):
        sys.stdout.buffer.write(stretch)


main(sys.argv[1], int(sys.argv[2]))
