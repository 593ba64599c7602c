module plant

go 1.20

require (
	github.com/go-sql-driver/mysql v1.8.1
	github.com/jackc/pgx/v5 v5.6.0
	github.com/lib/pq v1.10.9
)
