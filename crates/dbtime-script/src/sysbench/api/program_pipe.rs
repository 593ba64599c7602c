//! Programs that a script reads from or writes to, by `io.popen` or `ffi.C.popen`.
//!
//! The C library's own way flushes all open files first. It waits there for a file that another
//! thread reads, and holds the list of files meanwhile, which the end of the process waits for.

use super::HostFunctions;
use crate::programs::{ScriptChild, raw_status, shell_command};
use crate::sysbench::lua_host::LuaHost;
use mlua::{Error, LuaString, Result, UserData, UserDataMethods};
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::IntoRawFd;
use std::os::unix::ffi::OsStrExt;
use std::process::{ChildStdin, ChildStdout, ExitStatus, Stdio};
use std::rc::Rc;

/// A longer text is no number, as in later versions of Lua.
const MAX_NUMBER_BYTES: usize = 200;

/// What C says of a failure: its words and its number. Nothing: all went well.
type CFailure = (Option<String>, Option<i32>);

/// Our end of the pipe.
enum PipeEnd {
    Reader(BufReader<ChildStdout>),
    Writer(ChildStdin),
    Closed,
}

/// How much of what a program prints is read at once.
#[derive(Clone, Copy)]
enum PipePortion {
    Line,
    Bytes(u64),
    All,
}

/// A program with the pipe to it.
struct ProgramPipe {
    end: PipeEnd,
    child: ScriptChild,
    lua_host: Rc<LuaHost>,
}

impl ProgramPipe {
    fn open(line: &OsStr, is_read: bool, lua_host: Rc<LuaHost>) -> io::Result<Self> {
        let mut command = shell_command(line);
        match is_read {
            true => command.stdout(Stdio::piped()),
            false => command.stdin(Stdio::piped()),
        };
        let mut child = ScriptChild::start(&mut command)?;
        let end = match (child.take_stdout(), child.take_stdin()) {
            (Some(stdout), _) => PipeEnd::Reader(BufReader::new(stdout)),
            (None, Some(stdin)) => PipeEnd::Writer(stdin),
            (None, None) => PipeEnd::Closed,
        };
        Ok(Self { end, child, lua_host })
    }

    /// Reads from the program with something that waits for it.
    fn read<T>(
        &mut self,
        take: impl FnOnce(&mut BufReader<ChildStdout>) -> io::Result<T>,
    ) -> Result<T> {
        let PipeEnd::Reader(reader) = &mut self.end else {
            return Err(Error::runtime("attempt to use a closed file"));
        };
        self.lua_host.visits.await_program(|| take(reader)).map_err(Error::external)
    }

    fn read_portion(&mut self, portion: PipePortion) -> Result<Vec<u8>> {
        // What is read is not Lua's yet, and has Lua's limit all the same.
        let limit = match self.lua_host.setup.settings.memory_limit {
            0 => u64::MAX,
            limit => limit as u64,
        };
        let mut bytes = Vec::new();
        self.read(|reader| match portion {
            PipePortion::Line => reader.take(limit).read_until(b'\n', &mut bytes),
            PipePortion::Bytes(count) => reader.take(count.min(limit)).read_to_end(&mut bytes),
            PipePortion::All => reader.take(limit).read_to_end(&mut bytes),
        })?;
        if bytes.len() as u64 >= limit {
            return Err(Error::MemoryError("not enough memory".to_owned()));
        }
        Ok(bytes)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let PipeEnd::Writer(writer) = &mut self.end else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        self.lua_host.visits.await_program(|| writer.write_all(bytes))
    }

    /// Gives our end away, as a descriptor for a file of C: the script closes it, or leaves the
    /// program for good. `None`: it is closed.
    fn give_away(&mut self) -> Option<i32> {
        let descriptor = match std::mem::replace(&mut self.end, PipeEnd::Closed) {
            PipeEnd::Reader(reader) => reader.into_inner().into_raw_fd(),
            PipeEnd::Writer(writer) => writer.into_raw_fd(),
            PipeEnd::Closed => return None,
        };
        self.child.leave();
        Some(descriptor)
    }

    /// The program learns of the pipe's end before it is waited for.
    fn await_end(&mut self) -> io::Result<ExitStatus> {
        self.end = PipeEnd::Closed;
        self.lua_host.visits.await_program(|| self.child.wait())
    }
}

impl Drop for ProgramPipe {
    fn drop(&mut self) {
        if !self.child.is_left() {
            // The script has not closed it, and asks for no outcome.
            let _ = self.await_end();
        }
    }
}

impl UserData for ProgramPipe {
    fn add_methods<M: UserDataMethods<Self>>(methods: &mut M) {
        methods.add_method_mut("line", |lua, this, keeps_newline: bool| {
            let mut line = this.read_portion(PipePortion::Line)?;
            let is_there = !line.is_empty();
            if !keeps_newline && line.ends_with(b"\n") {
                line.pop();
            }
            is_there.then(|| lua.create_string(&line)).transpose()
        });
        methods.add_method_mut("bytes", |lua, this, count: f64| {
            let count = count as u64;
            let bytes = this.read_portion(PipePortion::Bytes(count))?;
            // Who reads none learns whether there are more.
            let is_there = match count {
                0 => this.read(|reader| Ok(!reader.fill_buf()?.is_empty()))?,
                _ => !bytes.is_empty(),
            };
            is_there.then(|| lua.create_string(&bytes)).transpose()
        });
        methods.add_method_mut("all", |lua, this, ()| {
            lua.create_string(this.read_portion(PipePortion::All)?)
        });
        methods.add_method_mut("number", |_, this, ()| this.read(read_number));
        methods.add_method_mut("write", |_, this, text: LuaString| {
            Ok(failure_of(this.write(&text.as_bytes())))
        });
        methods.add_method_mut("close", |_, this, ()| Ok(failure_of(this.await_end().map(drop))));
        methods.add_method_mut("give_away", |_, this, ()| Ok(this.give_away()));
        methods.add_method_mut("status", |_, this, ()| Ok(raw_status(this.await_end())));
    }
}

pub(super) fn install(host: &HostFunctions<'_>) -> Result<()> {
    host.define("open_program", |_, on, (command, is_read): (LuaString, bool)| {
        let command = command.as_bytes();
        match ProgramPipe::open(OsStr::from_bytes(&command), is_read, Rc::clone(on)) {
            Ok(pipe) => Ok((Some(pipe), None, None)),
            Err(error) => {
                let (words, number) = failure_of(Err(error));
                Ok((None, words, number))
            }
        }
    })
}

fn failure_of(outcome: io::Result<()>) -> CFailure {
    let Err(error) = outcome else { return (None, None) };
    let words = error.to_string();
    // The number follows by itself.
    let words = words.split(" (os error").next().unwrap_or_default();
    (Some(words.to_owned()), error.raw_os_error())
}

/// A decimal number as C's `scanf` takes it, with the blanks before it; `None`: there is none.
fn read_number(reader: &mut BufReader<ChildStdout>) -> io::Result<Option<f64>> {
    let mut text = String::new();
    while text.len() < MAX_NUMBER_BYTES {
        let Some(&byte) = reader.fill_buf()?.first() else { break };
        if !(text.is_empty() && byte.is_ascii_whitespace()) {
            text.push(char::from(byte));
            if !begins_number(&text) {
                text.pop();
                break;
            }
        }
        reader.consume(1);
    }
    Ok(text.parse().ok())
}

/// Whether a number can begin with this.
fn begins_number(text: &str) -> bool {
    let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let text = unsigned(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, ""));
    let has_exponent = mantissa.len() < text.len();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    are_digits(whole)
        && are_digits(fraction)
        && (!has_exponent || has_digits && are_digits(unsigned(exponent)))
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix(['+', '-']).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::begins_number;

    #[test]
    fn a_number_ends_where_it_cannot_go_on() {
        for text in ["", "-", "+1", "12", "1.", ".5", "1.5e", "1e-", "2E+07"] {
            assert!(begins_number(text), "{text}");
        }
        for text in ["x", "--", "1-", "1.2.", "e", ".e", "1e5.", "1e-x", "1 "] {
            assert!(!begins_number(text), "{text}");
        }
    }
}
