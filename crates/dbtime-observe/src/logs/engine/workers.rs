//! Blocks are read by workers and joined in the order of the log, on the calling thread.
//!
//! Blocks go to the workers in turn and come back in turn. A worker has two of them at most, so
//! that no queue blocks, and memory is bounded; blocks and batches are used again.

use super::blocks::{BlockDivider, BlockSizes, LogBlock};
use crate::logs::{ClassNamer, LogReader, RecordBatch, RecordJoiner, RecordSink};
use dbtime_model::log_digest::UnreadReason;
use std::io::{self, Read};
use std::mem;
use std::ops::ControlFlow;
use std::panic;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Scope, ScopedJoinHandle};

/// How many blocks a worker has at once: one to read, and one to go on with.
pub(super) const BLOCKS_EACH: usize = 2;

/// How a log is read.
pub(super) struct BlockPlan<'a> {
    /// Its format.
    pub(super) reader: &'a dyn LogReader,
    /// What names classes, for each worker; a single one works on the calling thread.
    pub(super) namers: Vec<Box<dyn ClassNamer>>,
    /// What joins its pieces.
    pub(super) joiner: Box<dyn RecordJoiner>,
    /// How it is divided.
    pub(super) sizes: BlockSizes,
    /// Whether a last record that may not be whole is left for the next time.
    pub(super) leaves_open_end: bool,
    /// The last line before that gives lines another form; empty: there is none.
    pub(super) header: Vec<u8>,
}

/// Where reading has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadEnd {
    /// Behind the last record that was joined. Unit: bytes.
    pub(super) offset: u64,
    /// Whether it was stopped.
    pub(super) is_stopped: bool,
    /// Whether any line had the form of the format.
    pub(super) has_form: bool,
}

/// Reads a log from here to its end, or until `progress`, which learns the offset behind each
/// block, breaks; the joiner has what is open there.
///
/// Errors: as reading. Panics: as a worker does.
pub(super) fn read_blocks(
    source: impl Read,
    offset: u64,
    plan: BlockPlan<'_>,
    sink: &mut dyn RecordSink,
    progress: &mut dyn FnMut(u64) -> ControlFlow<()>,
) -> io::Result<(ReadEnd, Box<dyn RecordJoiner>)> {
    let BlockPlan { reader, mut namers, joiner, sizes, leaves_open_end, header } = plan;
    let mut divider = BlockDivider::new(source, offset, reader, sizes);
    divider.begin_below(header);
    let mut joining = BatchJoining { joiner, offset, leaves_open_end, has_form: false };
    let mut take = |job: &LogJob| {
        joining.take(job, sink);
        progress(joining.offset)
    };
    let is_stopped = if namers.len() > 1 {
        with_workers(&mut divider, reader, namers, &mut take)?
    } else {
        let namer = namers.first_mut().expect("a namer");
        alone(&mut divider, reader, namer.as_mut(), &mut take)?
    };
    let end = ReadEnd { offset: joining.offset, is_stopped, has_form: joining.has_form };
    Ok((end, joining.joiner))
}

/// A block, and what was read of it.
#[derive(Default)]
struct LogJob {
    block: LogBlock,
    batch: RecordBatch,
}

impl LogJob {
    fn read(&mut self, reader: &dyn LogReader, namer: &mut dyn ClassNamer) {
        self.batch.clear();
        if !self.block.bytes.is_empty() {
            let LogBlock { header, bytes, .. } = &self.block;
            reader.read_below(header, bytes, namer, &mut self.batch);
        }
        // What was not read of a line without an end is not wrong, but not whole.
        if let Some((why, _)) = self.batch.unread.last_mut()
            && self.block.is_cut
        {
            *why = UnreadReason::Incomplete;
        }
    }

    /// Whether its record may go on, once it is written on.
    fn is_open(&self) -> bool {
        let last = self.batch.unread.last();
        let is_incomplete = last.is_some_and(|(why, _)| *why == UnreadReason::Incomplete);
        self.block.is_last && (self.block.is_cut || is_incomplete)
    }
}

/// Hands on what was read, in the order of the log.
struct BatchJoining {
    joiner: Box<dyn RecordJoiner>,
    /// Behind the last record that was joined.
    offset: u64,
    leaves_open_end: bool,
    /// Whether any line so far had the form of the format.
    has_form: bool,
}

impl BatchJoining {
    fn take(&mut self, job: &LogJob, sink: &mut dyn RecordSink) {
        let LogJob { block, batch } = job;
        for offset in &block.too_long {
            sink.count_unread(UnreadReason::TooLong, *offset);
        }
        if self.leaves_open_end && job.is_open() {
            self.offset = block.offset;
            return;
        }
        self.has_form |= batch.has_form || !batch.pieces.is_empty();
        for (why, at) in &batch.unread {
            sink.count_unread(*why, block.offset + u64::from(*at));
        }
        self.joiner.join(&block.bytes, block.offset, batch, sink);
        self.offset = block.offset + block.bytes.len() as u64;
    }
}

/// Puts the next block into a job that is done; `false`: there is none.
fn next_block<R: Read>(divider: &mut BlockDivider<'_, R>, job: &mut LogJob) -> io::Result<bool> {
    let Some(block) = divider.next(mem::take(&mut job.block.bytes))? else { return Ok(false) };
    job.block = block;
    Ok(true)
}

/// Takes a job that is done, and breaks to stop.
type TakeJob<'a> = &'a mut dyn FnMut(&LogJob) -> ControlFlow<()>;

/// Reads everything on this thread; whether it was stopped.
fn alone<R: Read>(
    divider: &mut BlockDivider<'_, R>,
    reader: &dyn LogReader,
    namer: &mut dyn ClassNamer,
    take: TakeJob<'_>,
) -> io::Result<bool> {
    let mut job = LogJob::default();
    while next_block(divider, &mut job)? {
        job.read(reader, namer);
        if take(&job).is_break() {
            return Ok(true);
        }
    }
    Ok(divider.is_stopped())
}

/// Has workers read, as many as can be started; whether it was stopped.
fn with_workers<R: Read>(
    divider: &mut BlockDivider<'_, R>,
    reader: &dyn LogReader,
    namers: Vec<Box<dyn ClassNamer>>,
    take: TakeJob<'_>,
) -> io::Result<bool> {
    thread::scope(|scope| {
        let mut namers = namers.into_iter();
        let start = |namer| LogWorker::start(scope, reader, namer).ok();
        let workers: Vec<LogWorker<'_>> = namers.by_ref().map_while(start).collect();
        if workers.is_empty() {
            let mut namer = namers.next().expect("more than one namer");
            return alone(divider, reader, namer.as_mut(), take);
        }
        let outcome = share_out(divider, &workers, take);
        for LogWorker { jobs, done, thread } in workers {
            drop((jobs, done));
            if let Err(cause) = thread.join() {
                panic::resume_unwind(cause);
            }
        }
        outcome
    })
}

/// Hands blocks to the workers in turn, and takes them back in turn. A worker that is gone has
/// panicked, which the caller finds.
fn share_out<R: Read>(
    divider: &mut BlockDivider<'_, R>,
    workers: &[LogWorker<'_>],
    take: TakeJob<'_>,
) -> io::Result<bool> {
    let most = workers.len() * BLOCKS_EACH;
    let mut free: Vec<LogJob> = Vec::new();
    let (mut sent, mut taken, mut is_over) = (0, 0, false);
    loop {
        while !is_over && sent - taken < most {
            let mut job = free.pop().unwrap_or_default();
            is_over = !next_block(divider, &mut job)?;
            if !is_over {
                if workers[sent % workers.len()].jobs.send(job).is_err() {
                    return Ok(false);
                }
                sent += 1;
            }
        }
        if taken == sent {
            return Ok(divider.is_stopped());
        }
        let Ok(job) = workers[taken % workers.len()].done.recv() else { return Ok(false) };
        taken += 1;
        if take(&job).is_break() {
            return Ok(true);
        }
        free.push(job);
    }
}

/// A thread that reads blocks.
struct LogWorker<'scope> {
    jobs: SyncSender<LogJob>,
    done: Receiver<LogJob>,
    thread: ScopedJoinHandle<'scope, ()>,
}

impl<'scope> LogWorker<'scope> {
    /// Starts one, which ends with its queue.
    ///
    /// Errors: the system has no room for a thread more.
    fn start(
        scope: &'scope Scope<'scope, '_>,
        reader: &'scope dyn LogReader,
        mut namer: Box<dyn ClassNamer>,
    ) -> io::Result<Self> {
        let (jobs, queue) = sync_channel::<LogJob>(BLOCKS_EACH);
        let (results, done) = sync_channel(BLOCKS_EACH);
        let thread = thread::Builder::new().spawn_scoped(scope, move || {
            for mut job in queue {
                job.read(reader, namer.as_mut());
                if results.send(job).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { jobs, done, thread })
    }
}

#[cfg(test)]
mod tests;
