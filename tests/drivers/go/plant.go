// Has drivers written in Go be sent errors: see README.md in the folder above.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/lib/pq"
)

var background = context.Background()

// A line of the plan.
type planned struct {
	code, before, statement string
}

// A connection by one of the drivers.
type session interface {
	// Executes a statement as text.
	setUp(statement string) error
	// Executes a statement, and takes all of its rows.
	execute(statement string) error
	close()
}

func main() {
	if len(os.Args) < 7 || len(os.Args)%2 == 0 {
		fail("usage: plant DRIVER PLAN URL MODE KIND COUNT [KIND COUNT …]")
	}
	driver, mode := os.Args[1], os.Args[4]
	address, err := url.Parse(os.Args[3])
	check(err)
	plan := planOf(os.Args[2], address.Scheme)
	for at := 5; at < len(os.Args); at += 2 {
		line, found := plan[os.Args[at]]
		if !found {
			fail("there is no kind " + os.Args[at])
		}
		count, err := strconv.Atoi(os.Args[at+1])
		check(err)
		plant(connect(driver, address, mode == "binary"), line, count)
	}
}

func planOf(file, product string) map[string]planned {
	text, err := os.ReadFile(file)
	check(err)
	plan := map[string]planned{}
	for _, line := range strings.Split(string(text), "\n") {
		columns := strings.Split(line, "\t")
		if strings.HasPrefix(line, "#") || len(columns) != 5 {
			continue
		}
		for _, one := range strings.Split(columns[1], ",") {
			if one == product {
				plan[columns[0]] = planned{columns[2], columns[3], columns[4]}
			}
		}
	}
	return plan
}

func plant(to session, line planned, count int) {
	defer to.close()
	if line.before != "-" {
		check(to.setUp(line.before))
	}
	for ; count > 0; count-- {
		if code := codeOf(to.execute(line.statement)); code != line.code {
			fail(fmt.Sprintf("%q is answered with %s, not with %s", line.statement, code, line.code))
		}
	}
}

// What the server calls an error.
func codeOf(err error) string {
	var byPgx *pgconn.PgError
	var byPq *pq.Error
	var byMysql *mysql.MySQLError
	switch {
	case errors.As(err, &byPgx):
		return byPgx.Code
	case errors.As(err, &byPq):
		return string(byPq.Code)
	case errors.As(err, &byMysql):
		return strconv.Itoa(int(byMysql.Number))
	}
	return fmt.Sprint(err)
}

func connect(driver string, address *url.URL, isBinary bool) session {
	isEncrypted := address.Query().Get("tls") == "yes"
	switch driver {
	case "pgx":
		return connectPgx(address, isEncrypted, isBinary)
	case "pq":
		db, err := sql.Open("postgres", postgresURL(address, isEncrypted))
		check(err)
		return connectSQL(db, isBinary)
	case "go-sql-driver":
		return connectSQL(openMysql(address, isEncrypted), isBinary)
	}
	fail("there is no driver " + driver)
	return nil
}

// As libpq takes it.
func postgresURL(address *url.URL, isEncrypted bool) string {
	to := url.URL{Scheme: "postgres", Host: address.Host, Path: address.Path}
	to.User = url.UserPassword(address.User.Username(), os.Getenv("DRIVER_PASSWORD"))
	to.RawQuery = "sslmode=disable"
	if isEncrypted {
		to.RawQuery = "sslmode=require"
	}
	return to.String()
}

func openMysql(address *url.URL, isEncrypted bool) *sql.DB {
	config := mysql.NewConfig()
	config.Net, config.Addr = "tcp", address.Host
	config.User, config.Passwd = address.User.Username(), os.Getenv("DRIVER_PASSWORD")
	config.DBName = strings.TrimPrefix(address.Path, "/")
	if isEncrypted {
		config.TLSConfig = "skip-verify"
	}
	connector, err := mysql.NewConnector(config)
	check(err)
	return sql.OpenDB(connector)
}

type pgxSession struct {
	connection *pgx.Conn
}

func connectPgx(address *url.URL, isEncrypted, isBinary bool) session {
	config, err := pgx.ParseConfig(postgresURL(address, isEncrypted))
	check(err)
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	if isBinary {
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	}
	connection, err := pgx.ConnectConfig(background, config)
	check(err)
	return pgxSession{connection}
}

func (of pgxSession) setUp(statement string) error {
	return of.execute(statement)
}

func (of pgxSession) execute(statement string) error {
	rows, err := of.connection.Query(background, statement)
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	rows.Close()
	return rows.Err()
}

func (of pgxSession) close() {
	check(of.connection.Close(background))
}

// A connection of database/sql.
type sqlSession struct {
	db         *sql.DB
	connection *sql.Conn
	isBinary   bool
}

func connectSQL(db *sql.DB, isBinary bool) session {
	connection, err := db.Conn(background)
	check(err)
	return sqlSession{db, connection, isBinary}
}

func (of sqlSession) setUp(statement string) error {
	_, err := of.connection.ExecContext(background, statement)
	return err
}

func (of sqlSession) execute(statement string) error {
	if !of.isBinary {
		return taken(of.connection.QueryContext(background, statement))
	}
	prepared, err := of.connection.PrepareContext(background, statement)
	if err != nil {
		return err
	}
	defer prepared.Close()
	return taken(prepared.QueryContext(background))
}

// Takes all rows.
func taken(rows *sql.Rows, err error) error {
	if err != nil {
		return err
	}
	for rows.Next() {
	}
	rows.Close()
	return rows.Err()
}

func (of sqlSession) close() {
	check(of.connection.Close())
	check(of.db.Close())
}

func check(err error) {
	if err != nil {
		fail(err.Error())
	}
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, "plant:", text)
	os.Exit(1)
}
