//! The file of statements of a run, written by a thread of its own.

use super::execution_row::ExecutionRow;
use super::row_group_writer::RowGroupWriter;
use super::statement_names::StatementNames;
use super::waiting_groups::WaitingGroups;
use crate::error::want_of_room;
use crate::join::{BareStatement, JoinedStatement};
use crate::recorded_join::ClockMapping;
use dbtime_load::workload::Workload;
use dbtime_machine::BatchThread;
use dbtime_model::MonoNanos;
use dbtime_model::exchange::{ConnectionKey, DrivenTransaction};
use dbtime_model::record::{Warning, WarningKind, file};
use dbtime_model::recorder::Window;
use dbtime_model::units::counted;
use parquet::errors::ParquetError;
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Rows that are written at once: of 10,000 statements a second those of one second and a half.
pub(super) const GROUP_ROWS: usize = 16_384;

/// Groups that may wait for the thread.
pub(super) const WAITING_GROUPS: usize = 2;

/// With so many rows waiting for room there, further ones are lost: the disk stands still.
pub(super) const MAX_ROWS: usize = 4 * GROUP_ROWS;

/// Numbers of so many connections are remembered; a load that makes a new one for each transaction
/// has no end of them.
const MAX_CONNECTIONS: usize = 65_536;

/// The file of statements in the making.
pub(crate) struct StatementLog {
    path: PathBuf,
    rows: Vec<ExecutionRow>,
    to_thread: SyncSender<Vec<ExecutionRow>>,
    thread: JoinHandle<Result<(), ParquetError>>,
    window: Window,
    connections: FxHashMap<ConnectionKey, u32>,
    next_connection: u32,
    /// How the clock of the requests was mapped to the driver's.
    clock: ClockMapping,
    /// Whether rows wait for the thread, however long.
    waits: bool,
    lost: u64,
}

impl StatementLog {
    /// Begins a file at `path`. Before a window is given nothing is written.
    ///
    /// Errors: the file cannot be made, or no thread can be started.
    pub(crate) fn create(path: &Path, workload: Arc<Workload>) -> io::Result<Self> {
        Self::create_named(path, StatementNames::new(workload))
    }

    /// The same of statements with these names.
    ///
    /// Errors: likewise.
    pub(crate) fn create_named(path: &Path, names: StatementNames) -> io::Result<Self> {
        Self::write_to(File::create(path)?, |file| file.sync_all(), path, names)
    }

    /// Begins what `out`, the file at `path`, is to hold; at last `sync` has it.
    pub(super) fn write_to<W: Write + Send + 'static>(
        out: W,
        sync: impl FnOnce(W) -> io::Result<()> + Send + 'static,
        path: &Path,
        names: StatementNames,
    ) -> io::Result<Self> {
        let (to_thread, groups) = sync_channel(WAITING_GROUPS);
        let builder = std::thread::Builder::new().name("statements".to_owned());
        let thread = builder.spawn(move || {
            // It writes beside a server that is measured.
            let _batch = BatchThread::begin();
            Ok(sync(write_groups(out, names, &groups)?)?)
        })?;
        Ok(Self {
            path: path.to_owned(),
            rows: Vec::new(),
            to_thread,
            thread,
            window: Window { start: MonoNanos(u64::MAX), end: MonoNanos(u64::MAX) },
            connections: FxHashMap::default(),
            next_connection: 0,
            clock: ClockMapping::default(),
            waits: false,
            lost: 0,
        })
    }

    /// The requests that it takes are a recording's: they had another clock, and nothing is lost
    /// while they wait for the disk.
    pub(crate) fn take_recording(&mut self, clock: ClockMapping) {
        (self.clock, self.waits) = (clock, true);
    }

    /// From now on transactions of this window are taken.
    pub(crate) fn begin(&mut self, window: Window) {
        self.window = window;
    }

    /// Takes the statements of a transaction, if it belongs to the window.
    pub(crate) fn add(
        &mut self,
        driven: &DrivenTransaction,
        statements: Vec<JoinedStatement>,
        bare: &[BareStatement],
    ) {
        if !self.window.contains(driven.sample.due) {
            return;
        }
        let start = self.window.start;
        for statement in statements {
            let key = statement.exchange.key;
            let known_to = self.clock.uncertainty(statement.exchange.sent);
            self.push(ExecutionRow::joined(driven, statement, start, known_to), key);
        }
        for statement in bare {
            let key = statement.exchange.key;
            self.push(ExecutionRow::bare(driven, statement, start), key);
        }
    }

    fn push(&mut self, mut row: ExecutionRow, key: Option<ConnectionKey>) {
        if self.rows.len() == MAX_ROWS {
            self.lost += 1;
            return;
        }
        row.connection = key.map(|key| self.connection(key));
        self.rows.push(row);
        if self.rows.len().is_multiple_of(GROUP_ROWS) {
            self.hand_on();
        }
    }

    /// The number of a connection.
    fn connection(&mut self, key: ConnectionKey) -> u32 {
        if self.connections.len() == MAX_CONNECTIONS {
            self.connections.clear();
        }
        let next = &mut self.next_connection;
        *self.connections.entry(key).or_insert_with(|| {
            *next = next.wrapping_add(1);
            next.wrapping_sub(1)
        })
    }

    /// Gives the rows to the thread; those of a run only if there is room.
    fn hand_on(&mut self) {
        let rows = std::mem::replace(&mut self.rows, Vec::with_capacity(GROUP_ROWS));
        if self.waits {
            // As below: why a thread has ended comes in the end.
            let _ = self.to_thread.send(rows);
            return;
        }
        match self.to_thread.try_send(rows) {
            Ok(()) => {}
            Err(TrySendError::Full(rows)) => self.rows = rows,
            // It has ended with an error, which comes in the end.
            Err(TrySendError::Disconnected(_)) => {}
        }
    }

    /// Writes what is left. A file that could not be written whole is taken away. Returns what is
    /// wrong with it.
    pub(crate) fn finish(self) -> Vec<Warning> {
        let Self { path, rows, to_thread, thread, lost, .. } = self;
        // A thread that has ended takes nothing, and says why below.
        let _ = to_thread.send(rows);
        drop(to_thread);
        let written = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match written {
            Ok(()) if lost > 0 => vec![incomplete(lost)],
            Ok(()) => Vec::new(),
            Err(error) => {
                // Where nothing can be written, this may still be possible.
                let _ = std::fs::remove_file(path);
                vec![unwritten(&io_error(error))]
            }
        }
    }
}

/// There is no file of statements.
pub(crate) fn unwritten(error: &io::Error) -> Warning {
    Warning {
        kind: WarningKind::StatementsLost,
        text: format!("{} could not be written: {error}", file::STATEMENTS),
        remedy: format!(
            "all else is recorded; {}, and repeat the command",
            want_of_room(error).unwrap_or("mend that")
        ),
    }
}

fn incomplete(lost: u64) -> Warning {
    Warning {
        kind: WarningKind::StatementsLost,
        text: format!(
            "{} lacks {}: the disk did not keep up",
            file::STATEMENTS,
            counted(lost, "statement")
        ),
        remedy: "all else has them; put the record on a faster disk with --out".to_owned(),
    }
}

/// What the system said, where it did.
fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => match source.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(source) => io::Error::other(source),
        },
        error => io::Error::other(error),
    }
}

fn write_groups<W: Write + Send>(
    out: W,
    names: StatementNames,
    groups: &Receiver<Vec<ExecutionRow>>,
) -> Result<W, ParquetError> {
    let mut writer = RowGroupWriter::new(BufWriter::new(out), names)?;
    let mut groups = WaitingGroups::new(groups);
    while let Some(rows) = groups.next_group() {
        for group in rows.chunks(GROUP_ROWS) {
            writer.write(group, || groups.pause())?;
        }
    }
    Ok(writer.finish()?.into_inner().map_err(io::IntoInnerError::into_error)?)
}
