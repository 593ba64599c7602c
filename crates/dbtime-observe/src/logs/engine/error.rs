//! Why logs cannot be digested.

use super::input::STDIN;
use dbtime_model::log_digest::{InputKind, LogDigest};
use dbtime_model::units::counted;
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
    #[error("cannot open {}: {source}", place(.path))]
    Open {
        /// Its path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It cannot be read.
    #[error("cannot read {}: {source}", place(.path))]
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
        "{} is packed by {packer}; unpack it on the way: {} | dbtime log -",
        place(.path),
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
        "{} has no format that dbtime knows; its beginning was tried as {tried}; {}{}",
        place(.path),
        remedy(),
        consumed(.is_pipe)
    )]
    UnknownFormat {
        /// Its path.
        path: PathBuf,
        /// The formats that were tried.
        tried: String,
        /// Whether what was read of it is not there any more.
        is_pipe: bool,
    },
    /// It is a log that has a name, and nothing that dbtime reads.
    #[error(
        "{} is {name}, which dbtime does not read; {remedy}{}",
        place(.path),
        consumed(.is_pipe)
    )]
    ForeignFormat {
        /// Its path.
        path: PathBuf,
        /// What it is.
        name: &'static str,
        /// What to read in its place.
        remedy: &'static str,
        /// Whether what was read of it is not there any more.
        is_pipe: bool,
    },
    /// Not one line of it has the form of the format that it was read by.
    #[error(
        "{}{}: not one line has the form of this format ({title}, {because}); {}",
        place(.path),
        also(.further),
        remedy()
    )]
    Misread {
        /// Its path.
        path: PathBuf,
        /// How many further files of the digest are like that.
        further: u64,
        /// The format that it was read by.
        title: &'static str,
        /// Why it was read by that.
        because: String,
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

/// A file, or what `-` stands for.
fn place(path: &Path) -> String {
    if path == Path::new(STDIN) { "standard input".to_owned() } else { path.display().to_string() }
}

/// That the beginning of a pipe is not there any more.
fn consumed(is_pipe: &bool) -> &'static str {
    match *is_pipe {
        true => "; what was read of the pipe is gone: send it again from its beginning",
        false => "",
    }
}

/// The command that unpacks a file, or what comes from a pipe.
fn unpacking(unpacker: &str, path: &Path) -> String {
    if path == Path::new(STDIN) {
        format!("… | {unpacker}")
    } else {
        format!("{unpacker} {}", path.display())
    }
}

impl LogError {
    /// What is wrong with a digest where not one line of a file has the form of its format; `None`:
    /// there is no such file.
    pub fn of_misread(digest: &LogDigest) -> Option<Self> {
        let mut misread = digest.inputs.iter().filter(|input| input.is_misread);
        let first = misread.next()?;
        Some(Self::Misread {
            path: PathBuf::from(&first.path),
            further: misread.count() as u64,
            title: first.kind.title(),
            because: first.because.clone(),
        })
    }
}

/// So many further files.
fn also(further: &u64) -> String {
    match *further {
        0 => String::new(),
        further => format!(" and {}", counted(further, "further file")),
    }
}

/// The flags that name a format.
fn remedy() -> String {
    format!(
        "name the format with --read-as ({}), the format string of an access log with \
         --access-format, PostgreSQL's log_line_prefix with --prefix, or the keys of JSON lines \
         with --json-fields",
        InputKind::ALL.map(InputKind::name).join(", ")
    )
}
