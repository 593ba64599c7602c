//! One connection's side of the conversation.
//!
//! A prepared statement costs one round trip from its first execution on: Parse, Bind, Execute and
//! Sync go out together, and whether the server took the statement shows in the one answer.

mod opening;

use super::asking::Asking;
use super::certificate::certificate_hash;
use super::failure::{self, failure, malformed, refusal};
use super::kept::Kept;
use super::login::Login;
use super::request;
use super::shared::{BIND_END, EXECUTE_AND_SYNC, Form, PostgresShared, Prepared};
use crate::failure::Failure;
use crate::shard::Answer;
use crate::socket::{Address, Asked, Call, Progress, Protocol, Table, TlsWish, Transport};
use dbtime_load::failure::NO_COPY_DATA;
use dbtime_load::program::Value;
use dbtime_load::request::Request;
use dbtime_load::results::Results;
use dbtime_wire::postgres::{
    AnswerReader, ServerError, Transaction, Wants, begin_message, end_message, frontend,
};
use dbtime_wire::{Malformed, Progress as Reading};
use std::collections::VecDeque;

/// One connection.
pub struct PostgresProtocol {
    stage: Stage,
    login: Login,
    reader: AnswerReader,
    /// What the server knows of each statement.
    handles: Box<[Handle]>,
    kept: Kept,
    asking: Asking,
    /// The first failure of a script's pipeline.
    failed: Option<Box<Failure>>,
    /// Statements under way behind the one that is being answered.
    behind: VecDeque<Stage>,
    /// Whether that went out with another.
    is_ahead: bool,
    server: Server,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Waits to hear whether the server encrypts.
    Encrypting(TlsWish),
    LoggingIn,
    Idle,
    /// Executes a query that is no statement of the workload.
    Querying,
    /// Executes this statement of the workload, of which the first row is wanted or not.
    Executing {
        statement: usize,
        wants_row: bool,
    },
    /// Does what a script asked; so many answers are still to come.
    Asked(u32),
}

/// What the server knows of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Handle {
    is_prepared: bool,
    /// It is on its way to be.
    is_sent: bool,
    /// We know the types of its columns.
    is_described: bool,
    /// It was prepared, and has to be again.
    is_stale: bool,
}

/// What the server said of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Server {
    version: String,
    /// Number of the process behind the connection.
    pid: Option<u32>,
}

/// The statement was prepared on another connection, or is forgotten.
const UNKNOWN_STATEMENT: &str = "26000";

/// There is a statement of that name.
const DUPLICATE: &str = "42P05";

/// A table has changed so much that the statement must be prepared anew.
const UNSUPPORTED: &str = "0A000";

impl PostgresProtocol {
    /// The server's version as it says it, such as `15.18 (Debian 15.18-0+deb12u1)`.
    pub fn server_version(&self) -> &str {
        &self.server.version
    }

    /// Number of the server's process behind this connection.
    pub fn backend_pid(&self) -> Option<u32> {
        self.server.pid
    }

    /// Binds values to a prepared statement and executes it, having it prepared where it is not.
    #[inline]
    fn execute_prepared(
        &mut self,
        prepared: &Prepared,
        call: Call<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let handle = &mut self.handles[call.statement.0 as usize];
        if !handle.is_prepared && !handle.is_sent {
            if handle.is_stale {
                out.extend_from_slice(&prepared.close);
            }
            out.extend_from_slice(&prepared.parse);
        }
        if call.wants_row && !handle.is_described {
            out.extend_from_slice(&prepared.describe);
        }
        let begun = begin_message(frontend::BIND, out);
        out.extend_from_slice(&prepared.bind);
        for value in call.parameters {
            request::bound(value, out)?;
        }
        handle.is_sent = !handle.is_prepared;
        out.extend_from_slice(&BIND_END);
        end_message(begun, out);
        out.extend_from_slice(&EXECUTE_AND_SYNC);
        Ok(())
    }

    /// An answer to what a script asked is whole.
    #[inline]
    fn replied(&mut self, answers: u32) -> Progress {
        let answer = self.reader.answer();
        let warnings = answer.notices;
        if let Some(error) = answer.error.as_deref() {
            let failure = failure(error, answer.transaction == Transaction::None);
            if error.is_fatal() {
                return broken(failure);
            }
            self.failed.get_or_insert(Box::new(failure));
        }
        if answers > 1 {
            self.stage = Stage::Asked(answers - 1);
            self.reader.expect(Wants::Rows);
            return Progress::More;
        }
        self.stage = Stage::Idle;
        let failed = self.failed.take();
        self.asking.answered(failed.is_none());
        let rows = match failed {
            Some(failure) => Err(failure),
            None => Ok(self.asking.results().rows()),
        };
        Progress::Answered(Answer { rows, round_trips: 1, warnings, is_sent: true })
    }

    /// An answer is whole.
    #[inline]
    fn answered(&mut self, stage: Stage) -> Progress {
        self.stage = Stage::Idle;
        let round_trips = u32::from(!self.is_ahead);
        let answer = self.reader.answer();
        let error = answer.error.as_deref();
        if let Stage::Executing { statement, wants_row } = stage {
            let handle = &mut self.handles[statement];
            handle.is_prepared |= answer.is_parsed;
            handle.is_stale &= !answer.is_parsed;
            handle.is_sent = false;
            handle.is_described |= wants_row && error.is_none();
        }
        let warnings = answer.notices;
        let rows = match error {
            None if stage == Stage::Idle => {
                return broken(malformed(&Malformed("what nobody asked for")));
            }
            // Whoever answers what nobody asked cannot be followed any further.
            Some(error) if stage == Stage::Idle => return broken(refusal(error)),
            None => Ok(answer.rows),
            Some(error) => {
                let failure = failure(error, answer.transaction == Transaction::None);
                if error.is_fatal() {
                    return broken(failure);
                }
                let error = error.clone();
                self.forget(&error, stage);
                Err(Box::new(failure))
            }
        };
        let next = self.behind.pop_front();
        self.is_ahead = next.is_some();
        if let Some(next) = next {
            self.await_answer(next);
        }
        Progress::Answered(Answer { rows, round_trips, warnings, is_sent: true })
    }

    /// The answer to a statement is next.
    #[inline]
    fn await_answer(&mut self, stage: Stage) {
        self.stage = stage;
        match stage {
            Stage::Executing { statement, wants_row: true } => {
                self.kept.first_of(statement);
                self.reader.expect(Wants::FirstRow);
            }
            _ => self.reader.expect(Wants::Nothing),
        }
    }

    /// Has prepared anew what the server does not know as we do. Closing what it does not know is
    /// no error.
    #[cold]
    fn forget(&mut self, error: &ServerError, stage: Stage) {
        let Stage::Executing { statement, .. } = stage else { return };
        let stale = Handle { is_stale: true, ..Handle::default() };
        let handle = &mut self.handles[statement];
        match error.code.as_str() {
            // Where it was there, all others are gone with it. Where it was not, it was sent behind
            // its own Parse, which has failed.
            UNKNOWN_STATEMENT if handle.is_prepared => self.handles.fill(stale),
            UNKNOWN_STATEMENT | DUPLICATE => *handle = stale,
            UNSUPPORTED => {
                *handle = Handle { is_stale: handle.is_prepared || handle.is_stale, ..stale };
            }
            _ => {}
        }
    }
}

/// Asks whether the server encrypts: length and 1234, 5679.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

/// Nobody has data for a COPY of a workload.
#[cold]
fn refuse_copy(is_prepared: bool, out: &mut Vec<u8>) {
    let begun = begin_message(frontend::COPY_FAIL, out);
    out.extend_from_slice(NO_COPY_DATA.as_bytes());
    out.push(0);
    end_message(begun, out);
    if is_prepared {
        // The one that was sent has been swallowed as part of the data.
        request::empty(frontend::SYNC, out);
    }
}

fn broken(failure: Failure) -> Progress {
    Progress::Broken(Box::new(failure))
}

impl Protocol for PostgresProtocol {
    type Shared = PostgresShared;

    fn new(shared: &PostgresShared) -> Self {
        let statements = shared.statements.len();
        Self {
            stage: Stage::LoggingIn,
            login: Login::default(),
            reader: AnswerReader::new(),
            handles: vec![Handle::default(); statements].into(),
            kept: Kept::new(statements),
            asking: Asking::default(),
            failed: None,
            behind: VecDeque::new(),
            is_ahead: false,
            server: Server::default(),
        }
    }

    fn open(
        &mut self,
        shared: &PostgresShared,
        transport: Transport,
        tls: TlsWish,
        out: &mut Vec<u8>,
    ) {
        *self = Self::new(shared);
        // PostgreSQL encrypts no Unix sockets.
        if tls == TlsWish::No || transport == Transport::Unix {
            out.extend_from_slice(&shared.startup);
        } else {
            self.stage = Stage::Encrypting(tls);
            out.extend_from_slice(&SSL_REQUEST);
        }
    }

    fn encrypted(
        &mut self,
        shared: &PostgresShared,
        certificate: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        self.login.certificate_hash = certificate.and_then(certificate_hash);
        self.stage = Stage::LoggingIn;
        out.extend_from_slice(&shared.startup);
        Ok(())
    }

    fn number(&self) -> Option<u32> {
        self.backend_pid()
    }

    #[inline]
    fn execute(
        &mut self,
        shared: &PostgresShared,
        call: Call<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), Failure> {
        let statement = call.statement.0 as usize;
        let start = out.len();
        let written = match &shared.statements[statement] {
            Form::Message(message) => {
                out.extend_from_slice(message);
                Ok(())
            }
            Form::Text(pieces) => request::query_of(pieces, call.parameters, out),
            Form::Prepared(prepared) => self.execute_prepared(prepared, call, out),
        };
        if let Err(failure) = written {
            out.truncate(start);
            return Err(failure);
        }
        let stage = Stage::Executing { statement, wants_row: call.wants_row };
        match self.stage {
            Stage::Executing { .. } => self.behind.push_back(stage),
            _ => self.await_answer(stage),
        }
        Ok(())
    }

    #[inline]
    fn ask(
        &mut self,
        _: &PostgresShared,
        request: Request<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Asked, Failure> {
        let (asked, answers) = self.asking.write(request, out)?;
        if asked == Asked::Sent {
            self.stage = Stage::Asked(answers);
            self.reader.expect(Wants::Rows);
        }
        Ok(asked)
    }

    fn results(&mut self) -> &mut Results {
        self.asking.results()
    }

    fn query(&mut self, sql: &str, out: &mut Vec<u8>) {
        request::query(sql, out);
        self.kept.all();
        self.stage = Stage::Querying;
        self.reader.expect(Wants::Rows);
    }

    fn take_table(&mut self) -> Table {
        self.kept.take_table()
    }

    fn data(&mut self, data: Option<&[u8]>, out: &mut Vec<u8>) {
        let Some(data) = data else { return request::empty(frontend::COPY_DONE, out) };
        let begun = begin_message(frontend::COPY_DATA, out);
        out.extend_from_slice(data);
        end_message(begun, out);
    }

    #[inline]
    fn receive(
        &mut self,
        shared: &PostgresShared,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> (usize, Progress) {
        let read = match self.stage {
            Stage::Executing { wants_row: false, .. } => self.reader.feed(input, &mut ()),
            Stage::Executing { .. } | Stage::Querying => self.reader.feed(input, &mut self.kept),
            Stage::Asked(_) => self.reader.feed(input, &mut self.asking),
            Stage::Encrypting(tls) => return self.may_encrypt(shared, tls, input, out),
            Stage::LoggingIn => return self.log_in(shared, input, out),
            Stage::Idle => {
                // Notices and changed settings come when they like, and so does a last word.
                if self.reader.is_done() {
                    self.reader.expect(Wants::Nothing);
                }
                self.reader.feed(input, &mut ())
            }
        };
        match (read, self.stage) {
            (Ok((used, Reading::Done)), Stage::Asked(answers)) => (used, self.replied(answers)),
            (Ok((used, Reading::Done)), stage) => (used, self.answered(stage)),
            (Ok((used, Reading::More)), Stage::Asked(_))
                if self.reader.wants_data() && self.asking.has_data() =>
            {
                self.reader.data_settled();
                (used, Progress::More)
            }
            (Ok((used, Reading::More)), Stage::Asked(_))
                if self.reader.wants_data() && self.asking.is_pipeline() =>
            {
                // What was sent behind it has been swallowed as data.
                let text = "COPY FROM STDIN cannot be part of a pipeline";
                (used, broken(Failure::connection("08P01", text)))
            }
            (Ok((used, Reading::More)), stage) if self.reader.wants_data() => {
                let is_prepared = match stage {
                    Stage::Executing { statement, .. } => {
                        Some(matches!(shared.statements[statement], Form::Prepared(_)))
                    }
                    Stage::Asked(_) => Some(self.asking.is_extended()),
                    _ => None,
                };
                if let Some(is_prepared) = is_prepared {
                    self.reader.data_settled();
                    refuse_copy(is_prepared, out);
                }
                (used, Progress::WantsData)
            }
            (Ok((used, Reading::More)), _) => (used, Progress::More),
            (Err(error), _) => (input.len(), broken(malformed(&error))),
        }
    }

    fn first_row(&self) -> &[Value] {
        self.kept.first()
    }

    fn refused(&self, failure: &mut Failure, address: &Address, nth: usize) {
        failure::name_server(failure, address, nth);
    }

    fn farewell(&mut self, out: &mut Vec<u8>) {
        request::empty(frontend::TERMINATE, out);
    }
}
