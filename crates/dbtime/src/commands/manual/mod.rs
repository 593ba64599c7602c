//! `dbtime manual`: the manual pages. Names, flags and examples come from the grammar itself; exit
//! codes, variables and files from lists.

mod lists;
mod sections;

use crate::cli::{self, ManualArgs};
use crate::exit::{CommandFailure, ProcessExit};
use clap_mangen::Man;
use dbtime_lab::store::replace_file;
use std::io;
use std::path::Path;

pub(crate) fn run(args: &ManualArgs) -> Result<ProcessExit, CommandFailure> {
    let unwritten = |error: io::Error| {
        let remedy = dbtime_lab::want_of_room(&error)
            .unwrap_or("name an existing folder that you may write to");
        let folder = args.folder.display();
        CommandFailure::environment(format!("cannot write into {folder}: {error}; {remedy}"))
    };
    // `help` has no page: each command's own page is its help.
    let mut grammar = cli::public_command().disable_help_subcommand(true);
    grammar.build();
    write_all(&args.folder, &grammar).map_err(unwritten)?;
    Ok(ProcessExit::Fine)
}

/// The page of a command, and those of its own commands.
fn write_all(folder: &Path, command: &clap::Command) -> io::Result<()> {
    command.get_subcommands().try_for_each(|below| write_all(folder, below))?;
    write(folder, command.clone())
}

fn write(folder: &Path, command: clap::Command) -> io::Result<()> {
    // `dbtime-run`: built from the grammar as a whole.
    let name = command.get_display_name().unwrap_or("dbtime").to_owned();
    let after_help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    // What stands behind the flags becomes sections of its own.
    let page = Man::new(command.after_help(None::<&'static str>))
        .title(name.as_str())
        .source(concat!("dbtime ", env!("CARGO_PKG_VERSION")))
        .manual("dbtime");
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = with_own_sections(&String::from_utf8_lossy(&text), &name, &after_help);
    replace_file(&folder.join(format!("{name}.1")), &text)
}

/// The page with the sections that the grammar lacks, in the order of man-pages(7).
fn with_own_sections(page: &str, name: &str, after_help: &str) -> String {
    let command = name.strip_prefix("dbtime-").unwrap_or_default();
    let (flags, version) = page.split_at(page.find(".SH VERSION\n").unwrap_or(page.len()));
    let surroundings = sections::surroundings(command, after_help);
    let end = sections::examples_and_references(command, after_help);
    format!("{flags}{surroundings}{version}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_sections_stand_around_the_version() {
        let page = with_own_sections(".SH NAME\nx\n.SH VERSION\nv1\n", "dbtime-ps", "");
        let heads: Vec<&str> = page.lines().filter_map(|line| line.strip_prefix(".SH ")).collect();
        let expected = ["NAME", "\"EXIT STATUS\"", "ENVIRONMENT", "FILES", "VERSION"];
        assert_eq!(heads[..5], expected);
        assert_eq!(heads[5..], ["\"SEE ALSO\""]);
    }
}
