"""Has drivers written in Python be sent errors: see README.md in the folder above."""

import asyncio
import os
import ssl
import sys
from urllib.parse import parse_qs, urlsplit


def plan_of(file, product):
    """The lines of the plan for a product, by kind: code, what goes before, statement."""
    plan = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            columns = line.rstrip("\n").split("\t")
            if len(columns) == 5 and product in columns[1].split(","):
                plan[columns[0]] = columns[2:]
    return plan


def unverified():
    """TLS with whoever is there: the certificate is the test's."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class Asyncpg:
    def __init__(self, login, is_encrypted, is_binary):
        import asyncpg

        self.loop = asyncio.new_event_loop()
        self.is_binary = is_binary
        security = unverified() if is_encrypted else False
        self.connection = self.run(asyncpg.connect(**login, ssl=security))

    def run(self, what):
        return self.loop.run_until_complete(what)

    def set_up(self, sql):
        self.run(self.connection.execute(sql))

    def execute(self, sql):
        connection = self.connection
        self.run(connection.fetch(sql) if self.is_binary else connection.execute(sql))

    def code_of(self, error):
        return getattr(error, "sqlstate", None)

    def close(self):
        self.run(self.connection.close())
        self.loop.close()


class Psycopg:
    def __init__(self, login, is_encrypted, is_binary):
        import psycopg

        self.is_binary = is_binary
        self.connection = psycopg.connect(
            host=login["host"],
            port=login["port"],
            user=login["user"],
            password=login["password"],
            dbname=login["database"],
            sslmode="require" if is_encrypted else "disable",
            gssencmode="disable",
            autocommit=True,
        )

    def set_up(self, sql):
        self.connection.execute(sql)

    def execute(self, sql):
        if self.is_binary:
            cursor = self.connection.execute(sql, prepare=True, binary=True)
        else:
            cursor = self.connection.execute(sql)
        if cursor.description:
            cursor.fetchall()

    def code_of(self, error):
        return getattr(error, "sqlstate", None)

    def close(self):
        self.connection.close()


class Pymysql:
    def __init__(self, login, is_encrypted, _is_binary):
        import pymysql

        security = {"ssl": unverified()} if is_encrypted else {"ssl_disabled": True}
        self.connection = pymysql.connect(**login, **security, autocommit=True)

    def set_up(self, sql):
        self.execute(sql)

    def execute(self, sql):
        with self.connection.cursor() as cursor:
            cursor.execute(sql)
            cursor.fetchall()

    def code_of(self, error):
        return str(error.args[0]) if error.args else None

    def close(self):
        self.connection.close()


class MysqlConnector:
    """A connection may have rows left behind an error among them: each statement has its own."""

    def __init__(self, login, is_encrypted, _is_binary):
        self.login = login
        self.is_encrypted = is_encrypted
        self.before = []

    def set_up(self, sql):
        self.before.append(sql)

    def execute(self, sql):
        import mysql.connector

        connection = mysql.connector.connect(
            **self.login,
            ssl_disabled=not self.is_encrypted,
            use_pure=False,
            autocommit=True,
            # MariaDB has not the one that it would ask for.
            charset="utf8mb4",
            collation="utf8mb4_general_ci",
        )
        try:
            for statement in self.before:
                connection.cursor().execute(statement)
            cursor = connection.cursor()
            cursor.execute(sql)
            if cursor.description:
                cursor.fetchall()
        finally:
            connection.close()

    def code_of(self, error):
        number = getattr(error, "errno", None)
        return None if number is None else str(number)

    def close(self):
        pass


DRIVERS = {
    "asyncpg": Asyncpg,
    "mysql-connector": MysqlConnector,
    "psycopg": Psycopg,
    "pymysql": Pymysql,
}


def plant(session, code, before, statement, count):
    if before != "-":
        session.set_up(before)
    for _ in range(count):
        try:
            session.execute(statement)
            sent = "no error"
        except Exception as error:  # each driver has a class of its own
            sent = session.code_of(error) or repr(error)
        if sent != code:
            sys.exit(f"plant: {statement!r} is answered with {sent}, not with {code}")
    session.close()


def main():
    driver, file, address, mode, *pairs = sys.argv[1:]
    url = urlsplit(address)
    plan = plan_of(file, url.scheme)
    login = {
        "host": url.hostname,
        "port": url.port,
        "user": url.username,
        "password": os.environ["DRIVER_PASSWORD"],
        "database": url.path[1:],
    }
    is_encrypted = parse_qs(url.query)["tls"] == ["yes"]
    for kind, count in zip(pairs[::2], pairs[1::2]):
        session = DRIVERS[driver](login, is_encrypted, mode == "binary")
        plant(session, *plan[kind], int(count))


if __name__ == "__main__":
    main()
