//! The sections of a manual page that the grammar does not have, as roff.

use super::lists::{ENVIRONMENT, FILES, ManualEntry, OUTSIDE, TOGETHER};
use crate::cli::FOREIGN;
use crate::exit::EXIT_CODES;
use clap_mangen::roff::{Roff, bold, roman};

/// What commands with the flags of another tool end with.
const FOREIGN_EXIT: &str = "The codes of the program whose options these are; 128 and the number \
                            of a signal that ended it early; 3 in place of 0 if the output could \
                            not be written.";

/// EXIT STATUS, ENVIRONMENT and FILES of a command (`study-ab`; empty: dbtime itself), with what
/// its help says behind the flags.
pub(super) fn surroundings(command: &str, after_help: &str) -> String {
    let mut roff = Roff::new();
    exit_status(command, after_help, &mut roff);
    entries("ENVIRONMENT", ENVIRONMENT, command, &mut roff);
    entries("FILES", FILES, command, &mut roff);
    written(&roff)
}

/// EXAMPLES and SEE ALSO of a command, with what its help says behind the flags.
pub(super) fn examples_and_references(command: &str, after_help: &str) -> String {
    let mut roff = Roff::new();
    if let Some(examples) = examples(after_help) {
        // Lines are not to be filled and stretched: some are command lines.
        roff.control("SH", ["EXAMPLES"]).control("nf", []);
        for line in examples.lines() {
            roff.text([roman(line)]);
        }
        roff.control("fi", []);
    }
    roff.control("SH", ["SEE ALSO"]).text([roman(references(command, after_help).join(", "))]);
    written(&roff)
}

/// Its text without the preamble, which a page has once.
fn written(roff: &Roff) -> String {
    let text = roff.render();
    let begin = text.find(".SH ").unwrap_or(text.len());
    text[begin..].to_owned()
}

fn exit_status(command: &str, after_help: &str, roff: &mut Roff) {
    roff.control("SH", ["EXIT STATUS"]);
    if FOREIGN.contains(&command) {
        roff.text([roman(FOREIGN_EXIT)]);
        return;
    }
    if let Some(own) = own_exit_status(after_help) {
        // A sentence of its own, which its help has behind a colon.
        let (first, rest) = own.split_at(own.chars().next().map_or(0, char::len_utf8));
        roff.text([roman(first.to_uppercase() + rest)]);
    }
    for (code, meaning) in EXIT_CODES {
        term(code, meaning, roff);
    }
}

/// What a command says of its exit codes, beside the list of all.
fn own_exit_status(after_help: &str) -> Option<&str> {
    let (_, own) = after_help.split_once("Exit codes: ")?;
    (!own.starts_with("see ")).then_some(own)
}

/// The examples of a help text, without their heading.
fn examples(after_help: &str) -> Option<&str> {
    let (heading, examples) = after_help.split_once(":\n")?;
    let end = examples.find("\n\nExit codes").unwrap_or(examples.len());
    heading.starts_with("Example").then_some(&examples[..end])
}

fn entries(heading: &str, all: &[ManualEntry], command: &str, roff: &mut Roff) {
    roff.control("SH", [heading]);
    for entry in all.iter().filter(|entry| entry.is_of(command)) {
        term(entry.names, entry.meaning, roff);
    }
}

fn term(name: &str, meaning: &str, roff: &mut Roff) {
    roff.control("TP", []).text([bold(name)]).text([roman(meaning)]);
}

/// The commands in the examples of a help text.
fn exemplified(after_help: &str) -> impl Iterator<Item = &str> {
    let lines = examples(after_help).unwrap_or_default().lines();
    lines.filter_map(|line| line.trim_start().strip_prefix("dbtime ")?.split(' ').next())
}

/// The pages to read beside a command's own: dbtime's by name, those of the commands in its
/// examples too, then those of other programs.
fn references(command: &str, after_help: &str) -> Vec<String> {
    let above = command.split('-').next().unwrap_or(command);
    let groups = TOGETHER.iter().filter(|group| group.contains(&above));
    let mut names: Vec<&str> = groups.flat_map(|group| group.iter().copied()).collect();
    names.extend(exemplified(after_help));
    names.retain(|name| *name != command);
    names.sort_unstable();
    names.dedup();
    let own = names.iter().map(|name| format!("dbtime-{name}(1)"));
    let whole = (!command.is_empty()).then(|| "dbtime(1)".to_owned());
    let outside = OUTSIDE.iter().filter(|(name, _)| command.is_empty() || *name == above);
    whole.into_iter().chain(own).chain(outside.map(|(_, page)| (*page).to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "Examples:\n  dbtime ps 10\n      all of 'em\n\nExit codes: see --help";

    #[test]
    fn examples_are_lines_as_they_are_and_stand_there_once() {
        let page = examples_and_references("ps", HELP);
        let expected = ".SH EXAMPLES\n.nf\n  dbtime ps 10\n      all of \\*(Aqem\n.fi\n";
        assert!(page.starts_with(expected), "{page}");
        assert!(!page.contains("Exit codes"), "{page}");
        assert!(!examples_and_references("", "Exit codes:\n  0   fine").contains("EXAMPLES"));
    }

    #[test]
    fn exit_codes_are_those_of_the_list_and_what_a_command_adds() {
        let page = surroundings("usage", "Exit codes: with a command its own");
        assert!(page.starts_with(".SH \"EXIT STATUS\"\nWith a command its own\n.TP\n"), "{page}");
        for (code, _) in EXIT_CODES {
            assert!(page.contains(&format!(".TP\n\\fB{code}\\fR\n")), "{code}");
        }
        assert!(!surroundings("ps", HELP).contains("see "));
        let foreign = surroundings("sysbench", "");
        assert!(foreign.contains("The codes of the program") && !foreign.contains("a bug"));
    }

    #[test]
    fn a_page_has_the_variables_and_files_of_its_command() {
        let of = |command: &str| surroundings(command, "");
        for page in [of(""), of("run"), of("study-ab")] {
            assert!(page.contains("DBTIME_PASSWORD") && page.contains("~/.pgpass"), "{page}");
        }
        let page = of("ps");
        assert!(page.contains("NO_COLOR") && !page.contains("PGHOST"), "{page}");
        assert!(!page.contains("~/.my.cnf"), "{page}");
        // It connects, and neither starts a server nor runs a script.
        let page = of("init");
        assert!(page.contains("PGHOST") && !page.contains("DBTIME_NEW_DATA"), "{page}");
        assert!(!page.contains("~/.luarocks/") && of("sysbench").contains("~/.luarocks/"));
    }

    #[test]
    fn pages_refer_to_others_and_not_to_themselves() {
        let of = |command: &str| references(command, "").join(" ");
        assert_eq!(of("join"), "dbtime(1) dbtime-run(1) dbtime-trace(1)");
        assert!(of("study-ab").contains("dbtime-study(1)"));
        assert!(!of("ps").contains("dbtime-ps(1)") && of("ps").ends_with(" ps(1)"));
        assert!(of("").starts_with("pgbench(1) ps(1)"));
        let shown = "Example:\n  dbtime trace --record x\n      here\n  dbtime new x";
        assert_eq!(references("new", shown).join(" "), "dbtime(1) dbtime-trace(1)");
    }
}
