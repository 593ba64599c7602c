//! Every flag of `dbtime run`, in the order of its help.
//!
//! To add one, add its row. One that describes a run has a field in the written form too, which
//! `RunSpec::set` fills.

use super::FlagShape::{File, Many, One, Positional, Switch};
use super::peers::PeerWords;
use super::{RunFlag, of_command, of_process, of_run, of_runs, parse_ceiling};
use crate::cli::DETAILS;
use dbtime_model::spec::whole;

const WORKLOAD: &str = "Workload";
const TARGET: &str = "Target";
const LOAD: &str = "Load";
const PRIVATE: &str = "Private server";
const MANY: &str = "Many runs";
const REQUIRED: &str = "Requirements";
const MEASURING: &str = "Measuring";
const OUTPUT: &str = "Output";

pub(super) const RUN_FLAGS: &[RunFlag] = &[
    of_run(
        "workload",
        WORKLOAD,
        Positional,
        "A shipped workload (see `dbtime workloads`) or the path of a workload file",
    ),
    of_run("query", WORKLOAD, One("SQL"), "Run one statement instead of a workload")
        .against(&["workload"]),
    of_run(
        "script",
        WORKLOAD,
        File("FILE"),
        "Run a script instead of a workload: FILE.sql of pgbench, FILE.lua of sysbench",
    )
    .against(&["workload", "query"])
    .called(PeerWords { taken: &[], refused: &["-f"], example: "--script FILE" }),
    of_command(
        "spec",
        WORKLOAD,
        File("FILE"),
        "Run the spec in FILE: the output of --print-spec, or the record of a run; - is standard \
         input. Passwords: --password-file, DBTIME_PASSWORD",
    )
    .for_whole_run()
    .against(&["sweep"]),
    of_command(
        "print-spec",
        WORKLOAD,
        Switch,
        "Print the spec of the run, a JSON document without passwords, and run nothing; with \
         --sweep one line for each run",
    )
    .against(&["out", "json", "events", "strict", "details", "histogram"]),
    of_run(
        "script-set",
        WORKLOAD,
        Many("NAME[=VALUE]"),
        "Variable of a pgbench script (its -D) or option of a sysbench script; NAME alone takes \
         the value of dbtime's own variable. Repeatable",
    ),
    of_run(
        "target",
        TARGET,
        One("URL"),
        "Database to drive: sqlite (temporary) or sqlite:PATH?setting=value&...; a private server \
         for this run: mariadb, mysql, postgres (mariadb:/PREFIX for the installation there); a \
         running server: mysql://USER@HOST/DATABASE, mariadb://..., postgres://... (passwords: \
         ~/.my.cnf, MYSQL_PWD, ~/.pgpass, PGPASSWORD); or null:?service=1ms, which does nothing",
    )
    .usually("sqlite")
    .offering(&["sqlite", "mariadb", "mysql", "postgres", "null"])
    .called(PeerWords {
        taken: &[],
        refused: &[
            "--host",
            "--port",
            "--user",
            "--db",
            "--database",
            "--dbname",
            "--dsn",
            "--url",
            "--db-driver",
            "--mysql-host",
            "--mysql-port",
            "--mysql-socket",
            "--mysql-user",
            "--mysql-password",
            "--mysql-db",
            "--pgsql-host",
            "--pgsql-port",
            "--pgsql-user",
            "--pgsql-password",
            "--pgsql-db",
            "-U",
        ],
        example: "--target mysql://USER@HOST:PORT/DB",
    }),
    of_command(
        "password-file",
        TARGET,
        File("FILE"),
        "File whose first line is the target's password, if the URL has none [default: \
         DBTIME_PASSWORD, then the sources that the server's own clients use]",
    ),
    of_run(
        "connections",
        LOAD,
        One("N"),
        "Clients of a closed loop, connections of an open loop [default: as --workers; otherwise \
         1, in an open loop 8; with an embedded database at most the number of CPUs, because its \
         transactions run on dbtime's own threads and wait for each other]",
    )
    .called(PeerWords {
        taken: &["clients", "client", "users", "vus"],
        refused: &["--threads", "--concurrency", "-c"],
        example: "--connections 8 for clients with a connection each (driver threads are \
                  --shards)",
    }),
    of_run(
        "workers",
        LOAD,
        One("W"),
        "Execute at most W transactions at once; further clients queue",
    ),
    of_run(
        "rate",
        LOAD,
        One("RATE"),
        "Rate of an open loop: 500/s, 0s:100/s,30s:500/s, ramp:100/s..2000/s, auto or auto:50% \
         (share of the measured flat-out rate) [default: a closed loop; without a workload \
         auto:50%, unless --think is given]",
    )
    .offering(&["auto"])
    .called(PeerWords {
        taken: &[],
        refused: &["--qps", "--tps", "--rps", "-R", "-q"],
        example: "--rate 500/s",
    }),
    of_run(
        "arrivals",
        LOAD,
        One("PROCESS"),
        "Arrival process around the rate: steady, poisson, uniform, burst:20, at-once",
    )
    .usually("steady")
    .offering(&["steady", "poisson", "uniform", "at-once"]),
    of_run(
        "jitter",
        LOAD,
        One("TIME"),
        "Width of the jitter around each due instant of steady arrivals [default: a tenth of the \
         period]",
    ),
    of_run(
        "think",
        LOAD,
        One("TIME"),
        "Think time of a closed loop, between two transactions of a client: 10ms, exp:10ms, \
         uniform:5ms..15ms. Replaces the workload's own",
    ),
    of_run(
        "time",
        LOAD,
        One("TIME"),
        "Length of the measured window [default: 20s, or until --transactions have ended]",
    )
    .called(PeerWords {
        taken: &["duration"],
        refused: &["-T", "-d", "-z", "--length", "--max-time", "--seconds"],
        example: "--time 30s",
    }),
    of_run("transactions", LOAD, One("N"), "End after N transactions").called(PeerWords {
        taken: &[],
        refused: &["--iterations", "--requests", "--max-requests", "--count", "-n", "-t"],
        example: "--transactions 1000 for all clients together",
    }),
    of_run(
        "warmup",
        LOAD,
        One("TIME"),
        "Length of the load before the measured window [default: 3s; none with --transactions]",
    ),
    of_run(
        "shards",
        LOAD,
        One("N"),
        "Driver threads for the connections to a server or to null [default: one for each CPU, for \
         up to 8 clients in a closed loop; otherwise 1]",
    )
    .called(PeerWords {
        taken: &[],
        refused: &["--jobs", "-j"],
        example: "--shards 2 for driver threads (clients are --connections)",
    }),
    of_run(
        "scale",
        WORKLOAD,
        One("N"),
        "Size of the data: N times the workload's base size [default: as loaded; 1 for data that \
         the run loads]",
    )
    .called(PeerWords { taken: &[], refused: &["-s"], example: "--scale 10" }),
    of_run(
        "protocol",
        TARGET,
        One("PROTOCOL"),
        "Statement protocol on a server: prepared (once a connection) or text [default: prepared]",
    )
    .offering(&["prepared", "text"])
    .called(PeerWords {
        taken: &[],
        refused: &["-M"],
        example: "--protocol prepared or --protocol text",
    }),
    of_run(
        "pipeline",
        TARGET,
        Switch,
        "Send a transaction's statements without waiting for earlier answers, except where the \
         failure of an earlier statement could make a later one harmful",
    ),
    of_run(
        "reconnect",
        TARGET,
        One("WHEN"),
        "When to open a new connection to a server: lost, every-transaction [default: lost]",
    )
    .offering(&["lost", "every-transaction"])
    .called(PeerWords { taken: &[], refused: &["-C"], example: "--reconnect every-transaction" }),
    of_run(
        "statement-timeout",
        TARGET,
        One("TIME"),
        "Cancel statements after this time, in the server. If no answer comes within another \
         second, close the connection",
    )
    .called(PeerWords { taken: &[], refused: &["--timeout"], example: "--statement-timeout 5s" }),
    of_run(
        "network-delay",
        TARGET,
        One("TIME"),
        "Simulate a network with this round-trip time, by delaying each request before it is sent",
    ),
    of_run(
        "network-rate",
        TARGET,
        One("BITS"),
        "Simulate a network link with this bandwidth in each direction: 1Gbit/s",
    ),
    of_run("server-set", PRIVATE, Many("NAME=VALUE"), "Setting of the private server. Repeatable"),
    of_run(
        "server-env",
        PRIVATE,
        Many("NAME[=VALUE]"),
        "Environment variable of the private server, such as LD_PRELOAD; NAME alone passes on \
         dbtime's own value. Repeatable",
    ),
    of_run("server-cpus", PRIVATE, One("CPUS"), "CPUs of the private server: 0, 0-3, 0,2"),
    of_run("client-cpus", LOAD, One("CPUS"), "CPUs of the driver"),
    of_run(
        "server-data",
        PRIVATE,
        File("DIR"),
        "Folder in which to create the private server's data folder, such as one in memory",
    ),
    of_run(
        "on-backlog",
        LOAD,
        One("POLICY"),
        "What to do with a transaction that is due when no connection is free: wait, drop, \
         deadline:50ms",
    )
    .usually("wait")
    .offering(&["wait", "drop"]),
    of_run(
        "limit",
        REQUIRED,
        Many("LIMIT"),
        "Limit for every operation, besides the workload's own limits: 'p90<=5ms', 'avg<=2ms', \
         'errors<=0.1%', 'throughput>=500/s'. Repeatable",
    ),
    of_runs(
        "sweep",
        MANY,
        Many("FACTORS"),
        "Repeat the run over values of other flags: workers=40,10,4. Factors separated by spaces \
         cross, groups separated by `;` follow each other. Repeatable",
    ),
    of_runs(
        "find-rate",
        MANY,
        One("LIMIT"),
        "Find the highest rate that meets a limit, such as 'p99<=10ms', and confirm it with runs \
         below and above it; give up after 100 runs, or where this machine is too busy to judge",
    )
    .against(&["rate", "sweep", "repeat", "think", "events", "print-spec"])
    .read_by(|arg| arg.value_parser(parse_ceiling)),
    of_runs(
        "repeat",
        MANY,
        One("N"),
        "Make each run N times, in rounds; one table shows all of them",
    )
    .read_by(|arg| arg.value_parser(whole::<u32>(1..=1000, 10))),
    of_run(
        "budget-every",
        MEASURING,
        One("N"),
        "Measure the parts of the time budget on one transaction in N [default: all; with probes, \
         an N that costs about 1 %]",
    ),
    of_run("no-budget", MEASURING, Switch, "Measure no time budget").against(&["budget-every"]),
    of_run(
        "trace",
        MEASURING,
        Switch,
        "Trace the server, which must run on this machine, and split each statement's time by the \
         server's activity [needs root, or CAP_BPF and CAP_PERFMON]",
    )
    .against(&["no-budget", "budget-every"]),
    of_run(
        "stacks",
        MEASURING,
        Switch,
        "With --trace: record the stacks of the server's threads, off and on the CPU, as flame \
         graphs by operation [only off-CPU stacks if the kernel has no event to sample by]",
    )
    .needing("trace"),
    of_run(
        "statements",
        MEASURING,
        Switch,
        "Record the driver's side of each statement, for a later join with a trace from another \
         host (dbtime join); needs a server and a record",
    )
    .against(&["no-budget", "budget-every", "no-record", "trace"]),
    of_command(
        "strict",
        REQUIRED,
        Switch,
        "Exit with 4 if the measurement is invalid (client-limited, unexplained time), or if a \
         trace was requested and is incomplete",
    ),
    of_run(
        "seed",
        WORKLOAD,
        One("N"),
        "Seed of all random choices: the same seed gives the same statements",
    )
    .usually("1"),
    of_run(
        "data-seed",
        WORKLOAD,
        One("N"),
        "Seed of the rows that the run loads [default: as --seed]",
    ),
    of_command(
        "snapshots",
        WORKLOAD,
        File("DIR"),
        "Restore the data of a private server or a temporary SQLite database from a snapshot in \
         this folder; if there is none, load the data and save a snapshot there",
    ),
    of_command(
        "out",
        OUTPUT,
        File("DIR"),
        "New folder for the record [default: dbtime-runs/TIME-WORKLOAD]",
    ),
    of_command("no-record", OUTPUT, Switch, "Write no record").against(&["out"]),
    of_command(
        "markdown",
        OUTPUT,
        File("FILE"),
        "Also write the report as Markdown, for a comment or the summary of a CI job; with \
         --details the whole report",
    )
    .against(&["print-spec", "events", "sweep", "find-rate", "repeat"]),
    of_command(
        "junit",
        OUTPUT,
        File("FILE"),
        "Write the results of the limits as JUnit XML: missed is a failure, undecided is skipped",
    )
    .against(&["print-spec", "events", "sweep", "find-rate", "repeat"]),
    of_command(
        "json",
        OUTPUT,
        Switch,
        "Print the record as one JSON document and nothing else; with --sweep one line for each \
         run",
    )
    .called(PeerWords {
        taken: &[],
        refused: &["--format", "--output-format", "--export-json"],
        example: "--json for one JSON document (without it dbtime prints text)",
    }),
    of_process(
        "events",
        OUTPUT,
        Switch,
        "Print events as JSON lines and nothing else: phases, seconds and finally the record",
    )
    .against(&["json", "details", "histogram", "server-threads", "sweep", "repeat"]),
    of_process("flat-out-rate", OUTPUT, Switch, "Only measure the flat-out rate of a sweep")
        .needing("events")
        .read_by(|arg| arg.hide(true)),
    of_process(
        "slices-from-stdin",
        OUTPUT,
        Switch,
        "Hold the target, and make the slices that standard input asks for",
    )
    .needing("events")
    .against(&["flat-out-rate", "out"])
    .read_by(|arg| arg.hide(true)),
    of_process(
        "parent",
        OUTPUT,
        Switch,
        "A process of dbtime has started this one; the run ends with it",
    )
    .needing("events")
    .read_by(|arg| arg.hide(true)),
    of_command("details", OUTPUT, Switch, DETAILS),
    of_command("histogram", OUTPUT, Switch, "Add the response histogram to the report"),
    of_command(
        "server-threads",
        OUTPUT,
        Switch,
        "Add the server's CPU time by thread name to the report",
    ),
    of_command("quiet", OUTPUT, Switch, "Show no progress"),
];
