//! sysbench's own tests: each is run twice, with sysbench and with dbtime in its place, and what
//! the commands in it print is compared. What the tests expect is not looked at: they are written
//! for other versions of the servers.
//!
//! `scripts/sysbench-tests.sh` says where sysbench's source is.

use super::say;
use crate::given_server::GivenServer;
use crate::sandbox::Sandbox;
use dbtime_model::Product;
use regex::Regex;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

/// Where sysbench's source is.
const SOURCE: &str = "DBTIME_SYSBENCH_SOURCE";

/// Tests that are not run, and why.
const LEFT_OUT: [(&str, &str); 4] = [
    ("test_", "sysbench's built-in tests are not there"),
    ("opt_help", "the help text is dbtime's own"),
    ("help_drv", "the help text is dbtime's own"),
    ("drivers", "a driver that does not exist is refused before the script runs"),
];

/// Lines that differ, by the test and a piece of them, and why.
const KNOWN: [(&str, &[&str], &str); 7] = [
    ("api_rand", &["sb_rand_str("], "texts are drawn at random"),
    ("api_legacy_rand", &["sb_rand_str("], "texts are drawn at random"),
    (
        "api_sql_pgsql",
        &["LINEN: SELECT", "  ^", "translate host name", "cannot find the host", "null value in"],
        "what a server adds to an error is shown otherwise, and hosts are looked up by dbtime",
    ),
    (
        "cmdline",
        &["nrecognized command line argument", "fileio", "table: Nx", "invalid "],
        "errors name a remedy; there are no built-in tests; addresses of tables",
    ),
    ("opt_rate", &["FATAL: "], "the test is of the built-in test `cpu`"),
    (
        "opt_report_checkpoints",
        &["[Ns ] Checkpoint", "[N]"],
        "its second half is of the built-in test `cpu`",
    ),
    ("opt_report_interval", &["[Ns ] thds:N eps", "[N]"], "the same"),
];

/// Folders of the programs that are run. Lua shortens long paths: both are as long.
const THEIRS: &str = "theirs";
const OURS: &str = "dbtime";

/// What both are run with.
struct Suite {
    sandbox: Sandbox,
    source: PathBuf,
    mysql: GivenServer,
    postgres: GivenServer,
}

#[test]
fn sysbenchs_own_tests_print_what_they_print_under_sysbench() {
    let Some(source) = std::env::var_os(SOURCE).map(PathBuf::from) else {
        say(&format!("NOT TESTED: sysbench's own tests; {SOURCE} names no source of it"));
        return;
    };
    let suite = Suite::new(source);
    let mut differing = Vec::new();
    for test in suite.tests() {
        if let Some((_, reason)) = LEFT_OUT.iter().find(|(name, _)| test.starts_with(name)) {
            say(&format!("sysbench's {test}: left out, for {reason}"));
            continue;
        }
        let [theirs, ours] = [THEIRS, OURS].map(|whose| suite.run(&test, whose));
        let is_alike = is_alike(&test, &theirs, &ours);
        say(&format!("sysbench's {test}: {}", if is_alike { "as sysbench" } else { "DIFFERS" }));
        if !is_alike {
            differing.push(format!("{test}\n--- sysbench\n{theirs}\n--- dbtime\n{ours}"));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n\n"));
}

impl Suite {
    fn new(source: PathBuf) -> Self {
        let mysql = GivenServer::start(Product::Mariadb, &[]);
        for sql in [
            "CREATE DATABASE sbtest",
            "CREATE USER IF NOT EXISTS root@localhost",
            "GRANT ALL ON *.* TO root@localhost",
        ] {
            mysql.sql(sql);
        }
        let postgres = GivenServer::start(Product::Postgres, &[]);
        postgres.sql("CREATE DATABASE sbtest");
        let suite = Self { sandbox: Sandbox::new(), source, mysql, postgres };
        let socket = suite.mysql.server.socket().display().to_string();
        let password = suite.mysql.server.password().reveal();
        let client = format!("MYSQL_PWD={password} exec mariadb --no-defaults -S {socket} \"$@\"");
        let dbtime = env!("CARGO_BIN_EXE_dbtime");
        suite.program(THEIRS, "mysql", &client);
        suite.program(OURS, "mysql", &client);
        suite.program(OURS, "sysbench", &format!("exec {dbtime} sysbench --classic \"$@\""));
        suite
    }

    /// Puts a program into the folder that is first in the path.
    fn program(&self, folder: &str, name: &str, text: &str) {
        let folder = self.sandbox.path(folder);
        fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
        fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("ours");
    }

    fn tests(&self) -> Vec<String> {
        let entries =
            fs::read_dir(self.source.join("tests/t")).expect("sysbench's tests").flatten();
        let name = |path: PathBuf| Some(path.file_name()?.to_str()?.strip_suffix(".t")?.to_owned());
        let mut names: Vec<String> = entries.filter_map(|entry| name(entry.path())).collect();
        names.sort();
        assert!(names.len() > 40, "sysbench's tests: {names:?}");
        names
    }

    /// What the commands of a test print, without what the test expects.
    fn run(&self, test: &str, whose: &str) -> String {
        let from = self.source.join(format!("tests/t/{test}.t"));
        let text = fs::read_to_string(from).expect("a test");
        let is_command = |line: &&str| line.starts_with("  $ ") || line.starts_with("  > ");
        let is_command = |line: &&str| is_command(line) || matches!(*line, "  $" | "  >");
        let commands: Vec<&str> = text.lines().filter(is_command).collect();
        let file = self.sandbox.path(&format!("{whose}-{test}.t"));
        fs::write(&file, commands.join("\n") + "\n").expect("written");
        let mut command = Command::new("cram3");
        self.surround(&mut command, whose);
        let output = command.args(["--shell=/bin/bash"]).arg(&file).output();
        output.expect("cram is installed (python3-cram)");
        let printed = fs::read_to_string(file.with_extension("t.err"));
        // What prints nothing is as expected.
        normal(&printed.unwrap_or_default())
    }

    fn surround(&self, command: &mut Command, whose: &str) {
        self.sandbox.settle(command);
        let of = |folder: &str| self.source.join(folder).display().to_string();
        let (scripts, include) = (of("src/lua"), of("tests/include"));
        let server = &self.postgres.server;
        let (port, user) = (server.port().to_string(), server.user());
        let socket = self.mysql.server.socket().display();
        let passwords = [&self.mysql, &self.postgres].map(|one| one.server.password().reveal());
        let path = std::env::var("PATH").unwrap_or_default();
        let folder = server.socket().parent().expect("a folder").display().to_string();
        for (name, value) in [
            ("SBTEST_ROOTDIR", of("tests")),
            ("SBTEST_SUITEDIR", of("tests/t")),
            ("LUA_PATH", format!("{scripts}/?;{scripts}/?.lua;{include}/?;{include}/?.lua")),
            ("SBTEST_SCRIPTDIR", scripts),
            ("SBTEST_INCDIR", include),
            ("SBTEST_VERSION", "1.0.20".to_owned()),
            ("SBTEST_VERSION_STRING", "sysbench 1.0.20".to_owned()),
            ("SBTEST_HAS_MYSQL", "yes".to_owned()),
            ("SBTEST_HAS_PGSQL", "yes".to_owned()),
            (
                "SBTEST_MYSQL_ARGS",
                format!(
                    "--mysql-socket={socket} --mysql-user=root --mysql-password={}",
                    passwords[0]
                ),
            ),
            (
                "SBTEST_PGSQL_ARGS",
                format!(
                    "--pgsql-host=127.0.0.1 --pgsql-port={port} --pgsql-user={user} \
                     --pgsql-password={}",
                    passwords[1]
                ),
            ),
            ("PGPASSWORD", passwords[1].to_owned()),
            ("PGHOST", folder),
            ("PGPORT", port),
            ("PGUSER", user.to_owned()),
            ("PATH", format!("{}:{path}", self.sandbox.path(whose).display())),
        ] {
            command.env(name, value);
        }
    }
}

/// A text without what differs from one run to the next: figures, folders, and who it is.
fn normal(text: &str) -> String {
    let banner =
        Regex::new(r"sysbench 1\.0\.20 \((using system|run by dbtime).*").expect("a regex");
    let folder = Regex::new(r"cramtests-\w+").expect("a regex");
    let file = Regex::new(&format!("({THEIRS}|{OURS})-")).expect("a regex");
    let table = Regex::new(r"table: 0x[0-9a-f]+").expect("a regex");
    let figure = Regex::new(r" *[0-9]+(\.[0-9]+)*").expect("a regex");
    let line = |line: &str| {
        let line = table.replace_all(line, "table: Nx");
        let line = folder.replace_all(&line, "cramtests").into_owned();
        let line = file.replace_all(&line, "").into_owned();
        let line = banner.replace_all(&line, "BANNER").into_owned();
        if line.starts_with("  $") || line.starts_with("  >") {
            return line;
        }
        figure.replace_all(&line, "N").into_owned()
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn is_alike(test: &str, theirs: &str, ours: &str) -> bool {
    let known = KNOWN.iter().filter(|(name, ..)| *name == test).flat_map(|(_, lines, _)| *lines);
    let known: Vec<&str> = known.copied().collect();
    let told = |text: &str| -> Vec<String> {
        let is_told = |line: &&str| !known.iter().any(|known| line.contains(known));
        text.lines().filter(is_told).map(str::to_owned).collect()
    };
    let (theirs, mut ours) = (told(theirs), told(ours));
    // Debian's sysbench crashes where a connection to MariaDB is made anew: the rest is missing.
    // A connection is C data there and a table here, which the test shows whole.
    let is_end = |line: &String| {
        line.contains("Segmentation fault") || line.contains("Got an error descriptor")
    };
    match theirs.iter().position(is_end) {
        Some(end) => {
            ours.truncate(end);
            theirs[..end] == ours
        }
        None => theirs == ours,
    }
}
