//! Every command that a help text or a document shows is one that dbtime takes.

use crate::help::own_commands;
use crate::sandbox::{SMALL, Sandbox, words};
use dbtime_model::Product;
use dbtime_model::record::FIGURES;
use std::fs;
use std::path::{Path, PathBuf};

/// Commands of a text: indented or fenced lines that begin with `dbtime `, continued after a
/// backslash, and what stands in quotes in a running text.
fn commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let mut is_fenced = false;
    let mut commands = Vec::new();
    for line in joined.lines() {
        is_fenced ^= line.trim_start().starts_with("```");
        let command = line.trim().trim_start_matches("$ ");
        if command.starts_with("dbtime ") && (is_fenced || line.starts_with(' ')) {
            commands.push(command.to_owned());
        }
    }
    let quoted = joined.split('`').skip(1).step_by(2).filter(|text| text.starts_with("dbtime "));
    // A command's bare name says what it is, not how it is used.
    let is_whole = |text: &&str| {
        text.matches(' ').count() > 1 && !text.contains('…') && !has_placeholder(text)
    };
    commands.extend(quoted.filter(is_whole).map(str::to_owned));
    commands
}

fn has_placeholder(text: &str) -> bool {
    let is_one = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    text.split(|c: char| !c.is_ascii_alphabetic()).any(is_one)
}

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).into_iter().flatten().flatten();
    let files = docs.map(|entry| entry.path()).chain([root.join("README.md")]);
    files.filter(|path| path.extension().is_some_and(|e| e == "md") && path.exists()).collect()
}

/// The arguments of a command. What a shell would do with the output is not dbtime's affair.
fn arguments(command: &str) -> Vec<String> {
    let is_shell = |word: &String| ["|", ">", "&", "&&", "#"].contains(&word.as_str());
    words(command).into_iter().skip(1).take_while(|word| !is_shell(word)).collect()
}

/// Where the server is that a command names, private ones included.
fn server(line: &[String]) -> Option<usize> {
    let at = line.iter().position(|word| word == "--target")? + 1;
    let kind = line[at].split(':').next().unwrap_or_default();
    let is_server = |product: Product| product.wire_protocol().is_some();
    Product::named(kind).is_some_and(is_server).then_some(at)
}

/// A study of a database that is not there.
const STUDY: &str = "run = \"values1 --target sqlite:absent.db --time 1s\"\n\
                     [gate]\nwait = \"0s\"\n[factors]\nworkers = [1, 2]\n";

/// The same server where there is none: behind a port that nobody listens on, a socket or a folder
/// that is not there.
fn nowhere(target: &str) -> String {
    let Some((scheme, rest)) = target.split_once("://") else {
        return format!("{}:absent", target.split(':').next().unwrap_or_default());
    };
    let (authority, after) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let login = authority.rfind('@').map_or("", |at| &authority[..=at]);
    let (path, query) = after.split_once('?').unwrap_or((after, ""));
    let moved = |pair: &str| match pair.split_once('=') {
        Some((name @ ("socket" | "host"), _)) => format!("{name}=/absent"),
        _ => pair.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(moved).collect();
    format!("{scheme}://{login}127.0.0.1:1{path}?{}", query.join("&"))
}

/// The same for a server that is not there; `at` is where it is named.
fn is_taken_nowhere(sandbox: &Sandbox, mut line: Vec<String>, at: usize) {
    if line[at].contains("://") {
        sandbox.run_words(&line).refused(3, &[]);
        return;
    }
    // Not every machine has a second CPU.
    for flag in ["--server-cpus", "--client-cpus"] {
        if let Some(at) = line.iter().position(|word| word == flag) {
            "0".clone_into(&mut line[at + 1]);
        }
    }
    // Nor has it every library.
    let ran = sandbox.run_words(&line).refused(2, &[]);
    let told = ["absent: No such file", "LD_PRELOAD="];
    assert!(told.iter().any(|text| ran.err.contains(text)), "{ran:?}");
}

/// The same for what is written for another tool: its server is nowhere, or its file is.
fn is_taken_of_others(sandbox: &Sandbox, mut line: Vec<String>) {
    for word in &mut line {
        for (option, absent) in [("--mysql-socket=", "/absent"), ("--sqlite-db=", "absent/t.db")] {
            if word.starts_with(option) {
                *word = format!("{option}{absent}");
            }
        }
    }
    if let Some(at) = line.iter().position(|word| word == "--target") {
        line[at + 1] = match server(&line) {
            Some(at) => nowhere(&line[at]),
            None => "sqlite:absent/t.db".to_owned(),
        };
    } else if line[0] == "pgbench" {
        line.splice(1..1, ["-h", "/absent"].map(str::to_owned));
    }
    let ran = sandbox.run_words(&line);
    let is_help = line.iter().any(|word| word == "help" || word == "--help");
    ran.exits(if is_help { 0 } else { 1 });
    assert!(is_help || ran.out.contains("absent") || ran.err.contains("absent"), "{ran:?}");
}

/// The same of a study, whose database is not there.
fn is_taken_as_study(sandbox: &Sandbox, mut line: Vec<String>) {
    let is_file = line[2].ends_with(".toml");
    match line[1].as_str() {
        "plan" => {
            let measures = line.iter().any(|word| word == "--pilot");
            sandbox.run_words(&line).exits(if measures { 3 } else { 0 });
        }
        "run" => {
            line.extend(["--out", "nowhere/there"].map(str::to_owned));
            let ran = sandbox.run_words(&line);
            ran.exits(3);
            assert!(ran.err.contains("there is no database"), "{ran:?}");
            fs::remove_dir_all(sandbox.path("nowhere")).expect("its folder");
        }
        "verify" => {
            sandbox.run_words(&line).refused(3, &["holds no study"]);
        }
        _ if is_file => {
            sandbox.run_words(&line).refused(2, &["no study in dbtime-runs"]);
        }
        _ => {
            // A sweep of the same document may have left runs there, none of which counts.
            let _ = fs::remove_dir_all(sandbox.path(&line[2]));
            sandbox.run_words(&line).refused(3, &["holds no study"]);
        }
    }
}

/// The same of `usage`, whose process is not there.
fn is_taken_as_usage(sandbox: &Sandbox, mut line: Vec<String>) {
    if let Some(at) = line.iter().position(|word| word == "--") {
        line.truncate(at + 1);
        line.push("true".to_owned());
        sandbox.run_words(&line).exits(0);
        return;
    }
    if let Some(at) = line.iter().position(|word| word == "-p") {
        "4194305".clone_into(&mut line[at + 1]);
    }
    sandbox.run_words(&line).refused(3, &[]);
}

/// The same of files of another tool, with a value each, of which no gate is sure.
fn is_taken_as_files(sandbox: &Sandbox, line: &[String]) {
    for file in line.iter().filter(|word| word.ends_with(".txt")) {
        sandbox.write(file, "BenchmarkA 1 1 ns/op\n");
    }
    let is_gate = line.iter().any(|word| word == "--gate");
    sandbox.run_words(line).exits(if is_gate { 4 } else { 0 });
}

/// A query is read and found right, and its database is absent.
fn is_taken_as_query(sandbox: &Sandbox, mut line: Vec<String>) {
    let at = line.iter().position(|word| word == "--target" || word == "--on-copy");
    let at = at.expect("a query has a database") + 1;
    let is_copied = line[at - 1] == "--on-copy";
    let earlier = line.iter().position(|word| word == "--against");
    if let Some(earlier) = earlier {
        sandbox.write(&line[earlier + 1], "{}");
    }
    line[at] = if is_copied { "absent.db" } else { "sqlite:absent.db" }.to_owned();
    sandbox.run_words(&line).refused(3, &[]);
    if let Some(earlier) = earlier {
        fs::remove_file(sandbox.path(&line[earlier + 1])).expect("it was written");
    }
}

/// Everything about a command is read and found right, and then there is nothing to work on.
fn is_taken(sandbox: &Sandbox, command: &str) {
    let mut line = arguments(command);
    let is_study = line.first().is_some_and(|word| word == "study");
    for file in line.iter().filter(|word| word.ends_with(".toml")) {
        let folder = sandbox.path(file).parent().expect("in the sandbox").to_owned();
        fs::create_dir_all(folder).expect("a folder in it");
        sandbox.write(file, if is_study { STUDY } else { SMALL });
    }
    for file in line.iter().filter(|word| word.ends_with(".sql")) {
        sandbox.write(file, "SELECT 1;");
    }
    if matches!(line.first().map(String::as_str), Some("sysbench" | "pgbench")) {
        return is_taken_of_others(sandbox, line);
    }
    if let Some(at) = server(&line) {
        line[at] = nowhere(&line[at]);
        return is_taken_nowhere(sandbox, line, at);
    }
    match line.first().map_or("", String::as_str) {
        "run" => {
            // What is for a private server alone is refused for any other.
            while let Some(at) = line.iter().position(|word| word.starts_with("--server-")) {
                let words = if line[at].contains('=') { 1 } else { 2 };
                line.drain(at..at + words);
            }
            line.extend(["--target".to_owned(), "sqlite:absent.db".to_owned()]);
            sandbox.run_words(&line).refused(3, &["there is no database"]);
        }
        "init" => {
            let target = line.iter_mut().find(|word| word.starts_with("sqlite:"));
            "sqlite:absent/t.db".clone_into(target.expect("init has a target"));
            sandbox.run_words(&line).refused(3, &["cannot write in absent"]);
        }
        "compare" if line.iter().any(|word| word.ends_with(".txt")) => {
            is_taken_as_files(sandbox, &line);
        }
        "report" | "explain" | "compare" | "join" => {
            sandbox.run_words(&line).refused(3, &["holds no run"]);
        }
        "study" => is_taken_as_study(sandbox, line),
        "counters" | "log" => {
            sandbox.run_words(&line).refused(3, &["cannot "]);
        }
        "query" => is_taken_as_query(sandbox, line),
        "doctor" => {
            // The runs of --noise take half a minute, and here something may well be bad.
            line.retain(|word| word != "--noise" && word != "--strict");
            sandbox.run_words(&line).fine();
        }
        "ps" => {
            // Above every number that a process can have.
            line.push("4194305".to_owned());
            sandbox.run_words(&line).refused(3, &[]);
        }
        _ if line.get(1).is_some_and(|word| word.ends_with(".trace")) => {
            sandbox.run_words(&line).refused(3, &["No such file"]);
        }
        "trace" => {
            // Above every number that a process can have.
            match line.iter().position(|word| word == "-p") {
                Some(at) => "4194305".clone_into(&mut line[at + 1]),
                None => line.extend(["-p", "4194305"].map(str::to_owned)),
            }
            sandbox.run_words(&line).refused(3, &["4194305"]);
        }
        "top" => {
            sandbox.run_words(&line).refused(2, &["needs a terminal"]);
        }
        "usage" => is_taken_as_usage(sandbox, line),
        _ => {
            sandbox.run_words(&line).fine();
        }
    }
}

#[test]
fn examples_of_the_help_are_taken() {
    let sandbox = Sandbox::new();
    let mut found = 0;
    for command in own_commands(&sandbox) {
        let help = sandbox.run(&format!("{command} --help")).fine().out;
        let examples: Vec<String> =
            commands(&help).into_iter().filter(|line| !line.contains('[')).collect();
        assert!(!examples.is_empty(), "no example in the help of {command}");
        examples.iter().for_each(|example| is_taken(&sandbox, example));
        found += examples.len();
    }
    assert!(found >= 14, "only {found} examples");
}

#[test]
fn examples_of_the_help_start_private_servers() {
    let sandbox = Sandbox::new();
    let help = sandbox.run("run --help").fine().out;
    let commands = commands(&help);
    let lines = commands.iter().map(|command| arguments(command));
    let is_private = |line: &Vec<String>| {
        let is_sweep = line.iter().any(|word| word == "--sweep");
        !is_sweep && server(line).is_some_and(|at| !line[at].contains("://"))
    };
    let mut found = 0;
    for mut line in lines.filter(is_private) {
        line.extend(["--no-record", "--details"].map(str::to_owned));
        sandbox.run_words(&line).fine().prints(&["connections"]);
        found += 1;
    }
    assert!(found > 0, "no private server in the help of run");
}

#[test]
fn commands_of_the_documents_are_taken() {
    let sandbox = Sandbox::new();
    for path in documents() {
        let text = fs::read_to_string(&path).expect("a document");
        commands(&text).iter().for_each(|command| is_taken(&sandbox, command));
    }
}

#[test]
fn every_figure_that_a_verdict_can_be_on_is_in_the_manual() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/running.md");
    let text = fs::read_to_string(path).expect("a manual");
    let section = text.split("### Figures that a verdict can be on\n").nth(1).expect("a section");
    let section = section.split("\n## ").next().expect("a first part");
    for figure in FIGURES {
        let is_there = section.contains(&format!("`{}`", figure.key));
        assert_eq!(is_there, figure.better.is_some(), "{}", figure.key);
    }
}

#[test]
fn commands_are_found_in_texts() {
    let text = "Use `dbtime report`, `dbtime workloads atm` or `dbtime run NAME`:\n\n    $ dbtime run atm \\\n  --seed 2\n";
    assert_eq!(commands(text), ["dbtime run atm    --seed 2", "dbtime workloads atm"]);
    assert_eq!(words(r#"a 'b "c"' d\ e "f 'g'""#), ["a", "b \"c\"", "d e", "f 'g'"]);
}

#[test]
fn servers_are_looked_for_where_there_are_none() {
    let cases = [
        ("mariadb:/opt/x", "mariadb:absent"),
        ("mysql://u:p@db1/shop", "mysql://u:p@127.0.0.1:1/shop?"),
        (
            "mysql://u@/d?socket=/run/s&ssl-mode=x",
            "mysql://u@127.0.0.1:1/d?socket=/absent&ssl-mode=x",
        ),
        ("postgres://h", "postgres://127.0.0.1:1?"),
    ];
    for (target, moved) in cases {
        assert_eq!(nowhere(target), moved);
    }
    assert_eq!(server(&arguments("dbtime run --target sqlite:x.db")), None);
    assert_eq!(server(&arguments("dbtime run --target postgres")), Some(2));
}
