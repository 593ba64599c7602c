//! One connection's side of the conversation.
//!
//! A prepared statement costs one round trip from its first execution on: Parse, Bind, Execute and
//! Sync go out together, and whether the server took the statement shows in the one answer.

mod handshake;

use super::adhoc::PostgresAdHocSession;
use super::certificate::certificate_hash;
use super::failure::{self, failure, malformed, refusal};
use super::login::PostgresLogin;
use super::request;
use super::row_sink::PostgresRowSink;
use super::shared::{
    BIND_END, EXECUTE_AND_SYNC, PostgresPrepared, PostgresShared, PostgresStatementForm,
};
use crate::drive::shard::StatementResult;
use crate::server::{PreparedForm, RowStreamer, RowVisitor};
use crate::socket::{
    Protocol, ProtocolProgress, QueryTable, ServerAddress, SubmitResult, TlsRequirement, Transport,
};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::failure::NO_COPY_DATA;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_load::session::StatementCall;
use dbtime_wire::postgres::{
    ExpectedResponse, PostgresError, PostgresResponseReader, TransactionStatus, begin_message,
    end_message, frontend,
};
use dbtime_wire::{MalformedMessage, ReadProgress as Reading};
use std::collections::VecDeque;

/// One connection.
pub struct PostgresProtocol {
    stage: PostgresStage,
    login: PostgresLogin,
    reader: PostgresResponseReader,
    /// What the server knows of each statement.
    handles: Box<[PostgresStatementHandle]>,
    kept: PostgresRowSink,
    adhoc: PostgresAdHocSession,
    /// The first failure of a script's pipeline.
    failed: Option<Box<DatabaseFailure>>,
    /// Statements under way behind the one that is being answered.
    behind: VecDeque<PostgresStage>,
    /// Whether that went out with another.
    is_ahead: bool,
    server: ServerParameters,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PostgresStage {
    /// Waits to hear whether the server encrypts.
    Encrypting(TlsRequirement),
    LoggingIn,
    Idle,
    /// Executes a query that is no statement of the workload.
    Querying,
    /// Executes this statement of the workload, of which the first row is wanted or not.
    Executing {
        statement: usize,
        needs_row: bool,
    },
    /// Does what a script asked; so many answers are still to come.
    AdHoc(u32),
}

/// What the server knows of a statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct PostgresStatementHandle {
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
struct ServerParameters {
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

    /// How often the server had the password hashed to let this connection in by SCRAM; `None`: it
    /// did so otherwise.
    pub(super) fn scram_iterations(&self) -> Option<u64> {
        self.login.iterations
    }

    /// Binds values to a prepared statement and executes it, having it prepared where it is not.
    #[inline]
    fn execute_prepared(
        &mut self,
        prepared: &PostgresPrepared,
        call: StatementCall<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure> {
        let handle = &mut self.handles[call.statement.0 as usize];
        if !handle.is_prepared && !handle.is_sent {
            if handle.is_stale {
                out.extend_from_slice(&prepared.close);
            }
            out.extend_from_slice(&prepared.parse);
        }
        if call.needs_row && !handle.is_described {
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
    fn replied(&mut self, answers: u32) -> ProtocolProgress {
        let answer = self.reader.answer();
        let (answered, warnings) = (answer.rows, answer.notices);
        let parameters = answer.parameters;
        if let Some(error) = answer.error.as_deref() {
            let failure = failure(error, answer.transaction == TransactionStatus::None);
            if error.is_fatal() {
                return broken(failure);
            }
            self.failed.get_or_insert(Box::new(failure));
        }
        if answers > 1 {
            self.stage = PostgresStage::AdHoc(answers - 1);
            self.reader.expect(ExpectedResponse::Rows);
            return ProtocolProgress::More;
        }
        self.stage = PostgresStage::Idle;
        let failed = self.failed.take();
        self.adhoc.answered(failed.is_none(), parameters);
        let rows = match failed {
            Some(failure) => Err(failure),
            None => Ok(self.adhoc.rows(answered)),
        };
        ProtocolProgress::Answered(StatementResult {
            rows,
            round_trips: 1,
            warnings,
            is_sent: true,
        })
    }

    /// An answer is whole.
    #[inline]
    fn answered(&mut self, stage: PostgresStage) -> ProtocolProgress {
        self.stage = PostgresStage::Idle;
        let round_trips = u32::from(!self.is_ahead);
        let answer = self.reader.answer();
        let error = answer.error.as_deref();
        if let PostgresStage::Executing { statement, needs_row } = stage {
            let handle = &mut self.handles[statement];
            handle.is_prepared |= answer.is_parsed;
            handle.is_stale &= !answer.is_parsed;
            handle.is_sent = false;
            handle.is_described |= needs_row && error.is_none();
        }
        let warnings = answer.notices;
        let rows = match error {
            None if stage == PostgresStage::Idle => {
                return broken(malformed(&MalformedMessage("what was not asked for")));
            }
            // A server that answers what was not asked cannot be followed any further.
            Some(error) if stage == PostgresStage::Idle => return broken(refusal(error)),
            None => Ok(answer.rows),
            Some(error) => {
                let failure = failure(error, answer.transaction == TransactionStatus::None);
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
        ProtocolProgress::Answered(StatementResult { rows, round_trips, warnings, is_sent: true })
    }

    /// The answer to a statement is next.
    #[inline]
    fn await_answer(&mut self, stage: PostgresStage) {
        self.stage = stage;
        match stage {
            PostgresStage::Executing { statement, needs_row: true } => {
                self.kept.first_of(statement);
                self.reader.expect(ExpectedResponse::FirstRow);
            }
            _ => self.reader.expect(ExpectedResponse::Nothing),
        }
    }

    /// Has prepared anew what the server does not know as we do. Closing what it does not know is
    /// no error.
    #[cold]
    fn forget(&mut self, error: &PostgresError, stage: PostgresStage) {
        let PostgresStage::Executing { statement, .. } = stage else { return };
        let stale =
            PostgresStatementHandle { is_stale: true, ..PostgresStatementHandle::default() };
        let handle = &mut self.handles[statement];
        match error.code.as_str() {
            // Where it was there, all others are gone with it. Where it was not, it was sent behind
            // its own Parse, which has failed.
            UNKNOWN_STATEMENT if handle.is_prepared => self.handles.fill(stale),
            UNKNOWN_STATEMENT | DUPLICATE => *handle = stale,
            UNSUPPORTED => {
                *handle = PostgresStatementHandle {
                    is_stale: handle.is_prepared || handle.is_stale,
                    ..stale
                };
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

fn broken(failure: DatabaseFailure) -> ProtocolProgress {
    ProtocolProgress::Broken(Box::new(failure))
}

impl Protocol for PostgresProtocol {
    type Shared = PostgresShared;

    fn new(shared: &PostgresShared) -> Self {
        let statements = shared.statements.len();
        Self {
            stage: PostgresStage::LoggingIn,
            login: PostgresLogin::default(),
            reader: PostgresResponseReader::new(),
            handles: vec![PostgresStatementHandle::default(); statements].into(),
            kept: PostgresRowSink::new(statements),
            adhoc: PostgresAdHocSession::default(),
            failed: None,
            behind: VecDeque::new(),
            is_ahead: false,
            server: ServerParameters::default(),
        }
    }

    fn open(
        &mut self,
        shared: &PostgresShared,
        transport: Transport,
        tls: TlsRequirement,
        out: &mut Vec<u8>,
    ) {
        *self = Self::new(shared);
        // PostgreSQL encrypts no Unix sockets.
        if tls == TlsRequirement::No || transport == Transport::Unix {
            out.extend_from_slice(&shared.startup);
        } else {
            self.stage = PostgresStage::Encrypting(tls);
            out.extend_from_slice(&SSL_REQUEST);
        }
    }

    fn encrypted(
        &mut self,
        shared: &PostgresShared,
        certificate: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure> {
        self.login.certificate_hash = certificate.and_then(certificate_hash);
        self.stage = PostgresStage::LoggingIn;
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
        call: StatementCall<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure> {
        let statement = call.statement.0 as usize;
        let start = out.len();
        let written = match &shared.statements[statement] {
            PostgresStatementForm::Message(message) => {
                out.extend_from_slice(message);
                Ok(())
            }
            PostgresStatementForm::Text(pieces) => request::query_of(pieces, call.parameters, out),
            PostgresStatementForm::Prepared(prepared) => self.execute_prepared(prepared, call, out),
        };
        if let Err(failure) = written {
            out.truncate(start);
            return Err(failure);
        }
        let stage = PostgresStage::Executing { statement, needs_row: call.needs_row };
        match self.stage {
            PostgresStage::Executing { .. } => self.behind.push_back(stage),
            _ => self.await_answer(stage),
        }
        Ok(())
    }

    #[inline]
    fn perform(
        &mut self,
        _: &PostgresShared,
        op: ConnectionOp<'_>,
        out: &mut Vec<u8>,
    ) -> Result<SubmitResult, DatabaseFailure> {
        let (submitted, answers) = self.adhoc.write(op, out)?;
        if submitted == SubmitResult::Sent {
            self.stage = PostgresStage::AdHoc(answers);
            self.reader.expect(ExpectedResponse::Rows);
        }
        Ok(submitted)
    }

    fn results(&mut self) -> &mut ResultSets {
        self.adhoc.results()
    }

    fn query(&mut self, sql: &str, out: &mut Vec<u8>) {
        request::query(sql, out);
        self.kept.all();
        self.stage = PostgresStage::Querying;
        self.reader.expect(ExpectedResponse::Rows);
    }

    fn take_table(&mut self) -> Option<QueryTable> {
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
    ) -> (usize, ProtocolProgress) {
        let read = match self.stage {
            PostgresStage::Executing { needs_row: false, .. } => self.reader.feed(input, &mut ()),
            PostgresStage::Executing { .. } | PostgresStage::Querying => {
                self.reader.feed(input, &mut self.kept)
            }
            PostgresStage::AdHoc(_) => self.reader.feed(input, &mut self.adhoc),
            PostgresStage::Encrypting(tls) => return self.may_encrypt(shared, tls, input, out),
            PostgresStage::LoggingIn => return self.log_in(shared, input, out),
            PostgresStage::Idle => {
                // Notices and changed settings come when they like, and so does a last word.
                if self.reader.is_done() {
                    self.reader.expect(ExpectedResponse::Nothing);
                }
                self.reader.feed(input, &mut ())
            }
        };
        match (read, self.stage) {
            (Ok((used, Reading::Done)), PostgresStage::AdHoc(answers)) => {
                (used, self.replied(answers))
            }
            (Ok((used, Reading::Done)), stage) => (used, self.answered(stage)),
            (Ok((used, Reading::More)), PostgresStage::AdHoc(_))
                if self.reader.needs_copy_data() && self.adhoc.has_data() =>
            {
                self.reader.data_settled();
                (used, ProtocolProgress::More)
            }
            (Ok((used, Reading::More)), PostgresStage::AdHoc(_))
                if self.reader.needs_copy_data() && self.adhoc.is_pipeline() =>
            {
                // What was sent behind it has been swallowed as data.
                let text = "COPY FROM STDIN cannot be part of a pipeline";
                (used, broken(DatabaseFailure::connection("08P01", text)))
            }
            (Ok((used, Reading::More)), stage) if self.reader.needs_copy_data() => {
                let is_prepared = match stage {
                    PostgresStage::Executing { statement, .. } => Some(matches!(
                        shared.statements[statement],
                        PostgresStatementForm::Prepared(_)
                    )),
                    PostgresStage::AdHoc(_) => Some(self.adhoc.is_extended()),
                    _ => None,
                };
                if let Some(is_prepared) = is_prepared {
                    self.reader.data_settled();
                    refuse_copy(is_prepared, out);
                }
                (used, ProtocolProgress::WantsData)
            }
            (Ok((used, Reading::More)), _) => (used, ProtocolProgress::More),
            (Err(error), _) => (input.len(), broken(malformed(&error))),
        }
    }

    fn first_row(&self) -> &[SqlValue] {
        self.kept.first()
    }

    fn refused(&self, failure: &mut DatabaseFailure, address: &ServerAddress, nth: usize) {
        failure::name_server(failure, address, nth);
    }

    fn terminate(&mut self, out: &mut Vec<u8>) {
        request::empty(frontend::TERMINATE, out);
    }
}

impl RowStreamer for PostgresProtocol {
    fn stream_rows(&mut self) {
        self.adhoc.stream_rows();
    }

    fn hand_over(&mut self, rows: &mut dyn RowVisitor) {
        self.adhoc.hand_over(rows);
    }

    fn unlisted_rows(&self) -> u64 {
        self.adhoc.unlisted_rows()
    }

    fn described(&self, handle: u32) -> PreparedForm {
        self.adhoc.described(handle)
    }
}
