//! One connection's side of the conversation.

mod handshake;

use super::adhoc::{AwaitedReply, MysqlAdHocSession};
use super::error::{failure, malformed};
use super::greeting::ServerGreeting;
use super::login::MysqlLogin;
use super::request;
use super::row_sink::{MysqlRowSink, RowRetention};
use super::shared::{MysqlShared, MysqlStatementForm};
use crate::drive::shard::StatementResult;
use crate::server::{PreparedForm, RowStreamer, RowVisitor};
use crate::socket::{
    Protocol, ProtocolProgress, QueryTable, SubmitResult, TlsRequirement, Transport,
};
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_load::session::StatementCall;
use dbtime_model::StatementId;
use dbtime_wire::mysql::{
    ExpectedReply, HEADER, MysqlResponseReader, command, header, write_packet,
};
use dbtime_wire::{MalformedMessage, ReadProgress as Reading};
use handshake::read_error;
use std::collections::VecDeque;

/// One connection.
pub(crate) struct MysqlProtocol {
    stage: MysqlStage,
    login: MysqlLogin,
    greeting: ServerGreeting,
    reader: MysqlResponseReader,
    /// What the server knows of each statement.
    handles: Box<[MysqlStatementHandle]>,
    /// Statements whose PREPARE has been sent, in the order of their answers.
    preparing: VecDeque<StatementId>,
    /// What is executed once they have come, in this order.
    waiting: VecDeque<(StatementId, Vec<SqlValue>, bool)>,
    /// Which rows are kept of the statements under way behind the one that is being answered.
    behind: VecDeque<RowRetention>,
    /// Why it cannot be.
    refused: Option<Box<DatabaseFailure>>,
    round_trips: u32,
    /// Whether backslashes in strings are escapes.
    backslash: bool,
    /// Whether the server's sessions begin without auto-commit, which workloads count on.
    sets_autocommit: bool,
    kept: MysqlRowSink,
    adhoc: MysqlAdHocSession,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MysqlStage {
    Greeting,
    LoggingIn,
    /// Waits for the answer to this setup statement.
    SettingUp(usize),
    Idle,
    Preparing,
    Executing,
    /// Does what a script asked.
    AdHoc(AwaitedReply),
}

/// What the server knows of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MysqlStatementHandle {
    Unknown,
    Prepared(u32),
    /// It does not prepare such statements.
    AsText,
}

/// Status flag: backslashes are ordinary characters.
const NO_BACKSLASH_ESCAPES: u16 = 0x0200;

/// The server prepares no such statement.
const UNSUPPORTED_PS: u16 = 1295;

impl MysqlProtocol {
    /// The server's version as it says it, without MariaDB's old disguise.
    pub(crate) fn server_version(&self) -> &str {
        &self.greeting.version
    }

    /// Whether backslashes in strings are escapes.
    pub(crate) fn reads_backslashes(&self) -> bool {
        self.backslash
    }

    #[inline]
    fn expect(&mut self, expect: ExpectedReply, keep: RowRetention) {
        self.kept.begin(keep);
        self.reader.expect(expect, self.kept.is_kept());
    }

    /// Sends a statement that needs no preparing.
    #[inline]
    fn send(&mut self, shared: &MysqlShared, call: StatementCall<'_>, out: &mut Vec<u8>) {
        let statement = &shared.statements[call.statement.0 as usize];
        let handle = self.handles[call.statement.0 as usize];
        let is_binary = match (&statement.form, handle) {
            (MysqlStatementForm::Packet(packet), _) => {
                out.extend_from_slice(packet);
                false
            }
            (MysqlStatementForm::Prepared { .. }, MysqlStatementHandle::Prepared(id)) => {
                request::execute(id, call.parameters, out);
                true
            }
            (MysqlStatementForm::Text(pieces) | MysqlStatementForm::Prepared { pieces, .. }, _) => {
                request::text_query(pieces, call.parameters, self.backslash, out);
                false
            }
        };
        let keep = match (call.needs_row, is_binary) {
            (false, _) => RowRetention::Nothing,
            (true, true) => RowRetention::FirstBinary,
            (true, false) => RowRetention::FirstText,
        };
        match self.stage {
            MysqlStage::Executing => self.behind.push_back(keep),
            _ => self.await_results(keep),
        }
    }

    /// The answer to a statement is next.
    #[inline]
    fn await_results(&mut self, keep: RowRetention) {
        self.stage = MysqlStage::Executing;
        self.expect(ExpectedReply::Results, keep);
    }

    fn must_be_prepared(&self, shared: &MysqlShared, statement: StatementId) -> bool {
        let index = statement.0 as usize;
        let is_prepared =
            matches!(shared.statements[index].form, MysqlStatementForm::Prepared { .. });
        is_prepared && self.handles[index] == MysqlStatementHandle::Unknown
    }

    /// Sends what has waited, up to what must be prepared first; that once nothing is under way.
    #[cold]
    fn go_on(&mut self, shared: &MysqlShared, out: &mut Vec<u8>) {
        while let Some((statement, ..)) = self.waiting.front() {
            if self.must_be_prepared(shared, *statement) {
                if self.stage == MysqlStage::Idle {
                    self.prepare(shared, *statement, out);
                }
                return;
            }
            self.send_waiting(shared, out);
        }
    }

    fn send_waiting(&mut self, shared: &MysqlShared, out: &mut Vec<u8>) {
        if let Some((statement, parameters, needs_row)) = self.waiting.pop_front() {
            let parameters = parameters.as_slice();
            self.send(shared, StatementCall { statement, parameters, needs_row }, out);
        }
    }

    /// Asks the server to prepare all statements of an operation at once, in one round trip.
    fn prepare(&mut self, shared: &MysqlShared, first: StatementId, out: &mut Vec<u8>) {
        let operation = shared.statements[first.0 as usize].operation;
        for (index, statement) in shared.statements.iter().enumerate() {
            let MysqlStatementForm::Prepared { sql, .. } = &statement.form else { continue };
            if statement.operation == operation
                && self.handles[index] == MysqlStatementHandle::Unknown
            {
                request::text_command(command::STMT_PREPARE, sql, out);
                self.preparing.push_back(StatementId(index as u16));
            }
        }
        self.round_trips = 2;
        self.stage = MysqlStage::Preparing;
        self.expect(ExpectedReply::Prepare, RowRetention::Nothing);
    }

    /// A PREPARE has been answered.
    fn prepared(&mut self, shared: &MysqlShared, out: &mut Vec<u8>) -> ProtocolProgress {
        let answer = self.reader.take();
        let Some(statement) = self.preparing.pop_front() else { return ProtocolProgress::More };
        let next = self.waiting.front().map(|(next, ..)| *next);
        let handle = &mut self.handles[statement.0 as usize];
        match (answer.prepared, answer.error) {
            (Some(prepared), _) => *handle = MysqlStatementHandle::Prepared(prepared.id),
            (_, Some(error)) if error.code == UNSUPPORTED_PS => {
                *handle = MysqlStatementHandle::AsText
            }
            // Others of the operation may exist once this one has been executed.
            (_, Some(error)) if next == Some(statement) => {
                self.refused = Some(Box::new(failure(&error)));
            }
            _ => {}
        }
        if !self.preparing.is_empty() {
            self.expect(ExpectedReply::Prepare, RowRetention::Nothing);
            return ProtocolProgress::More;
        }
        self.stage = MysqlStage::Idle;
        if let Some(refused) = self.refused.take() {
            self.waiting.pop_front();
            let round_trips = std::mem::replace(&mut self.round_trips, 1) - 1;
            self.go_on(shared, out);
            return ProtocolProgress::Answered(StatementResult {
                rows: Err(refused),
                round_trips,
                ..StatementResult::of(0)
            });
        }
        // Even if it could not be prepared: as text then.
        self.send_waiting(shared, out);
        self.go_on(shared, out);
        ProtocolProgress::More
    }

    /// The answer to a statement is whole.
    #[inline]
    fn executed(&mut self, shared: &MysqlShared, out: &mut Vec<u8>) -> StatementResult {
        let answer = self.reader.answer();
        let round_trips = std::mem::replace(&mut self.round_trips, 1);
        let warnings = answer.warnings;
        let rows = match &answer.error {
            None if answer.has_result => Ok(answer.rows),
            None => Ok(answer.affected),
            Some(error) => Err(Box::new(failure(error))),
        };
        if answer.error.is_none() {
            self.backslash = answer.status & NO_BACKSLASH_ESCAPES == 0;
        }
        self.stage = MysqlStage::Idle;
        if let Some(keep) = self.behind.pop_front() {
            // It went out with the one before.
            self.round_trips = 0;
            self.await_results(keep);
        } else if !self.waiting.is_empty() {
            self.go_on(shared, out);
        }
        StatementResult { rows, round_trips, warnings, is_sent: true }
    }

    /// The answer to what a script asked is whole.
    #[inline]
    fn replied(&mut self, expected: AwaitedReply) -> StatementResult {
        self.stage = MysqlStage::Idle;
        let answer = self.reader.answer();
        let warnings = answer.warnings;
        if let Some(error) = &answer.error {
            return StatementResult { warnings, ..StatementResult::failed(failure(error)) };
        }
        if !matches!(expected, AwaitedReply::Handle(_)) {
            self.backslash = answer.status & NO_BACKSLASH_ESCAPES == 0;
        }
        self.adhoc.answered(expected, answer);
        StatementResult { warnings, ..StatementResult::of(self.adhoc.rows(answer)) }
    }
}

fn broken(failure: DatabaseFailure) -> ProtocolProgress {
    ProtocolProgress::Broken(Box::new(failure))
}

/// An error is one short packet: nothing that is longer is held until it is whole.
const MAX_LAST_WORDS: usize = 64 << 10;

/// A server that ends a connection says why where nobody asked.
#[cold]
fn last_words(input: &[u8]) -> (usize, ProtocolProgress) {
    let Some((length, _)) = header(input) else { return (0, ProtocolProgress::More) };
    if length > MAX_LAST_WORDS {
        let unasked = MalformedMessage("what was not asked for");
        return (input.len(), broken(malformed(&unasked)));
    }
    match input.get(HEADER..HEADER + length) {
        Some(payload) => (input.len(), broken(read_error(payload))),
        None => (0, ProtocolProgress::More),
    }
}

impl Protocol for MysqlProtocol {
    type Shared = MysqlShared;

    fn new(shared: &MysqlShared) -> Self {
        Self {
            stage: MysqlStage::Greeting,
            login: MysqlLogin::default(),
            greeting: ServerGreeting::default(),
            reader: MysqlResponseReader::new(false),
            handles: vec![MysqlStatementHandle::Unknown; shared.statements.len()]
                .into_boxed_slice(),
            preparing: VecDeque::new(),
            waiting: VecDeque::new(),
            behind: VecDeque::new(),
            refused: None,
            round_trips: 1,
            backslash: true,
            sets_autocommit: false,
            kept: MysqlRowSink::default(),
            adhoc: MysqlAdHocSession::default(),
        }
    }

    fn open(
        &mut self,
        shared: &MysqlShared,
        transport: Transport,
        tls: TlsRequirement,
        _: &mut Vec<u8>,
    ) {
        *self = Self { login: MysqlLogin::new(transport, tls), ..Self::new(shared) };
    }

    fn encrypted(
        &mut self,
        shared: &MysqlShared,
        _: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure> {
        self.stage = MysqlStage::LoggingIn;
        self.login.is_encrypted = true;
        let answer = self.login.answer(&self.greeting, &shared.identity)?;
        self.login.next_sequence = write_packet(&answer, self.login.next_sequence, out);
        Ok(())
    }

    fn number(&self) -> Option<u32> {
        Some(self.greeting.connection_id)
    }

    #[inline]
    fn execute(
        &mut self,
        shared: &MysqlShared,
        call: StatementCall<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure> {
        if !self.waiting.is_empty() || self.must_be_prepared(shared, call.statement) {
            let StatementCall { statement, parameters, needs_row } = call;
            self.waiting.push_back((statement, parameters.to_vec(), needs_row));
            if self.stage == MysqlStage::Idle {
                self.go_on(shared, out);
            }
        } else {
            self.send(shared, call, out);
        }
        Ok(())
    }

    #[inline]
    fn perform(
        &mut self,
        _: &MysqlShared,
        op: ConnectionOp<'_>,
        out: &mut Vec<u8>,
    ) -> Result<SubmitResult, DatabaseFailure> {
        let (submitted, expected) = self.adhoc.write(op, out)?;
        if let Some(expected) = expected {
            self.stage = MysqlStage::AdHoc(expected);
            let is_handle = matches!(expected, AwaitedReply::Handle(_));
            let expect = if is_handle { ExpectedReply::Prepare } else { ExpectedReply::Results };
            self.reader.expect(expect, self.adhoc.keeps_rows());
        }
        Ok(submitted)
    }

    fn results(&mut self) -> &mut ResultSets {
        self.adhoc.results()
    }

    fn query(&mut self, sql: &str, out: &mut Vec<u8>) {
        request::text_command(command::QUERY, sql, out);
        self.await_results(RowRetention::All);
    }

    fn take_table(&mut self) -> Option<QueryTable> {
        self.kept.take_table()
    }

    #[inline]
    fn receive(
        &mut self,
        shared: &MysqlShared,
        input: &[u8],
        out: &mut Vec<u8>,
    ) -> (usize, ProtocolProgress) {
        if matches!(self.stage, MysqlStage::Greeting | MysqlStage::LoggingIn) {
            return self.log_in(shared, input, out);
        }
        if self.stage == MysqlStage::Idle {
            return last_words(input);
        }
        let read = match self.stage {
            MysqlStage::AdHoc(expected) if self.adhoc.reads(expected) => {
                self.reader.feed(input, &mut self.adhoc)
            }
            MysqlStage::AdHoc(_) => self.reader.feed(input, &mut ()),
            _ if self.kept.is_kept() => self.reader.feed(input, &mut self.kept),
            _ => self.reader.feed(input, &mut ()),
        };
        let used = match read {
            Ok((used, Reading::Done)) => used,
            Ok((used, Reading::More)) => return (used, ProtocolProgress::More),
            Err(error) => return (input.len(), broken(malformed(&error))),
        };
        let progress = match self.stage {
            MysqlStage::Preparing => self.prepared(shared, out),
            MysqlStage::SettingUp(at) => match self.reader.take().error {
                Some(error) => broken(failure(&error)),
                None => self.set_up(shared, at + 1, out),
            },
            MysqlStage::AdHoc(expected) => ProtocolProgress::Answered(self.replied(expected)),
            _ => ProtocolProgress::Answered(self.executed(shared, out)),
        };
        (used, progress)
    }

    fn first_row(&self) -> &[SqlValue] {
        self.kept.first()
    }

    fn login_hint(&self) -> Option<&'static str> {
        (self.stage == MysqlStage::Greeting).then_some(
            "it has not greeted, as MySQL and MariaDB do at once; is it another service, such as \
             PostgreSQL (postgres://) or HTTP?",
        )
    }

    fn terminate(&mut self, out: &mut Vec<u8>) {
        write_packet(&[command::QUIT], 0, out);
    }
}

impl RowStreamer for MysqlProtocol {
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
