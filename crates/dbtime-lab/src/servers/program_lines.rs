//! Lines in the log of a PostgreSQL server that are no messages of it.
//!
//! Before its first message there are lines of initdb, and of the loader where a library is
//! missing. Programs that the server has started (`COPY … TO PROGRAM`, `archive_command`) may print
//! rows, and do so without a mark.
//!
//! Source: `initdb.c` of PostgreSQL 9.6 to 18, and `dl-load.c` and `rtld.c` of glibc.

use super::message_form::of_form;
use dbtime_sql::PostgresWords;
use std::borrow::Cow;

/// What lines about what is wrong begin with.
const PROGRAMS: [&str; 2] = ["initdb: ", "ERROR: ld.so: "];

/// What those begin with that the server prints before it has a log; they quote values of settings.
const SERVER: &str = "postgres: ";

/// What the line of a program has that a library is missing of.
const LOADER: &str = ": error while loading shared libraries: ";

/// Steps behind which a message of the server may stand in their line.
const STEPS: [&str; 2] =
    ["running bootstrap script ... ", "performing post-bootstrap initialization ... "];

/// What initdb tells, in the words of [`super::message_form`].
const FORMS: &[&str] = &[
    "The files belonging to this database system will be owned by user \"*\".",
    "This user must also own the server process.",
    "The database cluster will be initialized with locale \"*\".",
    "The database cluster will be initialized with this locale configuration:",
    "The default database encoding has accordingly been set to \"*\".",
    "The default text search configuration will be set to \"*\".",
    "Data page checksums are disabled.",
    "Data page checksums are enabled.",
    "creating directory * ... ok",
    "fixing permissions on existing directory * ... ok",
    "creating subdirectories ... ok",
    "selecting default max_connections ... #",
    "selecting default \"max_connections\" ... #",
    "selecting default shared_buffers ... #MB",
    "selecting default \"shared_buffers\" ... #MB",
    "selecting default shared_buffers ... #kB",
    "selecting default \"shared_buffers\" ... #kB",
    "selecting default time zone ... *",
    "selecting dynamic shared memory implementation ... *",
    "creating configuration files ... ok",
    "running bootstrap script ... ok",
    "performing post-bootstrap initialization ... ok",
    "child process exited with exit code #",
    "child process was terminated by signal #: ~",
    "syncing data to disk ... ok",
    "Sync to disk skipped.",
    "The data directory might become corrupt if the operating system crashes.",
    "Success. You can now start the database server using:",
];

/// A line before the first message, without what may be a value; `None`: it is of another program.
pub(super) fn program_line(line: &str) -> Option<Cow<'_, str>> {
    let is_of_program = PROGRAMS.iter().any(|begin| line.starts_with(begin));
    if is_of_program || line.contains(LOADER) {
        return Some(Cow::Borrowed(line));
    }
    match line.starts_with(SERVER) {
        true => Some(PostgresWords::Values.message(line)),
        false => of_form(FORMS, line).map(Cow::Owned),
    }
}

/// What stands before a message in its line, without the step of initdb that it stands behind.
pub(super) fn behind_step(before: &str) -> &str {
    STEPS.iter().find_map(|step| before.strip_prefix(step)).unwrap_or(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_initdb_and_the_loader_are_known() {
        for (line, expected) in [
            ("initdb: error: no place", "initdb: error: no place"),
            ("creating directory /hush ... ok", "creating directory ? ... ok"),
            ("selecting default shared_buffers ... 128MB", ""),
            ("child process was terminated by signal 11: Segmentation fault", ""),
            ("/a/postgres: error while loading shared libraries: libx.so: no such file", ""),
            ("postgres: cannot access file \"hush\"", "postgres: cannot access file \"?\""),
            ("ERROR: ld.so: object 'libx.so' from LD_PRELOAD cannot be preloaded", ""),
        ] {
            let expected = if expected.is_empty() { line } else { expected };
            assert_eq!(program_line(line).as_deref(), Some(expected));
        }
        for line in ["hush", "creating hush", "Success. hush", "mine: error: hush"] {
            assert_eq!(program_line(line), None);
        }
    }

    #[test]
    fn a_message_may_stand_behind_a_step() {
        assert_eq!(behind_step("running bootstrap script ... 9 [7] "), "9 [7] ");
        assert_eq!(behind_step("hush 9 [7] "), "hush 9 [7] ");
    }
}
