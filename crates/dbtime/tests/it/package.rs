//! What a package holds beside the program: completions and manual pages.

use crate::sandbox::{Sandbox, names};
use std::fs;
use std::process::Command;

#[test]
fn a_shell_completes_commands_and_flags() {
    let sandbox = Sandbox::new();
    for (shell, named) in [
        ("bash", &["complete -F _dbtime", "--on-backlog", "sysbench"][..]),
        ("zsh", &["#compdef dbtime", "--on-backlog=", "'sysbench:", "; _files}", "(wait drop)"]),
        (
            "fish",
            &[
                "complete -c dbtime",
                "-l on-backlog",
                "-a \"sysbench\"",
                "subcommand init\" -a \"atm",
            ],
        ),
    ] {
        let script = sandbox.run(&format!("completions {shell}")).fine().prints(named).out;
        assert!(!script.contains("trace-") && !script.contains("guard"), "{shell}");
    }
    sandbox.write(
        "ask.sh",
        "eval \"$1\"; COMP_WORDS=(dbtime $2); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _dbtime dbtime \"${COMP_WORDS[-1]}\" \"${COMP_WORDS[-2]}\"; echo ${COMPREPLY[@]}",
    );
    let script = sandbox.run("completions bash").out;
    for (words, completed) in [
        ("run --on-b", "--on-backlog"),
        ("run --target m", "mariadb mysql"),
        ("run --on-backlog d", "drop"),
        ("run point-s", "point-select"),
        ("init point-s", "point-select"),
    ] {
        let mut shell = Command::new("bash");
        let asked = shell.arg(sandbox.path("ask.sh")).args([script.as_str(), words]).output();
        let printed = String::from_utf8_lossy(&asked.expect("a bash").stdout).into_owned();
        assert_eq!(printed.trim_end(), completed, "{words}");
    }
}

#[test]
fn every_command_has_a_manual_page() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.path("man")).expect("a folder");
    sandbox.run("manual man").fine();
    let help = sandbox.run("--help").fine().out;
    let commands = help.split("Commands:").nth(1).expect("commands").lines();
    let commands = commands.take_while(|line| !line.starts_with("General"));
    let commands = commands
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| help.contains(&format!("\n  {name} ")) && *name != "help");
    let mut pages: Vec<String> = commands.map(|name| format!("dbtime-{name}.1")).collect();
    assert!(pages.len() > 10, "{pages:?}");
    pages.push("dbtime.1".to_owned());
    let nested = ["ab", "pack", "plan", "report", "resume", "run", "verify"];
    pages.extend(nested.map(|name| format!("dbtime-study-{name}.1")));
    pages.sort();
    assert_eq!(names(&sandbox.path("man")), pages);
    let all = fs::read_to_string(sandbox.path("man/dbtime.1")).expect("a page");
    assert!(all.contains("dbtime\\-run(1)") && !all.contains("dbtime\\-help(1)"), "{all}");
    let run = fs::read_to_string(sandbox.path("man/dbtime-run.1")).expect("a page");
    // The name is one line, or whatis(1) does not find it.
    let name = run.lines().skip_while(|line| *line != ".SH NAME").nth(1).expect("a name");
    assert!(name.ends_with("where the time of its transactions went"), "{name}");
    assert!(run.contains("\\-\\-on\\-backlog"), "{run}");
    for heading in ["\"EXIT STATUS\"", "ENVIRONMENT", "FILES", "EXAMPLES", "\"SEE ALSO\""] {
        assert_eq!(run.matches(&format!("\n.SH {heading}\n")).count(), 1, "{heading}: {run}");
    }
    // Examples are those of the help, once, and the page needs no help for its exit codes.
    assert_eq!(run.matches("atm on a temporary SQLite database").count(), 1, "{run}");
    assert!(!run.contains("Exit codes") && run.contains("\n.TP\n\\fB70\\fR\na bug\n"), "{run}");
    // What has no place is told with the remedy.
    let told = ["dbtime: cannot write into absent: ", "; name an existing folder"];
    sandbox.run("manual absent").refused(3, &told);
    sandbox.write("file", "");
    sandbox
        .run("manual file")
        .refused(3, &["cannot write into file: ", "; name an existing folder"]);
    sandbox.run("manual --help").fine().prints(&["Usage: dbtime manual", "dbtime manual ~/"]);
}
