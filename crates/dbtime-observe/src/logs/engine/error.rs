//! Why logs cannot be digested.

use super::input::STDIN;
use dbtime_model::log_digest::InputKind;
use std::io;
use std::path::{Path, PathBuf};

/// Why logs cannot be digested.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// There is no file.
    #[error("no log is given; name its files, or `-` for standard input")]
    NoInput,
    /// Standard input is there once.
    #[error("standard input (`-`) is given more than once; give it once")]
    InputTwice,
    /// It cannot be opened.
    #[error("cannot open {path}: {source}")]
    Open {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is no file.
    #[error("{path} is a folder; name the logs in it, such as {path}/*.log")]
    Folder {
        /// Its path.
        path: PathBuf,
    },
    /// It is packed in a way that dbtime does not unpack.
    #[error(
        "{path} is packed by {packer}; unpack it on the way: {} | dbtime log -",
        unpacking(.unpacker, .path)
    )]
    Packed {
        /// Its path.
        path: PathBuf,
        /// The program that packed it.
        packer: &'static str,
        /// The one that writes it to its standard output.
        unpacker: &'static str,
    },
    /// Nothing fits.
    #[error(
        "{path} has no format that dbtime knows; its beginning was tried as {tried}; name the \
         format with --read-as ({}), the format string of an access log with --access-format, \
         PostgreSQL's log_line_prefix with --prefix, or the keys of JSON lines with --json-fields",
        kinds()
    )]
    UnknownFormat {
        /// Its path.
        path: PathBuf,
        /// The formats that were tried.
        tried: String,
    },
    /// What was given with a flag is none.
    #[error("{flag}: {cause}")]
    Flag {
        /// The flag.
        flag: &'static str,
        /// What is wrong with it, and what to write instead.
        cause: String,
    },
    /// A pipe has no place to go on from.
    #[error(
        "{path} is a pipe or a device, and --since-last goes on where a file ended; leave out \
         --since-last, or name the file itself"
    )]
    StateOfPipe {
        /// Its path.
        path: PathBuf,
    },
    /// The file of the state is of something else.
    #[error(
        "{path} is no state of `dbtime log` ({cause}), and is not overwritten; name another file \
         with --since-last, or remove it to begin anew"
    )]
    ForeignState {
        /// Its path.
        path: PathBuf,
        /// What it lacks.
        cause: String,
    },
    /// Another digest has written the state meanwhile.
    #[error(
        "the state {path} changed while this command read: another one has counted records that \
         are in this output too, so that only one of the two is to be used; start such commands \
         one after the other, or give each a state of its own"
    )]
    StateChanged {
        /// Its path.
        path: PathBuf,
    },
    /// The state cannot be written.
    #[error(
        "cannot write the state {path}: {source}; the next digest reads the same records again"
    )]
    WriteState {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// The command that unpacks a file, or what comes from a pipe.
fn unpacking(unpacker: &str, path: &Path) -> String {
    if path == Path::new(STDIN) {
        format!("… | {unpacker}")
    } else {
        format!("{unpacker} {}", path.display())
    }
}

/// The names of the formats, as a flag takes them.
fn kinds() -> String {
    InputKind::ALL.map(InputKind::name).join(", ")
}
