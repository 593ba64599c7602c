//! From a plan to a digest: files are read in the order of time, and what is to be known of each is
//! noted.

use super::blocks::BlockSizes;
use super::digest_words::{basis, damaged, left_out, stopped};
use super::formats::{AS_BEFORE, OpenFormat, check_routes, namers};
use super::input::{LogInput, STDIN};
use super::joiners::{following, joiner_at, leave_open};
use super::one_clock::put_on_one_clock;
use super::open_log::{OpenLog, open_logs};
use super::since_state::{FileMark, SinceState, UnsavedState};
use super::waiting::WatchedRead;
use super::workers::{BLOCKS_EACH, BlockPlan, ReadEnd, read_blocks};
use super::{LogError, LogPlan, LogProgress, TimeBound};
use crate::logs::RecordJoiner;
use crate::logs::digest::{DigestBuilder, DigestOptions, DigestSums};
use dbtime_model::log_digest::{DigestInput, LogDigest, SCHEMA};
use dbtime_model::units::counted;
use rustix::process::{Resource, getrlimit};
use std::cell::RefCell;
use std::io::{self, Read};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::thread;

/// How many threads read where no number is given: joining keeps up with as many.
const DEFAULT_WORKERS: usize = 8;

/// How many there are at most, whatever number is given: more would take more memory than there is
/// room for, and read no faster.
const MOST_WORKERS: usize = 16;

/// What the command takes of an address space, and each thread beside it: mostly what its allocator
/// sets aside. Unit: bytes.
const OWN_SPACE: u64 = 256 << 20;
const WORKER_SPACE: u64 = 80 << 20;

/// The largest block, and how much all blocks take together: what is read of short records takes
/// several times that. Unit: bytes.
const BLOCK_BYTES: usize = 2 << 20;
const ALL_BLOCK_BYTES: usize = 16 << 20;

/// Digests logs. `progress` learns how far reading is, and breaks to end it early: what was read
/// until then is in the digest, and its input notes it. The state of the plan is written.
///
/// Shape: neither threads nor the size of blocks change a digest. Memory is bounded whatever the
/// size of the logs.
/// Errors: a file cannot be read, or has no known format; a flag is wrong; the state cannot be
/// written.
pub fn digest_logs(
    plan: &LogPlan,
    progress: &mut dyn FnMut(LogProgress) -> ControlFlow<()>,
) -> Result<LogDigest, LogError> {
    let (digest, state) = digest_unsaved(plan, progress)?;
    state.map_or(Ok(()), UnsavedState::save)?;
    Ok(digest)
}

/// The same, with a state that is to be saved once the digest is where it is to be, so that no
/// record is passed over for want of room for the output.
///
/// Errors: a file cannot be read, or has no known format; a flag is wrong.
pub fn digest_unsaved(
    plan: &LogPlan,
    progress: &mut dyn FnMut(LogProgress) -> ControlFlow<()>,
) -> Result<(LogDigest, Option<UnsavedState>), LogError> {
    check_inputs(&plan.inputs)?;
    check_routes(&plan.routes)?;
    let mut state = plan.state.as_deref().map(SinceState::read).transpose()?;
    let mut logs = open_waiting(plan, state.as_ref(), progress)?;
    put_on_one_clock(&mut logs);
    // What is equal keeps its order.
    logs.sort_by_key(|log| log.begin_us);
    let all_bytes = logs.iter().try_fold(0u64, |sum, log| Some(sum + log.raw_size()?));
    let mut reading = LogReading {
        plan,
        builder: DigestBuilder::new(options(plan, &logs)),
        inputs: Vec::new(),
        notes: Vec::new(),
        done_bytes: 0,
        all_bytes,
        is_stopped: false,
        open: None,
    };
    reading.read_all(logs, state.as_mut(), progress)?;
    let unsaved = state.zip(plan.state.clone());
    let unsaved = unsaved.map(|(state, path)| UnsavedState::new(state, path));
    Ok((reading.finish(), unsaved))
}

/// Opens the logs; one of which nothing has come yet can be left, too.
fn open_waiting(
    plan: &LogPlan,
    state: Option<&SinceState>,
    progress: &mut dyn FnMut(LogProgress) -> ControlFlow<()>,
) -> Result<Vec<OpenLog>, LogError> {
    let progress = RefCell::new(progress);
    let nothing_yet = LogProgress { done_bytes: 0, all_bytes: None };
    open_logs(plan, state, &|| (*progress.borrow_mut())(nothing_yet))
}

fn check_inputs(inputs: &[PathBuf]) -> Result<(), LogError> {
    if inputs.is_empty() {
        return Err(LogError::NoInput);
    }
    if inputs.iter().filter(|path| *path == Path::new(STDIN)).count() > 1 {
        return Err(LogError::InputTwice);
    }
    Ok(())
}

fn options(plan: &LogPlan, logs: &[OpenLog]) -> DigestOptions {
    let defaults = DigestOptions::default();
    let kinds = || logs.iter().filter_map(|log| log.format.as_ref()).map(|format| format.kind);
    let has = |requests| kinds().any(|kind| kind.has_requests() == requests);
    DigestOptions {
        grouping: plan.grouping,
        is_raw: plan.is_raw,
        names_accounts: plan.names_accounts,
        assumed_weight: weight_of(plan),
        max_classes: plan.max_classes.unwrap_or(defaults.max_classes),
        joins_requests: has(true) && has(false),
        ..defaults
    }
}

fn weight_of(plan: &LogPlan) -> f64 {
    plan.assumed_weight.unwrap_or(1.0)
}

/// The logs that were read so far.
struct LogReading<'a> {
    plan: &'a LogPlan,
    builder: DigestBuilder,
    inputs: Vec<DigestInput>,
    /// What is to be known of all of them.
    notes: Vec<String>,
    done_bytes: u64,
    all_bytes: Option<u64>,
    is_stopped: bool,
    /// What joined the file before, which may go on in the next one.
    open: Option<Box<dyn RecordJoiner>>,
}

impl LogReading<'_> {
    /// Reads the logs in this order, and sets in the state how far.
    fn read_all(
        &mut self,
        logs: Vec<OpenLog>,
        mut state: Option<&mut SinceState>,
        progress: &mut dyn FnMut(LogProgress) -> ControlFlow<()>,
    ) -> Result<(), LogError> {
        let mut logs = logs.into_iter().peekable();
        while let Some(log) = logs.next() {
            let is_followed = logs.peek().is_some_and(|next| next.may_follow(&log));
            let marks = self.read(log, is_followed, progress)?;
            if let Some(state) = &mut state {
                for mark in marks {
                    state.set(mark);
                }
            }
            if self.is_stopped {
                let further = logs.len() as u64;
                let files = (further > 0).then(|| counted(further, "further file"));
                self.notes.extend(files.map(|files| format!("Not reached: {files}.")));
                break;
            }
        }
        if let Some(mut joiner) = self.open.take() {
            joiner.end(&mut self.builder);
        }
        Ok(())
    }

    /// Reads a log, which another file may follow; where the next digest goes on, for each name
    /// that it has in the state.
    fn read(
        &mut self,
        mut log: OpenLog,
        is_followed: bool,
        progress: &mut dyn FnMut(LogProgress) -> ControlFlow<()>,
    ) -> Result<Vec<FileMark>, LogError> {
        let mut described = log.described();
        let mut input = log.take_input()?;
        let before = following(self.open.take(), log.begin_us, &mut self.builder);
        self.builder.begin_input(self.inputs.len() as u32, described.kind);
        let bound_us = |bound: Option<TimeBound>| bound.map(|bound| log.bound_us(bound));
        self.builder.keep_within(bound_us(self.plan.since), bound_us(self.plan.until));
        let mut offset = log.from;
        if let Some(format) = &log.format {
            let (end, joiner) = self.read_records((&log, format), before, &mut input, progress)?;
            offset = end.offset;
            described.notes.extend(self.close(joiner, &log, is_followed, offset));
            if end.is_stopped {
                self.is_stopped = true;
                described.notes.push(stopped(offset, &input));
            }
            let is_whole = log.from == 0 && !end.is_stopped && format.because != AS_BEFORE;
            described.is_misread = is_whole && !end.has_form && self.builder.has_foreign_lines();
        }
        described.doubts.extend(input.trouble().map(|why| damaged(offset, why)));
        described.bytes = offset.saturating_sub(log.from);
        self.done_bytes += log.raw_size().unwrap_or_else(|| input.raw_bytes().get());
        // What was not read in its own format is to be read again.
        let is_misread = described.is_misread;
        self.inputs.push(described);
        let leaves_open = log.is_growing && !is_followed;
        let marks = if is_misread { Vec::new() } else { marks(log, &input, offset, leaves_open) };
        Ok(marks)
    }

    /// Keeps what joined a log for the file that follows, leaves what is open to the next digest,
    /// or ends it; what is to be known of that.
    fn close(
        &mut self,
        mut joiner: Box<dyn RecordJoiner>,
        log: &OpenLog,
        is_followed: bool,
        end: u64,
    ) -> Option<String> {
        if is_followed {
            self.open = Some(joiner);
            return None;
        }
        if log.is_growing {
            return leave_open(joiner.as_mut(), end, &mut self.builder);
        }
        joiner.end(&mut self.builder);
        None
    }

    fn read_records(
        &mut self,
        (log, format): (&OpenLog, &OpenFormat),
        before: Option<Box<dyn RecordJoiner>>,
        input: &mut LogInput,
        progress: &mut dyn FnMut(LogProgress) -> ControlFlow<()>,
    ) -> Result<(ReadEnd, Box<dyn RecordJoiner>), LogError> {
        let failed = |source| LogError::Read { path: log.path.clone(), source };
        let threads = self.plan.threads.unwrap_or_else(default_threads).clamp(1, MOST_WORKERS);
        let threads = threads_within(threads, getrlimit(Resource::As).current);
        let mut namers = namers(format.kind, self.plan.grouping, &self.plan.routes, threads)?;
        // What goes on begins where the file does.
        let (joiner, header) = match before {
            Some(joiner) => (joiner, Vec::new()),
            None => joiner_at(input, log, format, namers[0].as_mut()).map_err(failed)?,
        };
        let plan = BlockPlan {
            reader: format.reader.as_ref(),
            namers,
            joiner,
            sizes: BlockSizes::of_block(block_bytes(self.plan.block_bytes, threads)),
            leaves_open_end: log.is_growing,
            header,
        };
        let (raw_bytes, before, all_bytes) = (input.raw_bytes(), self.done_bytes, self.all_bytes);
        // Both a block that is done and a source that has nothing yet look whether to go on.
        let progress = RefCell::new(progress);
        let goes_on = || {
            let done_bytes = before + raw_bytes.get();
            (*progress.borrow_mut())(LogProgress { done_bytes, all_bytes })
        };
        // What has come of a pipe is read, whenever it falls silent.
        let head = io::Cursor::new(input.take_head());
        let source = head.chain(WatchedRead { inner: input, goes_on: &goes_on });
        let mut on_block = |_: u64| goes_on();
        read_blocks(source, log.from, plan, &mut self.builder, &mut on_block).map_err(failed)
    }

    /// The digest of what was read.
    fn finish(self) -> LogDigest {
        let (plan, mut inputs, mut notes) = (self.plan, self.inputs, self.notes);
        let sums: DigestSums = self.builder.finish();
        let basis = basis(&inputs, &sums.total);
        let counts = sums.records.into_iter().zip(sums.unread).zip(sums.time_notes);
        for (input, ((records, unread), notes)) in inputs.iter_mut().zip(counts) {
            (input.records, input.unread) = (records, unread);
            input.notes.extend(notes);
        }
        notes.extend(sums.notes);
        notes.extend(left_out(sums.left_out));
        LogDigest {
            schema: SCHEMA,
            dbtime: plan.version.clone(),
            command: plan.command.clone(),
            inputs,
            grouping: plan.grouping,
            basis,
            assumed_weight: weight_of(plan),
            first_us: sums.first_us,
            last_us: sums.last_us,
            total: sums.total,
            classes: sums.classes,
            others: sums.others,
            other_classes: sums.other_classes,
            timeline: sums.timeline,
            events: sums.events,
            notes,
        }
    }
}

/// Where the next digest goes on, for each name that a log has in the state.
fn marks(log: OpenLog, input: &LogInput, offset: u64, leaves_open: bool) -> Vec<FileMark> {
    let format = log.format_name();
    let mark = |key| {
        let mark = FileMark::new(key, input, offset)?;
        Some(FileMark { leaves_open, format: format.clone(), ..mark })
    };
    log.keys.into_iter().filter_map(mark).collect()
}

fn default_threads() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get).min(DEFAULT_WORKERS)
}

/// For how many of so many threads there is room in an address space that `ulimit -v` limits.
fn threads_within(threads: usize, limit: Option<u64>) -> usize {
    let room = limit.map(|limit| limit.saturating_sub(OWN_SPACE) / WORKER_SPACE);
    let room = room.and_then(|room| usize::try_from(room).ok());
    room.map_or(threads, |room| threads.min(room.max(1)))
}

/// How large blocks are, so that all of them are bounded.
fn block_bytes(given: Option<usize>, threads: usize) -> usize {
    given.unwrap_or(BLOCK_BYTES).min(ALL_BLOCK_BYTES / (threads * BLOCKS_EACH))
}

#[cfg(test)]
mod tests;
