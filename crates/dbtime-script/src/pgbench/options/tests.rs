//! Command lines as people write them, and pgbench's own words for wrong ones.

use super::*;
use crate::pgbench::builtin::BuiltinScript;

fn command(line: &str) -> Result<PgbenchCommand, UsageError> {
    read(line.split_whitespace())
}

fn benchmark(line: &str) -> BenchmarkOptions {
    match command(line) {
        Ok(PgbenchCommand::Benchmark(benchmark)) => *benchmark,
        other => panic!("{line}: {other:?}"),
    }
}

fn initialize(line: &str) -> InitOptions {
    match command(line) {
        Ok(PgbenchCommand::Initialize(initialize)) => *initialize,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn defaults_are_those_of_pgbench() {
    let run = benchmark("");
    assert_eq!((run.clients, run.jobs, run.length), (1, 1, RunLength::Transactions(10)));
    assert_eq!(
        (run.protocol, run.vacuum, run.max_tries),
        (QueryMode::Simple, VacuumChoice::Some, 1)
    );
    assert_eq!((run.rate, run.log, run.seed), (None, None, None));
    let source = ScriptSource::Builtin(BuiltinScript::TPCB_LIKE);
    assert_eq!(run.scripts, [ScriptChoice { source, weight: 1 }]);
    let tables = initialize("-i");
    assert_eq!(tables.steps, "dtgvp");
    assert_eq!((tables.scale, tables.fillfactor, tables.partitions), (1, None, None));
}

#[test]
fn a_whole_command_line_is_read() {
    let line = "-c 8 -j2 -T 60 -M prepared -P 5 -R 100.5 -L 20 -r -n -C -D a=1 -Db=x=y --max-tries=3 \
                --failures-detailed --verbose-errors -l --log-prefix=p --sampling-rate=0.1 \
                --random-seed=7 --progress-timestamp -s 5 -h here -p 5433 -U me bench -d";
    let run = benchmark(line);
    assert_eq!((run.clients, run.jobs, run.length), (8, 2, RunLength::Seconds(60)));
    assert_eq!((run.protocol, run.progress), (QueryMode::Prepared, Some(5)));
    assert_eq!((run.rate, run.latency_limit_ms, run.max_tries), (Some(100.5), Some(20.0), 3));
    assert!(run.is_reported_per_command && run.is_reconnecting && run.is_progress_timestamped);
    assert!(run.is_failure_detailed && run.is_error_verbose && run.common.debug);
    let define = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(run.defines, [define("a", "1"), define("b", "x=y")]);
    let detail = LogDetail::Sampled(0.1);
    assert_eq!(run.log, Some(LogOptions { prefix: "p".into(), detail }));
    assert_eq!(
        (run.seed, run.scale, run.vacuum),
        (Some(SeedChoice::Number(7)), Some(5), VacuumChoice::None)
    );
    let text = |text: &str| Some(text.to_owned());
    let connection = ConnectionOptions {
        host: text("here"),
        port: text("5433"),
        user: text("me"),
        dbname: text("bench"),
    };
    assert_eq!(run.common.connection, connection);
}

#[test]
fn scripts_have_weights_and_prefixes() {
    let run = benchmark("-f a@b.sql@3 -b se@2 -S -N -f c.sql");
    let file = |path: &str| ScriptSource::File(path.into());
    let expected = [
        (file("a@b.sql"), 3),
        (ScriptSource::Builtin(BuiltinScript::SELECT_ONLY), 2),
        (ScriptSource::Builtin(BuiltinScript::SELECT_ONLY), 1),
        (ScriptSource::Builtin(BuiltinScript::SIMPLE_UPDATE), 1),
        (file("c.sql"), 1),
    ];
    let expected = expected.map(|(source, weight)| ScriptChoice { source, weight });
    assert_eq!(run.scripts, expected);
    assert_eq!(run.scripts[1].source.name(), "<builtin: select only>");
}

#[test]
fn switches_run_together_and_names_are_cut_short() {
    let run = benchmark("-nSt5 -c4 --jo 3 --trans=7 --prot extended");
    assert_eq!((run.clients, run.jobs, run.length), (4, 3, RunLength::Transactions(7)));
    assert_eq!((run.protocol, run.vacuum), (QueryMode::Extended, VacuumChoice::None));
    let arguments = ["-c", "1", "db", "--", "-x"].map(str::to_owned);
    let mut line = switches::CommandLine::new(arguments.into_iter());
    while let Ok(Some(_)) = line.next() {}
    assert_eq!(line.operands, ["db", "-x"]);
}

#[test]
fn a_seed_is_any_number_of_64_bits() {
    let seed = |line| benchmark(line).seed;
    assert_eq!(seed("--random-seed=rand"), Some(SeedChoice::Rand));
    assert_eq!(seed("--rand=time"), Some(SeedChoice::Time));
    assert_eq!(seed("--random-seed=18446744073709551615"), Some(SeedChoice::Number(u64::MAX)));
    assert_eq!(seed("--random-seed=-3"), Some(SeedChoice::Number(u64::MAX - 2)));
    assert!(benchmark("-f a.sql --random-seed=1").is_seed_behind_script);
    assert!(!benchmark("--random-seed=1 -f a.sql").is_seed_behind_script);
}

#[test]
fn threads_are_never_more_than_clients() {
    assert_eq!(benchmark("-j 4 -c 2").jobs, 2);
}

#[test]
fn making_tables_is_read() {
    let line = "-i -I dtGvp -n --foreign-keys -F 90 -q -s 50 --tablespace=a --index-tablespace=b \
                --unlogged-tables --partitions=3 --partition-method=hash db";
    let tables = initialize(line);
    assert_eq!(tables.steps, "dtGpf");
    assert_eq!((tables.fillfactor, tables.scale, tables.is_quiet), (Some(90), 50, true));
    let partitions = PartitionScheme::Hash(3);
    assert_eq!((tables.partitions, tables.is_unlogged), (Some(partitions), true));
    let range = PartitionScheme::Range(2);
    assert_eq!(initialize("-i --partitions=2").partitions, Some(range));
}

#[test]
fn some_switches_end_the_reading() {
    assert_eq!(command("-i -b list"), Ok(PgbenchCommand::ListBuiltins));
    assert_eq!(
        command("--show-script=se -i"),
        Ok(PgbenchCommand::ShowScript(BuiltinScript::SELECT_ONLY))
    );
    assert_eq!(command("--help"), Ok(PgbenchCommand::Help));
    assert_eq!(command("-?"), Ok(PgbenchCommand::Help));
    assert_eq!(command("-V"), Ok(PgbenchCommand::Version));
    let expected = "
Available builtin scripts:
      tpcb-like: <builtin: TPC-B (sort of)>
  simple-update: <builtin: simple update>
    select-only: <builtin: select only>

";
    assert_eq!(list_builtins(), expected[1..]);
}

#[test]
fn what_dbtime_adds_is_read_in_both_kinds_of_work() {
    let line = "--target=postgres --allow-shell --classic --out=dir --json --shards=2";
    let own = PgbenchExtras {
        target: Some("postgres".into()),
        allow_shell: true,
        classic: true,
        out: Some("dir".into()),
        json: true,
        shards: Some(2),
    };
    assert_eq!(benchmark(line).common.own, own);
    let of_tables = initialize(&format!("-i {}", line.replace(" --json", ""))).common.own;
    assert_eq!(of_tables, PgbenchExtras { json: false, ..own });
    let error = command("-i --json").expect_err("there is nothing to print").to_string();
    assert!(error.starts_with("--json prints the record of a run"), "{error}");
    // It does not stand in the way of what is cut short.
    assert_eq!(command("--sh=se"), Ok(PgbenchCommand::ShowScript(BuiltinScript::SELECT_ONLY)));
}

/// Wrong command lines and the first line that pgbench 15 was seen to say about them.
const WRONG: &[(&str, &str)] = &[
    ("-t 5 -T 5", "specify either a number of transactions (-t) or a duration (-T), not both"),
    ("-t 0", "-t/--transactions must be in range 1..2147483647"),
    ("-t 99999999999", "-t/--transactions must be in range 1..2147483647"),
    ("-t -5", "-t/--transactions must be in range 1..2147483647"),
    ("-t x", "invalid value \"x\" for option -t/--transactions"),
    ("-T 0", "-T/--time must be in range 1..2147483647"),
    ("-c 0", "-c/--clients must be in range 1..2147483647"),
    ("-c x", "invalid value \"x\" for option -c/--clients"),
    ("-j 0", "-j/--jobs must be in range 1..2147483647"),
    ("-L 0", "invalid latency limit: \"0\""),
    ("-L x", "invalid latency limit: \"x\""),
    ("-R 0", "invalid rate limit: \"0\""),
    ("-P 0", "-P/--progress must be in range 1..2147483647"),
    ("-s 0", "-s/--scale must be in range 1..2147483647"),
    ("-s 5x -i", "invalid value \"5x\" for option -s/--scale"),
    ("-F 5 -i", "-F/--fillfactor must be in range 10..100"),
    ("-I x -i", "unrecognized initialization step \"x\""),
    ("--init-steps= -i", "no initialization steps specified"),
    ("-I dtg", "some of the specified options cannot be used in benchmarking mode"),
    ("-q", "some of the specified options cannot be used in benchmarking mode"),
    ("--foreign-keys", "some of the specified options cannot be used in benchmarking mode"),
    ("--partitions=3", "some of the specified options cannot be used in benchmarking mode"),
    ("--partitions=-1 -i", "--partitions must be in range 0..2147483647"),
    (
        "--partition-method=foo -i",
        "invalid partition method, expecting \"range\" or \"hash\", got: \"foo\"",
    ),
    ("--partition-method=hash -i", "--partition-method requires greater than zero --partitions"),
    ("-M foo", "invalid query mode (-M): \"foo\""),
    ("-b foo", "no builtin script found for name \"foo\""),
    ("-b s", "ambiguous builtin name: 2 builtin scripts found for prefix \"s\""),
    ("-b tpcb@x", "invalid weight specification: @x"),
    ("-b tpcb@-1", "weight specification out of range (0 .. 2147483647): -1"),
    ("-b a@b@x", "invalid weight specification: @x"),
    ("-b tpcb@0", "total script weight must not be zero"),
    ("-f a.sql@", "invalid weight specification: @"),
    ("-f a.sql@99999999999", "weight specification out of range (0 .. 2147483647): 99999999999"),
    ("--show-script=sel@3", "no builtin script found for name \"sel@3\""),
    ("-D ab", "invalid variable definition: \"ab\""),
    ("-D =1", "invalid variable definition: \"=1\""),
    ("-D a=", "invalid variable definition: \"a=\""),
    ("-D 1a=1", "option: invalid variable name: \"1a\""),
    ("-D a-b=1", "option: invalid variable name: \"a-b\""),
    ("--sampling-rate=0", "invalid sampling rate: \"0\""),
    ("--sampling-rate=2 -l", "invalid sampling rate: \"2\""),
    (
        "--sampling-rate=0.5",
        "log sampling (--sampling-rate) is allowed only when logging transactions (-l)",
    ),
    ("--aggregate-interval=0", "--aggregate-interval must be in range 1..2147483647"),
    (
        "--aggregate-interval=1",
        "log aggregation is allowed only when actually logging transactions",
    ),
    (
        "-l --aggregate-interval=1 --sampling-rate=0.5",
        "log sampling (--sampling-rate) and aggregation (--aggregate-interval) cannot be used at the same time",
    ),
    (
        "-l --aggregate-interval=7 -T 3",
        "number of seconds for aggregation (7) must not be higher than test duration (3)",
    ),
    (
        "-l --aggregate-interval=2 -T 3",
        "duration (3) must be a multiple of aggregation interval (2)",
    ),
    (
        "--log-prefix=x",
        "log file prefix (--log-prefix) is allowed only when logging transactions (-l)",
    ),
    ("--progress-timestamp", "--progress-timestamp is allowed only under --progress"),
    (
        "--max-tries=0",
        "an unlimited number of transaction tries can only be used with --latency-limit or a duration (-T)",
    ),
    ("--max-tries=-1", "invalid number of maximum tries: \"-1\""),
    ("--random-seed=x", "unrecognized random seed option \"x\""),
    ("-Z", "invalid option -- 'Z'"),
    ("--nope", "unrecognized option '--nope'"),
    ("-c", "option requires an argument -- 'c'"),
    ("--client", "option '--client' requires an argument"),
    ("--foreign-keys=1", "option '--foreign-keys' doesn't allow an argument"),
    (
        "--t=1",
        "option '--t=1' is ambiguous; possibilities: '--time' '--transactions' '--tablespace'",
    ),
    ("-t1 -j2S", "invalid value \"2S\" for option -j/--jobs"),
    ("db1 db2", "too many command-line arguments (first is \"db2\")"),
];

#[test]
fn wrong_command_lines_get_pgbenchs_own_words() {
    for (line, expected) in WRONG {
        let error = command(line).expect_err(line).to_string();
        assert_eq!(error.lines().next(), Some(*expected), "{line}");
    }
}

#[test]
fn a_wrong_seed_is_told_with_the_option_that_it_came_by() {
    let error = command("--random-seed=x").expect_err("no seed").report();
    let last = error.lines().last();
    let told = "pgbench: error: error while setting random seed from --random-seed option";
    assert_eq!(last, Some(told), "{error}");
}

#[test]
fn of_several_things_that_are_wrong_the_first_is_told() {
    let error = command("-t x -Z").expect_err("two mistakes").to_string();
    assert_eq!(error, "invalid value \"x\" for option -t/--transactions");
    assert_eq!(command("-V -Z"), Ok(PgbenchCommand::Version));
}

#[test]
fn what_only_runs_have_is_refused_when_tables_are_made() {
    let switches = "-c2 -t3 -Mprepared -fa.sql -btpcb -S -N -v -l -r -C -Da=b -P1 -R1 -L1 -j2 -T3 \
                    --random-seed=1 --max-tries=2 --sampling-rate=0.5 --aggregate-interval=1 \
                    --failures-detailed --verbose-errors --progress-timestamp --log-prefix=x";
    for switch in switches.split_whitespace() {
        let error = command(&format!("-i {switch}")).expect_err(switch).to_string();
        let expected = "some of the specified options cannot be used in initialization (-i) mode";
        assert_eq!(error, expected, "{switch}");
    }
}

#[test]
fn an_unlimited_number_of_tries_goes_with_a_limit() {
    assert_eq!(benchmark("--max-tries=0 -L 10").max_tries, 0);
    assert_eq!(benchmark("--max-tries=0 -T 10").max_tries, 0);
}

#[test]
fn only_so_many_scripts_are_taken() {
    let error = read((0..129).map(|_| "-S")).expect_err("too many");
    assert_eq!(error.to_string(), "at most 128 SQL scripts are allowed");
}

#[test]
fn errors_are_reported_as_pgbench_writes_them() {
    let report = |line| command(line).expect_err(line).report();
    assert_eq!(
        report("-i -I dx"),
        "pgbench: error: unrecognized initialization step \"x\"\n\
         pgbench: detail: Allowed step characters are: \"dtgGvpf\".\n"
    );
    assert_eq!(
        report("-Z"),
        "pgbench: error: invalid option -- 'Z'\n\
         pgbench: hint: Try \"dbtime pgbench --help\" for more information.\n"
    );
    let expected = "pgbench: error: no builtin script found for name \"x\"\n\
                    Available builtin scripts:\n      tpcb-like: <builtin: TPC-B (sort of)>\n";
    assert!(report("-b x").starts_with(expected));
}

#[test]
fn passwords_are_in_no_message() {
    let message = |line| command(line).expect_err(line).to_string();
    assert!(message("--taget=mysql://u:secret@h/").starts_with("unrecognized option '--taget'\n"));
    for line in ["db postgres://u:secret@h/", "db password=secret", "--t=postgres://u:secret@h/"] {
        assert!(!message(line).contains("secret"), "{line}");
    }
}

#[test]
fn every_switch_is_in_the_help_text() {
    for name in switches::names() {
        assert!(HELP.contains(&format!("--{name}")), "{name}");
    }
}

#[test]
fn every_switch_means_something() {
    for name in switches::names() {
        for value in ["", "1", "x"] {
            // Whether the value is right does not matter here.
            let _ = requested::RequestedOptions::default().take(name, value.to_owned());
        }
    }
}
