//! What a manual page has and the grammar does not: variables of the environment, files, other
//! pages. A rule of the workspace holds the variables against those that the code reads.

/// A term of a manual page with its meaning.
pub(super) struct ManualEntry {
    /// The names that share a meaning.
    pub(super) names: &'static str,
    /// What they mean, in whole sentences.
    pub(super) meaning: &'static str,
    /// The commands whose pages have it; empty: all.
    commands: &'static [&'static str],
}

impl ManualEntry {
    /// Whether it stands on the page of a command (`study-ab`); the page of dbtime itself, whose
    /// name is empty here, has all.
    pub(super) fn is_of(&self, command: &str) -> bool {
        let above = command.split('-').next().unwrap_or(command);
        command.is_empty() || self.commands.is_empty() || self.commands.contains(&above)
    }
}

/// Commands that connect to a database.
const CONNECTING: &[&str] =
    &["run", "init", "pgbench", "sysbench", "study", "query", "counters", "doctor", "trace", "top"];

/// Commands that start private servers, and programs of scripts.
const STARTING: &[&str] = &["run", "pgbench", "sysbench", "study", "query"];

/// Commands that run scripts written for sysbench.
const SCRIPTED: &[&str] = &["run", "study", "sysbench"];

/// Every variable of the environment that dbtime reads, or sets for a program that it starts.
pub(super) const ENVIRONMENT: &[ManualEntry] = &[
    ManualEntry {
        names: "DBTIME_PASSWORD",
        meaning: "The password of a target without one. --password-file takes precedence.",
        commands: &["run", "study"],
    },
    ManualEntry {
        names: "DBTIME_QUERY",
        meaning: "The statement of --query with its passwords, to repeat a run whose record has \
                  *** in their place.",
        commands: &["run", "study"],
    },
    ManualEntry {
        names: "DBTIME_NEW_DATA",
        meaning: "A folder that caches the empty data folder of each kind of private server, so \
                  that later servers start sooner.",
        commands: STARTING,
    },
    ManualEntry {
        names: "DBTIME_SEED, DBTIME_RUN",
        meaning: "Set for the programs that a study runs: the seed of the block, and the folder \
                  of the run.",
        commands: &["study"],
    },
    ManualEntry {
        names: "DBTIME_PROGRAM_OF",
        meaning: "Set for the programs that scripts start: the process of dbtime.",
        commands: STARTING,
    },
    ManualEntry {
        names: "MYSQL_HOST, MYSQL_TCP_PORT, MYSQL_UNIX_PORT, MYSQL_PWD",
        meaning: "Host, port, socket and password of a MySQL or MariaDB target that lacks them.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "PGHOST, PGPORT, PGDATABASE, PGUSER, PGPASSWORD, PGPASSFILE, PGSERVICE, \
                PGSERVICEFILE, PGSYSCONFDIR",
        meaning: "Address and user of a connection, as for libpq, if a PostgreSQL target does not \
                  name them.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "PGSSLMODE, PGSSLROOTCERT, PGSSLCERT, PGSSLKEY, PGCHANNELBINDING, PGREQUIREAUTH, \
                PGCONNECT_TIMEOUT",
        meaning: "How to connect, as for libpq.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "PGAPPNAME, PGOPTIONS, PGCLIENTENCODING, PGDATESTYLE, PGTZ, PGGEQO",
        meaning: "How sessions begin, as for libpq.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "PGGSSENCMODE, PGHOSTADDR, PGLOADBALANCEHOSTS, PGMINPROTOCOLVERSION, \
                PGREQUIREPEER, PGSSLCERTMODE, PGSSLCOMPRESSION, PGSSLCRL, PGSSLCRLDIR, \
                PGSSLMAXPROTOCOLVERSION, PGSSLMINPROTOCOLVERSION, PGSSLNEGOTIATION, PGSSLSNI, \
                PGTARGETSESSIONATTRS",
        meaning: "Refused by name if they request a feature that dbtime does not support.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "PGBENCH_RANDOM_SEED",
        meaning: "The seed, if --random-seed is not given.",
        commands: &["pgbench"],
    },
    ManualEntry {
        names: "LUA_PATH, LUA_CPATH",
        meaning: "Module search path of scripts written for sysbench; ;; stands for the default \
                  path.",
        commands: SCRIPTED,
    },
    ManualEntry {
        names: "PATH, LD_LIBRARY_PATH, TZ",
        meaning: "Where programs of private servers are looked for, and what these servers \
                  inherit.",
        commands: STARTING,
    },
    ManualEntry {
        names: "TZ",
        meaning: "Zone of the clock of logs whose times name none, where --since and --until are \
                  instants or count back from now.",
        commands: &["log"],
    },
    ManualEntry {
        names: "TMPDIR",
        meaning: "Folder of temporary databases, servers and archives; default /tmp.",
        commands: &[],
    },
    ManualEntry {
        names: "HOME, USER",
        meaning: "Folder of the files named below, and the user of a target that names none.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "NO_COLOR",
        meaning: "Any value turns off colour in reports.",
        commands: &[],
    },
    ManualEntry {
        names: "COLUMNS",
        meaning: "Width of reports, overriding the terminal's.",
        commands: &[],
    },
    ManualEntry {
        names: "LC_ALL, LC_CTYPE, LANG",
        meaning: "Reports are plain ASCII where the first of these that is set names a locale \
                  without UTF-8.",
        commands: &[],
    },
];

/// Files that dbtime reads or writes without being given their names.
pub(super) const FILES: &[ManualEntry] = &[
    ManualEntry {
        names: "dbtime-runs/",
        meaning: "Records of runs, sweeps and studies, in the working directory, unless --out \
                  names another folder.",
        commands: &["run", "study", "runs", "report", "explain", "pgbench", "sysbench"],
    },
    ManualEntry {
        names: "~/.my.cnf",
        meaning: "Options of MySQL and MariaDB clients: the groups client, client-mariadb, \
                  client-server and dbtime.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "~/.pgpass",
        meaning: "Passwords of PostgreSQL clients; PGPASSFILE names another file.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "~/.pg_service.conf, /etc/postgresql-common/pg_service.conf",
        meaning: "Connection services of PostgreSQL clients.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "~/.luarocks/",
        meaning: "Modules of scripts written for sysbench.",
        commands: SCRIPTED,
    },
    ManualEntry {
        names: "/etc/ssl/certs/ca-certificates.crt",
        meaning: "Trusted certificate authorities, if a target names none.",
        commands: CONNECTING,
    },
    ManualEntry {
        names: "/usr/share/doc/dbtime/docs/",
        meaning: "The documents, as the Debian package installs them.",
        commands: &[],
    },
];

/// Commands that are used together: each page refers to the others of its groups.
pub(super) const TOGETHER: &[&[&str]] = &[
    &["run", "init", "workloads", "report", "explain", "runs"],
    &["run", "study", "compare", "report"],
    &["run", "trace", "join"],
    &["run", "init", "pgbench", "sysbench"],
    &["trace", "top", "ps", "usage", "counters"],
    &["log", "compare", "trace"],
    &["query", "log", "run", "counters"],
    &["run", "study", "doctor"],
];

/// Pages of other programs, beside the command that refers to them.
pub(super) const OUTSIDE: &[(&str, &str)] = &[
    ("pgbench", "pgbench(1)"),
    ("ps", "ps(1)"),
    ("sysbench", "sysbench(1)"),
    ("usage", "time(1)"),
    ("top", "top(1)"),
    ("trace", "capabilities(7)"),
];
