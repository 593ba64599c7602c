//! Command lines as people write them, and what scripts see of them.

use super::*;

fn arguments(line: &str) -> CommandArguments {
    CommandArguments::read(line.split_whitespace(), |_| Ok("foo=1\nthreads=3\n".to_owned()))
        .expect("a command line")
}

fn options(line: &str) -> SysbenchOptions {
    arguments(line).options(Some(&declared())).expect("options")
}

fn error(line: &str) -> String {
    arguments(line).options(Some(&declared())).expect_err("an error").to_string()
}

fn declare(name: &str, default: OptionValue, kind: OptionType) -> DeclaredOption {
    DeclaredOption {
        name: name.into(),
        description: String::new(),
        default,
        kind,
        has_validate: false,
    }
}

/// A script's options of every kind.
fn declared() -> Vec<DeclaredOption> {
    let text = |text: &str| OptionValue::Text(text.into());
    vec![
        declare("table_size", OptionValue::Number(10000.0), OptionType::Double),
        declare("point-selects", OptionValue::Number(10.0), OptionType::Int),
        declare("skip_trx", OptionValue::Bool(false), OptionType::Bool),
        declare("variant", OptionValue::None, OptionType::Text),
        declare("engine", text("innodb"), OptionType::Text),
        declare("cache", OptionValue::None, OptionType::Size),
        declare("hosts", OptionValue::List(vec!["a".into()]), OptionType::List),
        declare("file", text("q"), OptionType::File),
        declare("nothing", OptionValue::None, OptionType::Null),
    ]
}

#[test]
fn defaults_are_those_of_sysbench() {
    let options = options("x.lua run");
    let general = &options.general;
    assert_eq!((general.threads, general.events, general.time), (1, 0, 10));
    assert_eq!((general.rate, general.tx_jitter, general.report_interval), (0, None, 0));
    assert_eq!((general.percentile, general.verbosity, general.seed), (95, 3, 0));
    assert_eq!((general.forced_shutdown, general.shutdown_s()), (None, None));
    let mysql = &options.database.mysql;
    assert_eq!((&mysql.hosts[..], &mysql.ports[..]), (&["localhost".to_owned()][..], &[3306][..]));
    assert_eq!(
        (mysql.user.as_str(), mysql.db.as_str(), mysql.ssl),
        ("sbtest", "sbtest", SslMode::Disabled)
    );
    assert_eq!(options.database.pgsql.port, 5432);
    assert_eq!(options.own, SysbenchExtras::default());
    assert!(options.warnings.is_empty());
}

/// `name=type:value`, as a script prints `sysbench.opt` under sysbench 1.0.20.
const OBSERVED: &str = "
cache=number:0
db_debug=boolean:false
db_driver=string:mysql
db_ps_mode=string:auto
debug=boolean:false
engine=string:innodb
events=number:0
file=nil
forced_shutdown=string:off
help=boolean:false
histogram=boolean:false
hosts=table:{a}
max_requests=number:0
max_time=number:0
mysql_compression=boolean:false
mysql_db=string:sbtest
mysql_debug=boolean:false
mysql_dry_run=boolean:false
mysql_host=table:{localhost}
mysql_ignore_errors=table:{1213;1020;1205}
mysql_password=string:
mysql_port=table:{3306}
mysql_socket=table:{}
mysql_ssl=boolean:false
mysql_ssl_cipher=string:
mysql_user=string:sbtest
nothing=nil
num_threads=number:1
percentile=number:95
pgsql_db=string:sbtest
pgsql_host=string:localhost
pgsql_password=string:
pgsql_port=number:5432
pgsql_user=string:sbtest
point_selects=number:10
rand_pareto_h=number:0.2
rand_seed=number:0
rand_spec_iter=number:12
rand_spec_pct=number:1
rand_spec_res=number:75
rand_type=string:special
rate=number:0
report_checkpoints=table:{}
report_interval=number:0
skip_trx=boolean:false
table_size=number:10000
thread_stack_size=number:65536
threads=number:1
time=number:10
tx_rate=number:0
validate=boolean:false
variant=string:
verbosity=number:3
version=boolean:false";

fn shown(value: &OptionValue) -> String {
    match value {
        OptionValue::None => "nil".to_owned(),
        OptionValue::Bool(value) => format!("boolean:{value}"),
        OptionValue::Number(value) => format!("number:{value}"),
        OptionValue::Text(value) => format!("string:{value}"),
        OptionValue::List(value) => format!("table:{{{}}}", value.join(";")),
    }
}

#[test]
fn scripts_see_what_they_see_under_sysbench() {
    let exported = options("x.lua run").exported;
    for line in OBSERVED.trim().lines() {
        let (name, value) = line.split_once('=').expect("a name");
        assert_eq!(exported.get(name).map(shown).as_deref(), Some(value), "{name}");
    }
    assert!(!exported.contains_key("lua_threads"));
}

#[test]
fn options_of_the_script_are_read_by_their_types() {
    let line = "x.lua run --table-size=1e3 --point_selects=5 --skip-trx --variant=v --cache=2K \
                --hosts=x,y --file=z";
    let exported = options(line).exported;
    let expected = [
        ("table_size", "number:1000"),
        ("point_selects", "number:5"),
        ("skip_trx", "boolean:true"),
        ("variant", "string:v"),
        ("cache", "number:2048"),
        ("hosts", "table:{x;y}"),
        ("file", "nil"),
    ];
    for (name, value) in expected {
        assert_eq!(shown(&exported[name]), value, "{name}");
    }
}

#[test]
fn the_last_word_counts_and_a_configuration_file_speaks_in_its_place() {
    assert_eq!(options("--threads=2 --threads=4").general.threads, 4);
    assert_eq!(options("--config-file=x --threads=2").general.threads, 2);
    let options = options("--threads=2 --config-file=x");
    assert_eq!(options.general.threads, 3);
    assert_eq!(options.warnings, ["the configuration file's option foo is unknown, and ignored"]);
}

#[test]
fn older_names_hold_and_are_warned_about() {
    let options = options("--max-time=2 --time=5 --num-threads=3 --tx-rate=7 --max-requests=4");
    let general = &options.general;
    assert_eq!((general.time, general.threads, general.rate, general.events), (2, 3, 7, 4));
    assert_eq!(shown(&options.exported["max_time"]), "number:2");
    assert_eq!(options.warnings[0], "--num-threads is deprecated, use --threads instead");
    assert_eq!(options.warnings.len(), 4);
}

#[test]
fn the_default_of_an_older_name_says_nothing() {
    let options = options("--max-time=0 --num-threads=1 --threads=3 --max-requests=5");
    let general = &options.general;
    assert_eq!((general.time, general.threads, general.events), (10, 3, 5));
    assert_eq!(options.warnings, ["--max-requests is deprecated, use --events instead"]);
}

#[test]
fn a_run_without_an_end_is_warned_about() {
    let warnings = |line| options(line).warnings;
    let endless = "Both event and time limits are disabled, running an endless test";
    assert_eq!(warnings("--time=0 --events=0"), [endless]);
    assert!(warnings("--time=0 --events=1").is_empty() && warnings("--events=0").is_empty());
}

#[test]
fn whoever_debugs_hears_everything() {
    let options = options("--debug --verbosity=2");
    assert_eq!(options.general.verbosity, 5);
    assert_eq!(shown(&options.exported["verbosity"]), "number:5");
}

#[test]
fn errors_to_ignore_are_numbers_or_all() {
    for taken in ["all", "1213,all", "1213,1205", ""] {
        options(&format!("--mysql-ignore-errors={taken}"));
    }
    let refused = error("--mysql-ignore-errors=1213,deadlock");
    assert!(refused.contains("numbers, such as 1213,1205, or all"), "{refused}");
}

#[test]
fn compat_1_1_has_other_defaults() {
    let options = options("--compat=1.1 --mysql-ssl=REQUIRED");
    assert_eq!(shown(&options.exported["rand_type"]), "string:uniform");
    assert_eq!(shown(&options.exported["mysql_ssl"]), "string:required");
    assert_eq!((options.own.compat, options.own.compat.version()), (CompatMode::V1_1, "1.1.0"));
}

#[test]
fn what_dbtime_adds_is_read_and_gives_way_to_the_script() {
    let line =
        "--target=mariadb --classic --lua-threads --shards=2 --out=dir --json --tx-jitter=20";
    let options = options(line);
    let expected = SysbenchExtras {
        target: Some("mariadb".into()),
        compat: CompatMode::V1_0,
        classic: true,
        lua_threads: true,
        shards: Some(2),
        out: Some("dir".into()),
        json: true,
    };
    assert_eq!((options.own, options.general.tx_jitter), (expected, Some(20)));
    let out = [declare("out", OptionValue::None, OptionType::Text)];
    let options = arguments("--out=theirs").options(Some(&out)).expect("options");
    assert_eq!(options.own.out, None);
    assert_eq!(shown(&options.exported["out"]), "string:theirs");
}

#[test]
fn before_the_script_its_options_are_left_out() {
    let options = arguments("x.lua help --foo=1 --help").before_script().expect("options");
    assert!(options.general.help);
    assert!(arguments("--threads=x").before_script().is_err());
}

#[test]
fn ssl_is_a_switch_or_a_mode() {
    let ssl = |line| options(line).database.mysql.ssl;
    assert_eq!(["--mysql-ssl", "--mysql-ssl=on"].map(ssl), [SslMode::Required; 2]);
    assert_eq!(ssl("--mysql-ssl=verify_ca"), SslMode::VerifyCa);
    assert_eq!(shown(&options("--mysql-ssl").exported["mysql_ssl"]), "boolean:true");
}

#[test]
fn unknown_options_are_named_with_the_nearest() {
    assert_eq!(error("--foo=1"), "invalid option: --foo=1");
    assert_eq!(error("--table-siz=1"), "invalid option: --table-siz=1; did you mean --table_size?");
    assert_eq!(error("--theads=1"), "invalid option: --theads=1; did you mean --threads?");
    assert_eq!(error("--"), "invalid option: --");
}

#[test]
fn passwords_are_shown_nowhere() {
    assert_eq!(
        error("--mysql-pasword=secret"),
        "invalid option: --mysql-pasword; did you mean --mysql-password?"
    );
    assert!(!error("--db-pass=secret").contains("secret"));
    for line in ["--api-token=secret", "--place=mysql://u:secret@h/", "--dsn=password=secret"] {
        assert!(!error(line).contains("secret"), "{}", error(line));
    }
    let line = "--mysql-password=secret --pgsql-password=secret --target=mysql://u:secret@h/";
    let (arguments, options) = (arguments(line), options(line));
    assert_eq!(options.database.mysql.password, "secret");
    assert!(!format!("{arguments:?} {options:?}").contains("secret"));
}

#[test]
fn wrong_values_are_named_with_their_form() {
    let expected = [
        ("--threads=abc", "'threads' option: 'abc'; give a whole number, such as 8"),
        ("--threads=0", "'threads' option: '0'; give a whole number from 1 up, such as 8"),
        ("--threads=-1", "'threads' option: '-1'; give a whole number from 1 up, such as 8"),
        ("--percentile=101", "'percentile' option: '101'; give a whole number from 0 to 100"),
        ("--percentile=99.9", "'percentile' option: '99.9'; give a whole number, such as 8"),
        ("--rate=10.5", "'rate' option: '10.5'; give a whole number, such as 8"),
        ("--verbosity=9", "'verbosity' option: '9'; give a whole number from 0 to 5"),
        (
            "--forced-shutdown=foo",
            "'forced-shutdown' option: 'foo'; give a whole number of seconds, or off",
        ),
        (
            "--report-checkpoints=a,b",
            "'report-checkpoints' option: 'a,b'; give seconds, such as 10,20",
        ),
        (
            "--rand-type=x",
            "'rand-type' option: 'x'; give uniform, gaussian, special, pareto or zipfian",
        ),
        ("--rand-pareto-h=x", "'rand-pareto-h' option: 'x'; give a number, such as 0.5"),
        ("--histogram=yes", "'histogram' option: 'yes'; give on or off"),
        ("--db-driver=oracle", "'db-driver' option: 'oracle'; give mysql, pgsql, sqlite or help"),
        ("--mysql-port=x", "'mysql-port' option: 'x'; give ports, such as 3306,3307"),
        ("--compat=2", "'compat' option: '2'; give 1.0 or 1.1"),
        ("--point-selects=4x", "'point-selects' option: '4x'; give a whole number, such as 8"),
        ("--nothing=1", "'nothing' option: '1'; give nothing: its declaration has no usable type"),
    ];
    for (line, words) in expected {
        assert_eq!(error(line), format!("invalid value for the {words}"));
    }
}

#[test]
fn a_number_that_was_left_empty_is_zero() {
    let general = options("--rate --time= --forced-shutdown").general;
    assert_eq!((general.rate, general.time, general.forced_shutdown), (0, 0, Some(0)));
    assert_eq!(options("--forced-shutdown=5").general.shutdown_s(), Some(15));
}
