//! Texts of statements that were prepared before anybody watched, asked of the servers themselves.
//!
//! A probe costs a trap at each execution, about a microsecond. So the probes are there only while
//! statements come whose text is not known; each is asked for once.

use super::TraceError;
use super::helper::{Helper, Places};
use super::listener::Listener;
use super::loading::Refused;
use super::program::{BRANCH_TARGET, Program};
use dbtime_model::traced::Protocol;
use std::fs::File;
use std::time::{Duration, Instant};

/// The probes go when they have not been needed for so long.
const PATIENCE: Duration = Duration::from_secs(10);

/// MariaDB: what executes a prepared statement, of which the text lies where that of a connection's
/// statement lies in the connection: both are statements first of all.
const EXECUTE: &str = "_ZN18Prepared_statement12execute_loopEP6StringbPhS2_";
const TEXT_OF_CONNECTION: &str = "thd_query_string";

/// PostgreSQL: says what it is about to do.
const ACTIVITY: &str = "pgstat_report_activity";

/// Where a server tells.
#[derive(Debug)]
pub(super) struct Teller {
    /// Its program file, which others may run when this server has ended.
    file: File,
    /// The kernel's program that listens.
    listener: &'static str,
    /// In the file.
    offset: usize,
    /// What the listener has to know.
    cookie: u64,
}

impl Teller {
    /// The place in a server's program.
    ///
    /// # Errors
    /// Why there is none, for people.
    pub(super) fn find(protocol: Protocol, file: &File, program: &Program) -> Result<Self, String> {
        let (listener, function, cookie) = match protocol {
            Protocol::Mysql => ("on_execute", EXECUTE, text_offset(program)?),
            Protocol::Postgres => ("on_activity", ACTIVITY, 0),
        };
        let offset = program.entry(program.place(function)?);
        let file = file.try_clone().map_err(|error| error.to_string())?;
        Ok(Self { file, listener, offset, cookie })
    }
}

/// Where a statement has its text: what the function that returns it adds to its argument.
fn text_offset(program: &Program) -> Result<u64, String> {
    let code = &program.code()?[program.place(TEXT_OF_CONNECTION)?..];
    let code = code.strip_prefix(&BRANCH_TARGET).unwrap_or(code);
    // lea distance(%rdi), %rax; ret
    match code {
        [0x48, 0x8d, 0x47, distance @ 0..=0x7f, 0xc3, ..] => Ok(u64::from(*distance)),
        [0x48, 0x8d, 0x87, a, b, c, 0, 0xc3, ..] => Ok(u32::from_le_bytes([*a, *b, *c, 0]).into()),
        _ => Err(format!("{TEXT_OF_CONNECTION} does not look as expected")),
    }
}

/// The probes, while they are there.
#[derive(Default)]
pub(super) struct Texts {
    tellers: Vec<Teller>,
    is_listening: bool,
    nameless: u64,
    needed: Option<Instant>,
}

impl Texts {
    /// Where connections have been there before, servers are listened to at once.
    pub(super) fn new(has_clients: bool) -> Self {
        Self { needed: has_clients.then(Instant::now), ..Self::default() }
    }

    /// Further servers tell.
    ///
    /// # Errors
    /// There is no helper.
    pub(super) fn add(
        &mut self,
        helper: &mut Helper,
        tellers: impl Iterator<Item = Teller>,
    ) -> Result<(), TraceError> {
        let before = self.tellers.len();
        self.tellers.extend(tellers);
        // With the next that is needed they are all there again.
        if self.tellers.len() > before { self.cease(helper) } else { Ok(()) }
    }

    /// Listens or ceases to; `nameless` is how many statements without a text there have been.
    ///
    /// # Errors
    /// The probes cannot be attached, for people.
    pub(super) fn tend(
        &mut self,
        helper: &mut Helper,
        refused: &Refused,
        nameless: u64,
    ) -> Result<(), String> {
        if nameless > self.nameless {
            (self.nameless, self.needed) = (nameless, Some(Instant::now()));
        }
        let is_needed = self.needed.is_some_and(|needed| needed.elapsed() < PATIENCE);
        if !is_needed {
            self.cease(helper).map_err(|error| error.to_string())
        } else if self.is_listening {
            Ok(())
        } else {
            self.listen(helper, refused)
        }
    }

    /// Gives it up.
    ///
    /// # Errors
    /// There is no helper.
    pub(super) fn give_up(&mut self, helper: &mut Helper) -> Result<(), TraceError> {
        self.tellers.clear();
        self.cease(helper)
    }

    /// Listens no more.
    fn cease(&mut self, helper: &mut Helper) -> Result<(), TraceError> {
        match std::mem::take(&mut self.is_listening) {
            true => helper.cease(),
            false => Ok(()),
        }
    }

    fn listen(&mut self, helper: &mut Helper, refused: &Refused) -> Result<(), String> {
        for Teller { file, listener, offset, cookie } in &self.tellers {
            self.is_listening = true;
            let places = Places {
                offsets: vec![*offset],
                cookies: vec![*cookie],
                is_for_text: true,
                ..Places::default()
            };
            Listener { helper, file, refused }.attach(listener, places)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::program::tests::program;
    use super::*;

    #[test]
    fn the_distance_is_read_from_the_function_that_adds_it() {
        let of = |code: &[u8]| {
            text_offset(&program(code.to_vec(), &[(TEXT_OF_CONNECTION, 0..code.len() as u64)]))
        };
        assert_eq!(of(&[0x48, 0x8d, 0x47, 0x68, 0xc3]), Ok(0x68));
        assert_eq!(of(&[0x48, 0x8d, 0x87, 0x10, 0x02, 0, 0, 0xc3]), Ok(0x210));
        assert_eq!(of(&[0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8d, 0x47, 8, 0xc3]), Ok(8));
        assert!(of(&[0x55, 0xc3]).expect_err("another").contains("expected"));
        assert!(of(&[]).is_err());
    }

    #[test]
    fn a_probe_goes_behind_a_mark_for_branches() {
        let code = [&[0x90, 0x90][..], &BRANCH_TARGET, &[0x55]].concat();
        let program = program(code, &[(ACTIVITY, 2..7)]);
        let file = File::open("/proc/self/exe").expect("it runs");
        let find = |protocol| Teller::find(protocol, &file, &program);
        let teller = find(Protocol::Postgres).expect("found");
        assert_eq!((teller.listener, teller.offset), ("on_activity", 6));
        let missing = find(Protocol::Mysql).expect_err("another's");
        assert!(missing.contains("does not export"), "{missing}");
    }
}
