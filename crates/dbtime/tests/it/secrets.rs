//! Secrets that are given to dbtime stand in nothing that it prints, writes or starts.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::{Ran, Sandbox};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// What every planted secret has in it; of one that is cut short or encoded in part it is left.
const MARK: &str = "l4nt3d";

/// Variables of the environment that have secrets for every command here.
const VARIABLES: [&str; 4] = ["DBTIME_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "PGSSLPASSWORD"];

/// Targets in which `SECRET` is one: such as can be meant, and such as are mistakes.
const FORMS: [&str; 17] = [
    "mysql://u:SECRET@127.0.0.1:1/d",
    "postgres://u@127.0.0.1:1/d?p%61ssword=SECRET",
    "host=127.0.0.1 port=1 password=SECRET",
    "mysql://u:%50SECRET@127.0.0.1:1/d",
    "mysql://u@127.0.0.1:1/d?password=SECRET&ssl-mode=disabled",
    "postgres://u:SECRET@127.0.0.1:1/d?password=SECRET",
    "postgres://u@127.0.0.1:1/d?sslpassword=SECRET",
    "postgres://u@127.0.0.1:1/d?password=a&SECRET",
    "postgres://u@127.0.0.1:1/d?sslmode=disable;password=SECRET",
    "postgres://u:SECRET@127.0.0.1:1,127.0.0.1:2/d",
    "postgres://host=127.0.0.1 password=SECRET",
    "mysql://u;password=SECRET@127.0.0.1:1/d",
    "mysq://u:SECRET@127.0.0.1:1/d",
    "mysql:u:SECRET@127.0.0.1",
    "mariadb?password=SECRET",
    "jdbc:postgresql://127.0.0.1:1/d?user=u&password=SECRET",
    "sqlite:x.db?key=SECRET",
];

/// How many of the first are given to every command.
const FORMS_FOR_ALL: usize = 3;

/// Commands on a target.
const COMMANDS: [&str; 19] = [
    "run values1 --transactions 1 --no-record --json --junit j.xml --target 'TARGET'",
    "run values1 --transactions 1 --out r --events --target 'TARGET'",
    "run values1 --transactions 1 --out r --repeat 2 --target 'TARGET'",
    "run values1 --transactions 1 --out r --sweep 'target=TARGET connections=1,2'",
    "run values1 --time 1s --out r --find-rate 'p99<=10ms' --target 'TARGET'",
    "run --query 'SELECT 1' --transactions 1 --out r --target 'TARGET'",
    "init tpcb --target 'TARGET'",
    "counters --interval 100ms --target 'TARGET'",
    "counters --save c.json --target 'TARGET'",
    "query --query 'SELECT 1' --time 100ms --out q.json --target 'TARGET'",
    "pgbench -n -t 1 --out=r --target='TARGET'",
    "pgbench -i 'TARGET'",
    "pgbench -n -t 1 'TARGET' 'TARGET'",
    "sysbench oltp_point_select run --target='TARGET'",
    "sysbench 'TARGET' run",
    "trace --time 100ms --login 'TARGET'",
    "study ab values1 --transactions 1 --a connections=1 --b connections=2 --target 'TARGET'",
    "study ab values1 --transactions 1 --a 'target=TARGET' --b connections=2",
    "'TARGET'",
];

/// Commands in which something else is wanted than a target.
const MISPLACED: [&str; 40] = [
    "run --time 'TARGET'",
    "run --time='TARGET'",
    "run --rate 'TARGET'",
    "run --limit 'TARGET'",
    "run --limit 'p99<=TARGET'",
    "run --seed 'TARGET'",
    "run --think 'TARGET'",
    "run --connections 'TARGET'",
    "run --client-cpus 'TARGET'",
    "run --spec 'TARGET'",
    "run --events --spec 'TARGET'",
    "run --script 'TARGET.lua'",
    "run --script 'TARGET.sql'",
    "run --password-file 'TARGET'",
    "run --target null --find-rate 'TARGET'",
    "init 'TARGET' --target null",
    "counters 'TARGET' 'TARGET'",
    "report 'TARGET' --html page.html",
    "explain 'TARGET'",
    "log 'TARGET'",
    "query 'TARGET' --target null",
    "query --query 'SELECT 1' --on-copy 'TARGET'",
    "query --query 'SELECT 1' --time 'TARGET' --target null",
    "query --query 'SELECT :id' --dict 'id=TARGET' --target null",
    "join 'TARGET' 'TARGET'",
    "compare 'TARGET' 'TARGET'",
    "runs 'TARGET'",
    "workloads 'TARGET'",
    "study run 'TARGET'",
    "study resume 'TARGET'",
    "study report 'TARGET' --html s.html --junit s.xml",
    "study ab values1 --a connections=1 --b connections=2 --for 'TARGET'",
    "ps 'TARGET'",
    "ps 100ms 'TARGET'",
    "usage -p 'TARGET'",
    "usage --since 'TARGET'",
    "trace 'TARGET'",
    "trace --time 100ms -p 'TARGET'",
    "pgbench -n -c 'TARGET' -f 'TARGET'",
    "sysbench oltp_point_select --threads='TARGET' run",
];

/// A secret, another one for each place.
fn secret(place: usize) -> String {
    format!("P{MARK}{place}")
}

/// Whether a text has this in it, as it is or percent-encoded.
fn tells(text: &[u8], needle: &str) -> bool {
    let text = String::from_utf8_lossy(text).to_lowercase();
    let encoded: String = needle.bytes().map(|byte| format!("%{byte:02x}")).collect();
    text.contains(&needle.to_lowercase()) || text.contains(&encoded)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    let (folders, mut files): (Vec<_>, Vec<_>) =
        entries.map(|entry| entry.path()).partition(|path| path.is_dir());
    folders.iter().for_each(|folder| files.extend(self::files(folder)));
    files
}

/// Neither what a command has printed nor any file that it has left has this in it.
fn keeps(sandbox: &Sandbox, ran: &Ran, needle: &str) {
    assert!(!tells(ran.out.as_bytes(), needle), "stdout of {ran:?}");
    assert!(!tells(ran.err.as_bytes(), needle), "stderr of {ran:?}");
    for file in files(&sandbox.path("")) {
        let text = fs::read(&file).expect("a file");
        let shown = String::from_utf8_lossy(&text).into_owned();
        assert!(!tells(&text, needle), "{} of {ran:?}: {shown}", file.display());
    }
}

/// Runs a command with secrets in its environment too, in a sandbox of its own, and looks for them.
fn keeps_planted(line: &str) {
    let sandbox = Sandbox::new();
    let mut command = sandbox.command(line);
    command.envs(VARIABLES.iter().enumerate().map(|(at, name)| (name, secret(100 + at))));
    let ran = Ran::new(line, &command.output().expect("dbtime starts"));
    assert!(ran.code.is_some_and(|code| code < 70), "{ran:?}");
    keeps(&sandbox, &ran, MARK);
}

#[test]
fn no_form_of_a_target_is_repeated_with_its_secret() {
    for (place, form) in FORMS.iter().enumerate() {
        let target = form.replace("SECRET", &secret(place));
        keeps_planted(&format!("run values1 --transactions 1 --out r --target '{target}'"));
        keeps_planted(&format!("run values1 --print-spec --target '{target}'"));
        keeps_planted(&format!("run '{target}' --transactions 1 --out r"));
    }
}

#[test]
fn no_command_repeats_the_secret_of_its_target() {
    for (place, form) in FORMS.iter().enumerate().take(FORMS_FOR_ALL) {
        let target = form.replace("SECRET", &secret(place));
        COMMANDS.iter().for_each(|command| keeps_planted(&command.replace("TARGET", &target)));
    }
}

#[test]
fn no_error_repeats_the_secret_of_a_target_in_the_wrong_place() {
    for (place, form) in FORMS.iter().enumerate().take(FORMS_FOR_ALL) {
        let target = form.replace("SECRET", &secret(place));
        MISPLACED.iter().for_each(|command| keeps_planted(&command.replace("TARGET", &target)));
    }
    let sandbox = Sandbox::new();
    let ran = sandbox.run("report mysql://u:l4nt3d@h/d");
    ran.refused(2, &["`mysql://u:***@h/d` is a target", "give a target with --target"]);
}

/// A record can be repeated by whoever knows the password.
#[test]
fn the_password_of_a_statement_is_in_no_record() {
    let sandbox = Sandbox::new();
    let statement = format!("ALTER ROLE r PASSWORD '{}'", secret(0));
    let load = "--target null --connections 1 --transactions 5 --warmup 0s --no-budget";
    let ran = sandbox.run(&format!("run --query \"{statement}\" {load} --out r"));
    ran.exits(0);
    keeps(&sandbox, &ran, MARK);
    let record = fs::read_to_string(sandbox.path("r/run.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(record["spec"]["workload"]["query"], "ALTER ROLE r PASSWORD '***'");
    let command = record["command"].as_str().expect("a command");
    assert!(command.contains("--query \"$DBTIME_QUERY\""), "{command}");
    let repeated = |statement: &str| {
        let mut command = sandbox.command("run --spec r --no-record --quiet");
        command.env("DBTIME_QUERY", statement);
        Ran::new("run --spec r", &command.output().expect("dbtime starts"))
    };
    repeated(&statement).exits(0);
    let other = repeated("ALTER ROLE s PASSWORD 'x'");
    other.refused(2, &["DBTIME_QUERY", "has another one"]);
    sandbox.run("run --spec r --no-record").refused(2, &["DBTIME_QUERY", "is not set"]);
    let ran = sandbox.run(&format!("run --query \"{statement}\" {load} --repeat 2 --out s"));
    ran.exits(0);
    keeps(&sandbox, &ran, MARK);
    // As if it had been ended after the first run: the second is not to fail for good.
    let journal = sandbox.path("s/journal.jsonl");
    let text = fs::read_to_string(&journal).expect("a journal");
    let first: String = text.split_inclusive('\n').take(3).collect();
    assert!(first.contains("run_ended"), "{first}");
    fs::write(&journal, &first).expect("it can be written");
    sandbox.run("study resume s").refused(2, &["DBTIME_QUERY", "is not set"]);
    let text = fs::read_to_string(&journal).expect("a journal");
    assert!(!text[first.len()..].contains("run_begun"), "{text}");
}

/// Without its quotes a password stands in the shape of its statement, too, and within a string
/// another statement has it.
#[test]
fn a_password_that_lacks_its_quotes_is_in_no_record() {
    let load = "--target null --connections 1 --transactions 5 --warmup 0s --no-budget";
    for statement in [
        "ALTER USER app PASSWORD SECRET",
        "ALTER ROLE app WITH LOGIN PASSWORD SECRET",
        "CREATE USER app IDENTIFIED BY SECRET REQUIRE SSL",
        "ATTACH 'x' AS y KEY 'SECRET'",
        "PRAGMA rekey = SECRET",
        "SELECT set_config('app.token', 'SECRET', true)",
        "SELECT dblink_exec('c', 'ALTER ROLE app PASSWORD ''SECRET''')",
    ] {
        let sandbox = Sandbox::new();
        let statement = statement.replace("SECRET", &secret(0));
        let ran = sandbox.run(&format!("run --query \"{statement}\" {load} --out r"));
        ran.exits(0);
        let reported = sandbox.run("report r --html r.html").fine();
        keeps(&sandbox, &ran, MARK);
        keeps(&sandbox, &reported, MARK);
    }
}

/// One repeats what it could not read, the other has no such role; the record has the logs of both.
#[test]
fn a_server_that_refuses_a_password_is_quoted_without_it() {
    for server in ["mariadb", "postgres"] {
        let sandbox = Sandbox::new();
        let ran = sandbox.run(&format!(
            "run --query \"ALTER ROLE r PASSWORD '{}'\" --target {server} --connections 1 \
             --transactions 5 --warmup 0s --out r",
            secret(0)
        ));
        assert!(ran.code.is_some_and(|code| (1..70).contains(&code)), "{ran:?}");
        keeps(&sandbox, &ran, MARK);
    }
}

/// Each row that is added is there already.
const TWICE: &str = r#"
name = "twice"
[dictionaries.names]
template = "planted%05d"
count = 1
first = 4711
[[table]]
name = "thing"
rows = 1
columns = [
    { name = "id", type = "varchar(20)", primary_key = true, data = { dictionary = "names" } },
]
[keys]
name = { dictionary = "names" }
[[operation]]
name = "look"
[[operation.statement]]
name = "get"
sql = "SELECT id FROM thing"
[[operation]]
name = "add"
[[operation.statement]]
name = "insert"
sql = "INSERT INTO thing (id) VALUES (:name)"
"#;

#[test]
fn a_value_that_a_database_repeats_is_in_no_record() {
    // With its parameters a statement is in the server's log.
    let logging = "postgres --server-set log_statement=all \
                   --server-set log_min_error_statement=error";
    for (target, code, told) in [
        ("mariadb", "1062", "Duplicate entry '?' for key 'PRIMARY'"),
        (logging, "23505", "; Key (id)=(?) already exists."),
        ("sqlite", "SQLITE_CONSTRAINT_PRIMARYKEY", "UNIQUE constraint failed: thing.id"),
    ] {
        let sandbox = Sandbox::new();
        sandbox.write("twice.toml", TWICE);
        let ran = sandbox.run(&format!(
            "run twice.toml --target {target} --connections 1 --transactions 40 --warmup 0s \
             --details --out r"
        ));
        assert!(ran.code.is_some_and(|code| code < 70), "{ran:?}");
        let record = fs::read_to_string(sandbox.path("r/run.json")).expect("a record");
        let record: Value = serde_json::from_str(&record).expect("JSON");
        let message = record["error_messages"][code].as_str().unwrap_or_default();
        assert!(message.contains(told), "{message} of {ran:?}");
        let [short, whole] = ["", "--details"].map(|more| format!("report r --text {more}"));
        let reported = [ran, sandbox.run(&short), sandbox.run(&whole)];
        reported.iter().for_each(|ran| keeps(&sandbox, ran, "planted04711"));
    }
}

#[test]
fn options_that_are_secrets_are_not_repeated() {
    for option in [
        "--server-env API_KEY=SECRET",
        "--server-env =SECRET",
        "--server-env DSN=postgres://u:SECRET@h/d",
        "--server-set report_password=SECRET",
        "--server-set primary_conninfo='host=h password=SECRET'",
        "--script own.sql --script-set app_token=SECRET",
        "--sweep 'server-env=API_KEY=SECRET,API_KEY=SECRET2'",
        "--sweep '=SECRET'",
        "--sweep 'server-env=API_KEY=SECRET,SECRET2'",
        "--sweep 'server-env=API_KEY=SECRET;SECRET2'",
        "--server-env 'CONF={\"password\": \"SECRET\"}'",
        "--server-env 'DSN=u:SECRET@tcp(h:1)/d'",
        "--server-set ssl_passphrase_command='echo SECRET'",
        "--server-set init_connect='ALTER USER u IDENTIFIED BY SECRET'",
        "--server-env token=SECRET --script own.sql --script-set token=SECRET2",
    ] {
        let option = option.replace("SECRET", &secret(0));
        // There is no private server there: what comes before is refused, or written.
        keeps_planted(&format!("run --target mariadb:/nowhere {option} --print-spec"));
        keeps_planted(&format!("run --target mariadb:/nowhere {option} --transactions 1 --out r"));
    }
}

#[test]
fn a_spec_that_has_a_password_is_run_without_it_in_the_record() {
    let sandbox = Sandbox::new();
    let url = format!("postgres://u:{}@127.0.0.1:1/d", secret(0));
    let spec = serde_json::json!({ "workload": { "name": "values1" }, "target": { "url": url } });
    sandbox.write("spec.json", &spec.to_string());
    let printed = sandbox.run("run --spec spec.json --print-spec").fine();
    assert_eq!(printed.json()["target"]["url"], "postgres://u@127.0.0.1:1/d");
    fs::remove_file(sandbox.path("spec.json")).expect("ours");
    keeps(&sandbox, &printed, MARK);
}

#[test]
fn variables_of_a_private_server_are_in_a_record_by_their_names() {
    let sandbox = Sandbox::new();
    let (key, dsn) = (secret(0), format!("postgres://u:{}@h/d", secret(1)));
    let line = format!(
        "run values1 --target mariadb --connections 1 --transactions 5 --out r \
         --server-env API_KEY={key} --server-env DSN={dsn} --server-env OMP_NUM_THREADS=2"
    );
    let ran = sandbox.run(&line).fine();
    keeps(&sandbox, &ran, MARK);
    let record = fs::read_to_string(sandbox.path("r/run.json")).expect("a record");
    let record: Value = serde_json::from_str(&record).expect("JSON");
    let kept = serde_json::json!(["API_KEY", "DSN", "OMP_NUM_THREADS=2"]);
    assert_eq!(record["spec"]["target"]["server_env"], kept);
    for shown in [
        "report r --text --details",
        "report r",
        "explain r",
        "compare r r",
        "compare r r --details",
        "runs .",
    ] {
        keeps(&sandbox, &sandbox.run(shown), MARK);
    }
    let mut again = sandbox.command("run --spec r --no-record");
    again.env_remove("API_KEY").env_remove("DSN");
    let again = Ran::new("run --spec r", &again.output().expect("dbtime starts"));
    again.refused(2, &["--server-env API_KEY takes its value from dbtime's own environment"]);
}

#[test]
fn swept_secrets_are_told_apart_by_numbers() {
    let sandbox = Sandbox::new();
    let (first, second) = (secret(0), secret(1));
    let line = format!(
        "run values1 --target mariadb --connections 1 --transactions 5 --out s \
         --sweep server-env=API_KEY={first},API_KEY={second}"
    );
    let ran = sandbox.run(&line).fine();
    keeps(&sandbox, &ran, MARK);
    let sweep = fs::read_to_string(sandbox.path("s/plan.json")).expect("a sweep");
    assert!(["*** (1)", "*** (2)"].iter().all(|number| sweep.contains(number)), "{sweep}");
    sandbox.run("study resume s").refused(3, &["no record holds: start a new sweep"]);
}

#[test]
fn a_password_is_in_no_process_that_is_started_and_in_no_record() {
    for product in PRODUCTS {
        let given = GivenServer::start(product, &[]);
        let password = given.server.password().reveal().to_owned();
        // Behind the place, where a socket is named too.
        let target = given.target().replace(&format!(":{password}@"), "@");
        let target = format!("{target}&p%61ssword={password}");
        let sandbox = Sandbox::new();
        let running = sandbox.start(&format!(
            "run values1 --connections 1 --warmup 0s --time 10m --quiet --repeat 2 --out s \
             --target '{target}'"
        ));
        sandbox.wait_for(&["s", ".001.partial-", "latency.hlog"]);
        let plan = fs::read_to_string(sandbox.path("s/plan.json")).expect("a plan");
        assert!(plan.contains("://"), "it names the target: {plan}");
        let own = running.pid() as i32;
        let others: Vec<_> =
            sandbox.residents().into_iter().filter(|(pid, _)| *pid != own).collect();
        assert!(!others.is_empty(), "the run is a process of its own");
        for (_, line) in others {
            assert!(!tells(line.as_bytes(), &password), "{line}");
        }
        running.interrupt();
        let ran = running.end();
        keeps(&sandbox, &ran, &password);
    }
}
