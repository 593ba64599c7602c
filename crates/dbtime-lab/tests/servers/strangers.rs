//! Who else is on the machine does not get in.

use crate::live::{HERE, client, not_tested, query, start, with};
use dbtime_engines::drive::plan::RunStop;
use dbtime_lab::servers::{PrivateServer, ServerRequest};
use dbtime_model::Product;
use std::fs;
use std::process::{Command, Output};

/// A user without a name, who owns nothing; `nobody` may be the one that servers run as.
const STRANGER: &str = "64123";

/// Runs a program as somebody else; `None` where that cannot be.
fn as_stranger(program: &str, arguments: &[String]) -> Option<Output> {
    if !rustix::process::geteuid().is_root() {
        not_tested("strangers on a private server: only root can be somebody else");
        return None;
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", STRANGER, "--regid", STRANGER, "--clear-groups", "--inh-caps=-all"]);
    command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").env("HOME", "/nonexistent");
    let output = command.arg(program).args(arguments).current_dir("/").output();
    Some(output.expect("setpriv is installed"))
}

/// Tries the ways in without the password.
pub(crate) fn lets_no_stranger_in(server: &PrivateServer) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (over_tcp, whys) in [
        (true, ["Access denied", "no password supplied"]),
        (false, ["Can't connect", "Permission denied"]),
    ] {
        let (program, mut arguments) = client(server, over_tcp, "SELECT 1");
        if server.product().speaks_mysql() {
            arguments.insert(0, "--no-defaults".to_owned());
        }
        let Some(output) = as_stranger(program, &arguments) else { return };
        let said = text(&output.stderr);
        assert!(!output.status.success(), "{}", text(&output.stdout));
        assert!(whys.iter().any(|why| said.contains(why)), "{said}");
    }
    let file = server.login_file().display().to_string();
    let read = as_stranger("cat", &[file]).expect("as before");
    assert!(!read.status.success() && read.stdout.is_empty());
}

#[test]
fn nobody_else_gets_in_before_and_after_a_restart() {
    for product in HERE {
        let mut server = start(&ServerRequest::new(product));
        lets_no_stranger_in(&server);
        server.kill();
        server.restart(&|_| {}, &RunStop::default()).expect("it starts again");
        lets_no_stranger_in(&server);
        assert_eq!(query(&server, true, "SELECT 1"), "1");
    }
}

#[test]
fn the_password_is_in_its_file_alone() {
    for product in HERE {
        let log_all = if product == Product::Postgres { "log_statement" } else { "general_log" };
        let value = if product == Product::Postgres { "all" } else { "1" };
        let server = start(&with(product, log_all, value));
        let password = server.password().reveal().to_owned();
        let command = fs::read(format!("/proc/{}/cmdline", server.pid())).expect("it lives");
        assert!(!String::from_utf8_lossy(&command).contains(&password));
        let run = server.socket().parent().expect("a folder").to_owned();
        let mut holders = Vec::new();
        for folder in [run, server.data()] {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                let is_file = entry.file_type().expect("a kind").is_file();
                let bytes = if is_file { fs::read(entry.path()).expect("read") } else { continue };
                if bytes.windows(password.len()).any(|part| part == password.as_bytes()) {
                    holders.push(entry.path());
                }
            }
        }
        assert_eq!(holders, [server.login_file()]);
    }
}

#[test]
fn statements_of_the_user_come_behind_the_password() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("init.sql");
    fs::write(&path, "CREATE DATABASE made_at_start;\n").expect("written");
    let server = start(&with(Product::Mariadb, "init-file", &path.display().to_string()));
    assert_eq!(query(&server, false, "SHOW DATABASES LIKE 'made%'"), "made_at_start");
    lets_no_stranger_in(&server);
}
