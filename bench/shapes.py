"""A load of statements of which each text comes once, a batch at a time over one connection, and behind
a while another connection with one statement that comes again and again. Prints how many a second.

Usage: shapes.py SOCKET RATE SECONDS HEAVY, of which the last is how often that one comes
"""

import socket
import struct
import sys
import threading
import time

BATCH = 20
OK_LENGTH = 11
CAPABILITIES = 0x1 | 0x200 | 0x8000 | 0x80000


def connect(path):
    server = socket.socket(socket.AF_UNIX)
    server.connect(path)
    server.recv(4096)
    login = struct.pack("<IIB23x", CAPABILITIES, 1 << 24, 45) + b"root\0\0mysql_native_password\0"
    server.sendall(struct.pack("<I", len(login))[:3] + b"\x01" + login)
    assert server.recv(4096)[4] == 0, "logged in"
    return server


def execute(server, statements):
    texts = [b"\x03" + statement.encode() for statement in statements]
    server.sendall(b"".join(struct.pack("<I", len(text)) + text for text in texts))
    left = OK_LENGTH * len(texts)
    while left:
        left -= len(server.recv(left))


def come_again(path, seconds, count):
    time.sleep(seconds / 3)
    server = connect(path)
    for number in range(count):
        execute(server, [f"DO {number}*2"])
        time.sleep(seconds / 2 / count)


path, rate, seconds, heavy = sys.argv[1], float(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
other = threading.Thread(target=come_again, args=(path, seconds, heavy))
other.start()
server, count, begin = connect(path), 0, time.monotonic()
while time.monotonic() < begin + seconds:
    execute(server, [f"SET @n{count + number}=1" for number in range(BATCH)])
    count += BATCH
    time.sleep(max(0, begin + count / rate - time.monotonic()))
print(f"{count / (time.monotonic() - begin):.0f}")
other.join()
