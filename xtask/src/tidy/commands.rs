//! Rules for commands in documents: what they show can be typed.
//!
//! A command is a line that begins with `$ dbtime`, or with `dbtime` inside a fence.

use crate::tree::{SourceFile, SourceTree, TidyProblem};

/// One file per subcommand, or one folder.
const COMMANDS: &str = "crates/dbtime/src/commands";
/// Commands whose flags are another tool's: its scripts declare flags of their own.
const FOREIGN: [&str; 2] = ["pgbench", "sysbench"];
/// Where the flags are declared: this file, and those of the folders beside it.
const FLAGS: &str = "crates/dbtime/src/cli.rs";
const MORE_FLAGS: [&str; 2] = ["crates/dbtime/src/cli", "crates/dbtime/src/cli/run_flags"];

pub(super) fn check(tree: &SourceTree) -> Vec<TidyProblem> {
    let named = |file: &'_ SourceFile| {
        let path = file.path.strip_prefix(COMMANDS)?.trim_start_matches('/');
        let name = path.split('/').next()?.trim_end_matches(".rs");
        (name != "mod").then(|| name.to_owned())
    };
    let known: Vec<String> = tree.files.iter().filter_map(named).collect();
    let more = MORE_FLAGS.iter().flat_map(|folder| tree.within(folder));
    let files = tree.file(FLAGS).into_iter().chain(more);
    let flags: String = files.map(|file| file.text.as_str()).collect();
    let documents = tree.ending(".md");
    documents.flat_map(|file| of_document(file, &known, &flags)).collect()
}

fn of_document(file: &SourceFile, known: &[String], flags: &str) -> Vec<TidyProblem> {
    let mut problems = Vec::new();
    let mut is_fenced = false;
    // A command goes on after a backslash at the end of a line.
    let mut goes_on = false;
    let mut is_foreign = false;
    for (line, text) in file.lines() {
        let text = text.trim();
        is_fenced ^= text.starts_with("```");
        let typed = text.strip_prefix("$ dbtime");
        let typed = typed.or_else(|| text.strip_prefix("dbtime ").filter(|_| is_fenced));
        let Some(rest) = typed.or(goes_on.then_some(text)) else { continue };
        let mut words = rest.split_whitespace();
        if !goes_on {
            let command = words.next().unwrap_or("--help");
            let is_known = known.iter().any(|known| known == command) || command.starts_with('-');
            is_foreign = FOREIGN.contains(&command);
            if !is_known {
                let text = format!("`dbtime {command}` is no command");
                problems.push(TidyProblem::at(&file.path, line, text));
            }
        }
        let checked = if is_foreign { None } else { Some(words) };
        for flag in checked.into_iter().flatten().filter_map(|word| word.strip_prefix("--")) {
            let name = flag.split('=').next().unwrap_or(flag);
            if !is_flag(name, flags) {
                problems.push(TidyProblem::at(&file.path, line, format!("`--{name}` is no flag")));
            }
        }
        goes_on = text.ends_with('\\');
    }
    problems
}

/// Whether the command line declares the flag: as a field, or by its name in quotes.
fn is_flag(name: &str, flags: &str) -> bool {
    let field = format!("{}:", name.replace('-', "_"));
    let renamed = format!("\"{name}\"");
    flags.contains(&field) || flags.contains(&renamed) || matches!(name, "help" | "version")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> usize {
        let file = SourceFile { path: "a.md".into(), text: text.into() };
        of_document(
            &file,
            &["run".into(), "sysbench".into()],
            "no_record: bool, #[arg(long = \"limit\")]",
        )
        .len()
    }

    #[test]
    fn commands_and_flags_have_to_exist() {
        assert_eq!(wrong("$ dbtime run --no-record --limit 'p90<=5ms'\n"), 0);
        assert_eq!(wrong("$ dbtime fly\n"), 1);
        assert_eq!(wrong("```\ndbtime run --fast\n```\n"), 1);
        assert_eq!(wrong("dbtime runs far\n"), 0);
        assert_eq!(wrong("$ dbtime run \\\n      --fast\n"), 1);
        assert_eq!(wrong("$ dbtime --version\n"), 0);
        assert_eq!(wrong("$ dbtime sysbench x.lua --tables=1 \\\n  --own=2 run\n"), 0);
    }
}
