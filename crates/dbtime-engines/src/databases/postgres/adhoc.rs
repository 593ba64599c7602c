//! What a script asks, and what it is told: statements that it prepares by itself, pipelines, and
//! whole results, or rows that are looked at as they come.

use super::request;
use super::row_stream::{PostgresRowStream, names};
use super::shared::{BIND_END, EXECUTE_AND_SYNC};
use crate::server::{PreparedForm, RowVisitor};
use crate::socket::SubmitResult;
use dbtime_load::connection_op::{ConnectionOp, PipelineEntry};
use dbtime_load::failure::DatabaseFailure;
use dbtime_load::program::SqlValue;
use dbtime_load::results::ResultSets;
use dbtime_wire::ResultRows;
use dbtime_wire::postgres::{begin_message, cells, columns, end_message, frontend};

/// A connection's side of what a script asks.
#[derive(Default)]
pub(super) struct PostgresAdHocSession {
    /// How the server described the rows of the script's statements, by their handles.
    handles: Vec<Option<Box<[u8]>>>,
    /// How many parameters the one takes that was described last.
    parameters: Option<u16>,
    results: ResultSets,
    /// Where rows go that are looked at as they come; `None`: they are kept in the results.
    stream: Option<PostgresRowStream>,
    /// Whether a result has begun that has not ended.
    is_open: bool,
    /// The statement that is being prepared or executed.
    present: Option<AdHocStatement>,
    /// Whether it was asked by messages that end in a Sync.
    is_extended: bool,
    /// Whether it is a pipeline.
    is_pipeline: bool,
    /// Whether the data of a COPY went out with it.
    has_data: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AdHocStatement {
    Preparing(usize),
    Executing(usize),
}

/// Handles are an index: more than this is a script's mistake.
const MAX_HANDLES: u32 = 1 << 20;

/// Bytes of a message of data, at most.
const COPY_PIECE_BYTES: usize = 1 << 20;

/// An Execute of the unnamed portal, with no limit on its rows.
const EXECUTE: [u8; 10] = [frontend::EXECUTE, 0, 0, 0, 9, 0, 0, 0, 0, 0];

impl PostgresAdHocSession {
    /// Writes a request. Returns how many ReadyForQuery come for it.
    ///
    /// # Errors
    /// What cannot be asked; then nothing was written.
    #[inline]
    pub(super) fn write(
        &mut self,
        op: ConnectionOp<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(SubmitResult, u32), DatabaseFailure> {
        self.results.clear();
        (self.is_open, self.present) = (false, None);
        if let Some(stream) = &mut self.stream {
            stream.begin();
        }
        self.is_extended = !matches!(op, ConnectionOp::Query(_) | ConnectionOp::Copy { .. });
        self.is_pipeline = matches!(op, ConnectionOp::Pipeline(_));
        self.has_data = matches!(op, ConnectionOp::Copy { .. });
        let start = out.len();
        let written = self.write_or_fail(op, out);
        if written.is_err() {
            out.truncate(start);
        }
        written
    }

    #[inline]
    fn write_or_fail(
        &mut self,
        op: ConnectionOp<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(SubmitResult, u32), DatabaseFailure> {
        match op {
            ConnectionOp::Query(sql) => {
                free_of_zeros(sql)?;
                request::query(sql, out);
            }
            ConnectionOp::Execute { handle, parameters, .. } => {
                self.present = Some(AdHocStatement::Executing(self.known(handle)?));
                bind(Some(handle), parameters, out)?;
                out.extend_from_slice(&EXECUTE_AND_SYNC);
            }
            ConnectionOp::QueryWith { sql, parameters } => {
                query_with(sql, parameters, out)?;
                request::empty(frontend::SYNC, out);
            }
            ConnectionOp::Prepare { handle, .. } if handle >= MAX_HANDLES => {
                let text = format!("a script has at most {MAX_HANDLES} statements prepared");
                return Err(DatabaseFailure::statement("54000", "54000", text));
            }
            ConnectionOp::Prepare { handle, sql } => self.prepare(handle, sql, out)?,
            ConnectionOp::Close { handle } => {
                if self.known(handle).is_err() {
                    return Ok((SubmitResult::Done, 0));
                }
                self.handles[handle as usize] = None;
                of_name(frontend::CLOSE, handle, out);
                request::empty(frontend::SYNC, out);
            }
            ConnectionOp::Pipeline(piped) => return self.pipeline(piped, out),
            ConnectionOp::Copy { sql, data } => copy(sql, data, out)?,
            ConnectionOp::Connect | ConnectionOp::Disconnect => return Ok((SubmitResult::Done, 0)),
        }
        Ok((SubmitResult::Sent, 1))
    }

    fn known(&self, handle: u32) -> Result<usize, DatabaseFailure> {
        match self.handles.get(handle as usize) {
            Some(Some(_)) => Ok(handle as usize),
            _ => {
                let text = "the statement is not prepared on this connection: it was closed, or \
                            belongs to a connection that is gone";
                Err(DatabaseFailure::statement("26000", "26000", text))
            }
        }
    }

    fn prepare(
        &mut self,
        handle: u32,
        sql: &str,
        out: &mut Vec<u8>,
    ) -> Result<(), DatabaseFailure> {
        free_of_zeros(sql)?;
        let index = handle as usize;
        if index >= self.handles.len() {
            self.handles.resize(index + 1, None);
        }
        if self.handles[index].take().is_some() {
            of_name(frontend::CLOSE, handle, out);
        }
        let begun = begin_message(frontend::PARSE, out);
        name(Some(handle), out);
        out.extend_from_slice(sql.as_bytes());
        // The server finds the types of the placeholders by itself.
        out.extend_from_slice(&[0, 0, 0]);
        end_message(begun, out);
        of_name(frontend::DESCRIBE, handle, out);
        request::empty(frontend::SYNC, out);
        self.present = Some(AdHocStatement::Preparing(index));
        Ok(())
    }

    /// What comes of a pipeline is counted, and no rows are kept.
    fn pipeline(
        &mut self,
        piped: &[PipelineEntry],
        out: &mut Vec<u8>,
    ) -> Result<(SubmitResult, u32), DatabaseFailure> {
        let mut syncs = 0;
        for entry in piped {
            match entry {
                PipelineEntry::Execute { handle, parameters } => {
                    self.known(*handle)?;
                    bind(Some(*handle), parameters, out)?;
                    out.extend_from_slice(&EXECUTE);
                }
                PipelineEntry::QueryWith { sql, parameters } => query_with(sql, parameters, out)?,
                PipelineEntry::Sync => {
                    request::empty(frontend::SYNC, out);
                    syncs += 1;
                }
            }
        }
        if !matches!(piped.last(), Some(PipelineEntry::Sync)) {
            request::empty(frontend::SYNC, out);
            syncs += 1;
        }
        Ok((SubmitResult::Sent, syncs))
    }

    /// An answer is whole; `is_fine`: no failure. It described so many parameters.
    pub(super) fn answered(&mut self, is_fine: bool, parameters: Option<u16>) {
        if let (Some(AdHocStatement::Preparing(index)), true) = (self.present, is_fine) {
            // One that returns no rows is described by nothing.
            self.handles[index].get_or_insert_default();
            self.parameters = parameters;
        }
    }

    /// Rows that an answer of so many returned or changed.
    #[inline]
    pub(super) fn rows(&self, answered: u64) -> u64 {
        if self.stream.is_some() { answered } else { self.results.rows() }
    }

    /// From here on rows are looked at as they come.
    pub(super) fn stream_rows(&mut self) {
        self.stream = Some(PostgresRowStream::default());
    }

    /// Hands over what has come.
    pub(super) fn hand_over(&mut self, rows: &mut dyn RowVisitor) {
        if let Some(stream) = &mut self.stream {
            stream.hand_over(rows);
        }
    }

    /// Rows of the last request that are not handed over.
    pub(super) fn unlisted_rows(&self) -> u64 {
        self.stream.as_ref().map_or(0, PostgresRowStream::unseen)
    }

    /// The statement that was just prepared.
    pub(super) fn described(&self, handle: u32) -> PreparedForm {
        let description = self.handles.get(handle as usize).and_then(Option::as_deref);
        PreparedForm {
            handle,
            parameters: self.parameters.map(usize::from),
            columns: description.map(names).unwrap_or_default(),
        }
    }

    /// Whether a Sync was sent with what was asked.
    pub(super) fn is_extended(&self) -> bool {
        self.is_extended
    }

    /// Whether the data that the server waits for is on its way.
    pub(super) fn has_data(&self) -> bool {
        self.has_data
    }

    /// Whether several statements were sent at once.
    pub(super) fn is_pipeline(&self) -> bool {
        self.is_pipeline
    }

    pub(super) fn results(&mut self) -> &mut ResultSets {
        &mut self.results
    }

    /// A result that was not described begins: a prepared statement's was, when it was prepared.
    fn open(&mut self) {
        if self.is_open {
            return;
        }
        self.is_open = true;
        let description = match self.present {
            Some(AdHocStatement::Executing(index)) => self.handles.get(index),
            _ => None,
        };
        let description = description.and_then(Option::as_deref).unwrap_or_default();
        match &mut self.stream {
            // A statement that returns no rows has no description.
            Some(_) if description.is_empty() => {}
            Some(stream) => stream.columns(description),
            None => {
                self.results.begin_set();
                columns(description).for_each(|column| self.results.push_column(column.name));
            }
        }
    }
}

impl ResultRows for PostgresAdHocSession {
    fn columns(&mut self, payload: &[u8]) {
        if let Some(AdHocStatement::Preparing(index)) = self.present {
            self.handles[index] = Some(payload.into());
            return;
        }
        self.is_open = true;
        if let Some(stream) = &mut self.stream {
            return stream.columns(payload);
        }
        self.results.begin_set();
        columns(payload).for_each(|column| self.results.push_column(column.name));
    }

    #[inline]
    fn row(&mut self, payload: &[u8]) {
        self.open();
        if let Some(stream) = &mut self.stream {
            return stream.row(payload);
        }
        cells(payload).for_each(|cell| self.results.push_value(cell));
        self.results.end_row();
    }

    fn ended(&mut self, affected: u64) {
        self.open();
        self.is_open = false;
        match &mut self.stream {
            Some(stream) => stream.ended(affected),
            None => self.results.set_affected(affected),
        }
    }
}

/// A statement and what it reads, without waiting to hear that the server wants it: one that does
/// not passes over it.
fn copy(sql: &str, data: &[u8], out: &mut Vec<u8>) -> Result<(), DatabaseFailure> {
    free_of_zeros(sql)?;
    request::query(sql, out);
    for piece in data.chunks(COPY_PIECE_BYTES) {
        let begun = begin_message(frontend::COPY_DATA, out);
        out.extend_from_slice(piece);
        end_message(begun, out);
    }
    request::empty(frontend::COPY_DONE, out);
    Ok(())
}

/// Parse and Bind without a name, Describe and Execute.
fn query_with(
    sql: &str,
    parameters: &[SqlValue],
    out: &mut Vec<u8>,
) -> Result<(), DatabaseFailure> {
    free_of_zeros(sql)?;
    let begun = begin_message(frontend::PARSE, out);
    name(None, out);
    out.extend_from_slice(sql.as_bytes());
    out.extend_from_slice(&[0, 0, 0]);
    end_message(begun, out);
    bind(None, parameters, out)?;
    let begun = begin_message(frontend::DESCRIBE, out);
    out.extend_from_slice(b"P\0");
    end_message(begun, out);
    out.extend_from_slice(&EXECUTE);
    Ok(())
}

/// Bind to the unnamed portal, all values as texts.
#[inline]
fn bind(
    handle: Option<u32>,
    parameters: &[SqlValue],
    out: &mut Vec<u8>,
) -> Result<(), DatabaseFailure> {
    let Ok(count) = u16::try_from(parameters.len()) else {
        let text = format!("{} parameters, and a statement takes 65535", parameters.len());
        return Err(DatabaseFailure::statement("54000", "54000", text));
    };
    let begun = begin_message(frontend::BIND, out);
    out.push(0);
    name(handle, out);
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&count.to_be_bytes());
    for value in parameters {
        request::bound(value, out)?;
    }
    out.extend_from_slice(&BIND_END);
    end_message(begun, out);
    Ok(())
}

/// A statement's name; those of workloads begin with another letter.
#[inline]
fn name(handle: Option<u32>, out: &mut Vec<u8>) {
    if let Some(handle) = handle {
        out.push(b'h');
        out.extend_from_slice(itoa::Buffer::new().format(handle).as_bytes());
    }
    out.push(0);
}

/// Close or Describe of a prepared statement.
fn of_name(tag: u8, handle: u32, out: &mut Vec<u8>) {
    let begun = begin_message(tag, out);
    out.push(b'S');
    name(Some(handle), out);
    end_message(begun, out);
}

fn free_of_zeros(sql: &str) -> Result<(), DatabaseFailure> {
    match sql.as_bytes().contains(&0) {
        true => {
            Err(DatabaseFailure::statement("22021", "22021", "a statement with a zero byte in it"))
        }
        false => Ok(()),
    }
}
