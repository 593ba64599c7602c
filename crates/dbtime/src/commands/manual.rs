//! `dbtime manual`: the manual pages, from the grammar itself. For whoever makes a package.

use crate::cli::{self, ManualArgs};
use crate::exit::{CommandFailure, ProcessExit};
use clap_mangen::Man;
use dbtime_lab::store::replace_file;
use std::io;
use std::path::Path;

pub(crate) fn run(args: &ManualArgs) -> Result<ProcessExit, CommandFailure> {
    let folder = args.folder.display();
    let unwritten =
        |error| CommandFailure::environment(format!("cannot write into {folder}: {error}"));
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
    let page = Man::new(command)
        .title(name.as_str())
        .source(concat!("dbtime ", env!("CARGO_PKG_VERSION")))
        .manual("dbtime");
    let mut text = Vec::new();
    page.render(&mut text)?;
    let text = with_examples_as_written(&String::from_utf8_lossy(&text));
    replace_file(&folder.join(format!("{name}.1")), &text)
}

/// Lines of examples are not to be filled and stretched: some are command lines.
fn with_examples_as_written(page: &str) -> String {
    let Some((before, extra)) = page.split_once(".SH EXTRA\n") else { return page.to_owned() };
    let (extra, after) = extra.split_once("\n.SH ").unwrap_or((extra.trim_end(), ""));
    let after = if after.is_empty() { String::new() } else { format!(".SH {after}") };
    format!("{before}.SH NOTES\n.nf\n{extra}\n.fi\n{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_stay_as_they_are() {
        let page = ".SH NAME\nx\n.SH EXTRA\na\n  b\n.SH VERSION\nv1\n";
        let expected = ".SH NAME\nx\n.SH NOTES\n.nf\na\n  b\n.fi\n.SH VERSION\nv1\n";
        assert_eq!(with_examples_as_written(page), expected);
        assert_eq!(with_examples_as_written("no such section"), "no such section");
    }
}
