//! The text of `dbtime pgbench --help`.

/// The text.
pub const HELP: &str = "\
Usage:
  dbtime pgbench [OPTION]... [DBNAME]

Runs pgbench scripts, built-in ones included.

Making tables:
  -i, --initialize             make pgbench's tables and end
  -I, --init-steps=[dtgGvpf]+  only these steps, in this order (default: dtgvp)
  -F, --fillfactor=NUM         fill factor of pages, in percent
  -n, --no-vacuum              leave out the vacuum
  -q, --quiet                  report progress only every 5 seconds
  -s, --scale=NUM              number of branches, each with 100000 accounts (default: 1)
      --foreign-keys           with foreign keys between the tables
      --index-tablespace=NAME  tablespace of indexes
      --partition-method=(range|hash)
                               partitioning of accounts (default: range)
      --partitions=NUM         number of partitions (default: 0, none)
      --tablespace=NAME        tablespace of tables
      --unlogged-tables        leave tables out of the write-ahead log

Scripts:
  -b, --builtin=NAME[@W]       a built-in script, with a weight; 'list' shows them
  -f, --file=FILENAME[@W]      a script of a file, with a weight
  -N, --skip-some-updates      as -b simple-update
  -S, --select-only            as -b select-only

Load:
  -c, --client=NUM             clients (default: 1)
  -C, --connect                a connection for each transaction
  -D, --define=NAME=VALUE      a variable for scripts
  -j, --jobs=NUM               threads (default: 1)
  -l, --log                    log every transaction
  -L, --latency-limit=NUM      count transactions above NUM ms; with -R skip late ones
  -M, --protocol=simple|extended|prepared
                               query protocol (default: simple)
  -n, --no-vacuum              do not vacuum before
  -P, --progress=NUM           a line of progress every NUM seconds
  -r, --report-per-command     latencies, failures and retries of every command
  -R, --rate=NUM               transactions per second, at random instants
  -s, --scale=NUM              scaling factor, if the tables do not show it
  -t, --transactions=NUM       transactions of each client (default: 10)
  -T, --time=NUM               seconds, in place of a number of transactions
  -v, --vacuum-all             vacuum all four tables before
      --aggregate-interval=NUM log a line for every NUM seconds
      --failures-detailed      report failures by kind
      --log-prefix=PREFIX      prefix of log files (default: pgbench_log)
      --max-tries=NUM          tries of a transaction; 0: unlimited (default: 1)
      --progress-timestamp     show the time of day in progress
      --random-seed=SEED       time, rand or a number
      --sampling-rate=NUM      log a share of all transactions, such as 0.01
      --show-script=NAME       show a built-in script and end
      --verbose-errors         print every error

Common:
  -d, --debug                  more messages
  -h, --host=HOSTNAME          the server, or the folder of its socket
  -p, --port=PORT              its port
  -U, --username=USERNAME      user
      --dbname=DBNAME          the database, as DBNAME
  -V, --version                show the version
  -?, --help                   show this text

What pgbench does not have:
      --target=TARGET          the database as a URL or a bare word
      --allow-shell            let scripts run commands: \\shell and \\setshell
      --classic                only pgbench's measurements and report
      --out=DIR                the folder for the run's record
      --json                   print the run as one JSON document and nothing else
      --shards=NUM             threads of the load engine
";
