//! What a script asks, and what it is told: statements that it prepares by itself, and whole
//! results, or rows that are looked at as they come.

use super::request;
use super::row_stream::MysqlRowStream;
use crate::server::{PreparedForm, RowVisitor};
use crate::socket::SubmitResult;
use dbtime_load::connection_op::ConnectionOp;
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::results::ResultSets;
use dbtime_model::units::counted;
use dbtime_wire::ResultRows;
use dbtime_wire::mysql::{
    MysqlCell, MysqlColumn, MysqlResponse, PrepareResponse, binary_cells, column, command,
    text_cells,
};
use std::io::Write;

/// A connection's side of what a script asks.
#[derive(Default)]
pub(super) struct MysqlAdHocSession {
    /// What the server knows of the script's statements, by their handles.
    handles: Vec<Option<PrepareResponse>>,
    results: ResultSets,
    /// Where rows go that are looked at as they come; `None`: they are kept in the results.
    stream: Option<MysqlRowStream>,
    /// Whether a result has begun that has not ended.
    is_open: bool,
    form: RowForm,
    /// The columns of a result in binary form, which its rows cannot be read without.
    columns: Vec<MysqlColumn>,
    /// A value in the making.
    text: Vec<u8>,
}

/// How rows arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum RowForm {
    #[default]
    Text,
    Binary,
    /// They are counted and skipped.
    Skipped,
}

/// What is waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AwaitedReply {
    /// The results of a statement.
    Results,
    /// The results of this one, of which no rows are kept.
    Count(u32),
    /// A statement's number.
    Handle(u32),
}

/// Handles are an index: more than this is a script's mistake.
const MAX_HANDLES: u32 = 1 << 20;

impl MysqlAdHocSession {
    /// Writes a request. Returns what is to be waited for, if anything.
    ///
    /// # Errors
    /// What cannot be asked; then nothing was written.
    #[inline]
    pub(super) fn write(
        &mut self,
        op: ConnectionOp<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(SubmitResult, Option<AwaitedReply>), DatabaseFailure> {
        self.results.clear();
        (self.is_open, self.form) = (false, RowForm::Text);
        if let Some(stream) = &mut self.stream {
            stream.begin();
        }
        let expected = match op {
            ConnectionOp::Query(sql) => {
                request::text_command(command::QUERY, sql, out);
                AwaitedReply::Results
            }
            ConnectionOp::Execute { handle, parameters, keeps_rows } => {
                let prepared = self.prepared(handle)?;
                let expected_count = usize::from(prepared.parameters);
                if parameters.len() != expected_count {
                    let text = format!(
                        "the statement has {}; bound: {}",
                        counted(expected_count as u64, "parameter"),
                        parameters.len()
                    );
                    return Err(DatabaseFailure::statement("2031", "HY000", text));
                }
                request::execute(prepared.id, parameters, out);
                self.columns.clear();
                self.form = if keeps_rows { RowForm::Binary } else { RowForm::Skipped };
                if keeps_rows { AwaitedReply::Results } else { AwaitedReply::Count(handle) }
            }
            ConnectionOp::Prepare { handle, .. } if handle >= MAX_HANDLES => {
                let text = format!("a script has at most {MAX_HANDLES} statements prepared");
                return Err(DatabaseFailure::statement("1461", "42000", text));
            }
            ConnectionOp::Prepare { handle, sql } => {
                if let Some(old) = self.handles.get_mut(handle as usize).and_then(Option::take) {
                    request::close(old.id, out);
                }
                request::text_command(command::STMT_PREPARE, sql, out);
                AwaitedReply::Handle(handle)
            }
            ConnectionOp::Close { handle } => {
                if let Some(prepared) = self.handles.get_mut(handle as usize).and_then(Option::take)
                {
                    request::close(prepared.id, out);
                }
                return Ok((SubmitResult::Done, None));
            }
            ConnectionOp::QueryWith { .. }
            | ConnectionOp::Pipeline(_)
            | ConnectionOp::Copy { .. } => {
                let text = "MySQL has no such thing: use prepared or plain statements";
                return Err(DatabaseFailure::statement("unsupported", "0A000", text));
            }
            ConnectionOp::Connect | ConnectionOp::Disconnect => {
                return Ok((SubmitResult::Done, None));
            }
        };
        Ok((SubmitResult::Sent, Some(expected)))
    }

    fn prepared(&self, handle: u32) -> Result<PrepareResponse, DatabaseFailure> {
        self.handles.get(handle as usize).copied().flatten().ok_or_else(|| {
            let text = "the statement is not prepared on this connection: it was closed, or \
                        belongs to a connection that is gone";
            DatabaseFailure::statement("1243", "HY000", text)
        })
    }

    /// An answer is whole and no failure.
    #[inline]
    pub(super) fn answered(&mut self, expected: AwaitedReply, answer: &MysqlResponse) {
        match expected {
            AwaitedReply::Results => {}
            AwaitedReply::Handle(handle) => {
                let handle = handle as usize;
                if handle >= self.handles.len() {
                    self.handles.resize(handle + 1, None);
                }
                self.handles[handle] = answer.prepared;
            }
            AwaitedReply::Count(handle) => {
                self.results.begin_set();
                let columns = self.prepared(handle).map_or(0, |prepared| prepared.columns);
                if answer.has_result {
                    (0..columns.max(1)).for_each(|_| self.results.push_column(b""));
                    self.results.count_rows(answer.rows);
                } else {
                    self.results.set_affected(answer.affected);
                }
            }
        }
    }

    /// Whether rows are to be handed over.
    #[inline]
    pub(super) fn keeps_rows(&self) -> bool {
        self.form != RowForm::Skipped
    }

    /// Whether what the reader hands over of an answer is for it.
    #[inline]
    pub(super) fn reads(&self, expected: AwaitedReply) -> bool {
        match expected {
            AwaitedReply::Results => true,
            AwaitedReply::Handle(_) => self.stream.is_some(),
            AwaitedReply::Count(_) => false,
        }
    }

    /// Rows that an answer returned, or changed where it returned none.
    #[inline]
    pub(super) fn rows(&self, answer: &MysqlResponse) -> u64 {
        match &self.stream {
            Some(_) if answer.has_result => answer.rows,
            Some(_) => answer.affected,
            None => self.results.rows(),
        }
    }

    /// From here on rows are looked at as they come.
    pub(super) fn stream_rows(&mut self) {
        self.stream = Some(MysqlRowStream::default());
    }

    /// Hands over what has come.
    pub(super) fn hand_over(&mut self, rows: &mut dyn RowVisitor) {
        if let Some(stream) = &mut self.stream {
            stream.hand_over(self.form == RowForm::Binary, rows);
        }
    }

    /// Rows of the last request that are not handed over.
    pub(super) fn unlisted_rows(&self) -> u64 {
        self.stream.as_ref().map_or(0, MysqlRowStream::unseen)
    }

    /// The statement that was just prepared.
    pub(super) fn described(&self, handle: u32) -> PreparedForm {
        let parameters = self.prepared(handle).map(|known| usize::from(known.parameters)).ok();
        let columns = self.stream.as_ref().map(MysqlRowStream::names).unwrap_or_default();
        PreparedForm { handle, parameters, columns }
    }

    pub(super) fn results(&mut self) -> &mut ResultSets {
        &mut self.results
    }

    fn open(&mut self) {
        if !self.is_open {
            self.results.begin_set();
            self.is_open = true;
        }
    }

    fn binary_row(&mut self, payload: &[u8]) {
        for cell in binary_cells(payload, &self.columns).unwrap_or_default() {
            self.text.clear();
            // Writing to a vector does not fail.
            let _ = match cell {
                MysqlCell::Null => {
                    self.results.push_value(None);
                    continue;
                }
                MysqlCell::Integer(n) => write!(self.text, "{n}"),
                MysqlCell::Unsigned(n) => write!(self.text, "{n}"),
                MysqlCell::Real(x) => write!(self.text, "{x}"),
                MysqlCell::Bytes(bytes) => self.text.write_all(bytes),
                MysqlCell::Text(text) => self.text.write_all(text.as_bytes()),
            };
            self.results.push_value(Some(&self.text));
        }
    }
}

impl ResultRows for MysqlAdHocSession {
    fn column(&mut self, payload: &[u8]) {
        if let Some(stream) = &mut self.stream {
            return stream.column(payload);
        }
        self.open();
        let column = column(payload).unwrap_or_default();
        self.results.push_column(column.name.as_bytes());
        if self.form == RowForm::Binary {
            self.columns.push(column);
        }
    }

    fn row(&mut self, payload: &[u8]) {
        if let Some(stream) = &mut self.stream {
            return stream.row(payload);
        }
        match self.form {
            RowForm::Text => {
                text_cells(payload).for_each(|cell| self.results.push_value(cell));
            }
            RowForm::Binary => self.binary_row(payload),
            RowForm::Skipped => return,
        }
        self.results.end_row();
    }

    fn ended(&mut self, affected: u64) {
        if let Some(stream) = &mut self.stream {
            return stream.ended(affected);
        }
        self.open();
        self.results.set_affected(affected);
        self.is_open = false;
        self.columns.clear();
    }
}
