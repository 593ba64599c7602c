//! The text of `dbtime pgbench --help`.

/// The text.
pub const HELP: &str = "\
Usage:
  dbtime pgbench [OPTION]... [DBNAME]

Runs scripts written for pgbench, its built-in ones among them.

Making tables:
  -i, --initialize             make pgbench's tables and end
  -I, --init-steps=[dtgGvpf]+  only these steps, in this order (default: dtgvp)
  -F, --fillfactor=NUM         share of a page that is filled, in percent
  -n, --no-vacuum              leave out the vacuum
  -q, --quiet                  tell progress every 5 seconds only
  -s, --scale=NUM              how many branches, each with 100000 accounts (default: 1)
      --foreign-keys           with foreign keys between the tables
      --index-tablespace=NAME  where indexes go
      --partition-method=(range|hash)
                               how the accounts are cut up (default: range)
      --partitions=NUM         into how many parts (default: 0, not at all)
      --tablespace=NAME        where tables go
      --unlogged-tables        leave tables out of the write-ahead log

What is run:
  -b, --builtin=NAME[@W]       a built-in script, with a weight; 'list' shows them
  -f, --file=FILENAME[@W]      a script of a file, with a weight
  -N, --skip-some-updates      as -b simple-update
  -S, --select-only            as -b select-only

How it is run:
  -c, --client=NUM             clients (default: 1)
  -C, --connect                a connection for each transaction
  -D, --define=NAME=VALUE      a variable for scripts
  -j, --jobs=NUM               threads (default: 1)
  -l, --log                    log every transaction
  -L, --latency-limit=NUM      count what takes more than NUM ms; with -R do not begin it any more
  -M, --protocol=simple|extended|prepared
                               how statements are sent (default: simple)
  -n, --no-vacuum              do not vacuum before
  -P, --progress=NUM           a line of progress every NUM seconds
  -r, --report-per-command     latencies, failures and retries of every command
  -R, --rate=NUM               transactions per second, at random instants
  -s, --scale=NUM              the scaling factor, where the tables do not say
  -t, --transactions=NUM       transactions of each client (default: 10)
  -T, --time=NUM               seconds, in place of a number of transactions
  -v, --vacuum-all             vacuum all four tables before
      --aggregate-interval=NUM log a line for every NUM seconds
      --failures-detailed      tell failures by their kinds
      --log-prefix=PREFIX      what the log files' names begin with (default: pgbench_log)
      --max-tries=NUM          tries of a transaction; 0: as many as it takes (default: 1)
      --progress-timestamp     progress tells the time of day
      --random-seed=SEED       time, rand or a number
      --sampling-rate=NUM      log a share of all transactions, such as 0.01
      --show-script=NAME       show a built-in script and end
      --verbose-errors         tell every error

Common:
  -d, --debug                  say more about what is done
  -h, --host=HOSTNAME          the server, or the folder of its socket
  -p, --port=PORT              its port
  -U, --username=USERNAME      user
      --dbname=DBNAME          the database, as DBNAME
  -V, --version                show the version
  -?, --help                   show this text

What pgbench does not have:
      --target=TARGET          the database as a URL or a bare word
      --allow-shell            let scripts run commands: \\shell and \\setshell
      --classic                measure and report as pgbench does, and no more
      --out=DIR                the folder for the run's record
      --json                   print the run as one JSON document and nothing else
      --shards=NUM             threads of the load engine
";
