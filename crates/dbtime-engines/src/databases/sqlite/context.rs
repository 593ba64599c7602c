//! What the callbacks of one connection know: its thread's clocks, whether a statement is being
//! measured, the figures counted so far.
//!
//! SQLite calls back into the VFS and the busy handler while the connection executes a statement.
//! Everything here is a `Cell`, so that both may hold shared references at once; a context belongs
//! to one thread, and so do its connection and all of that connection's files.

use super::figures::{CallFigures, IoFigures, SqliteFileKind, VfsCall};
use super::file_wait::FileAttribution;
use super::lock::{LockAttribution, LockHolder, LockRegistry};
use super::lock_chain::WorkerActivity;
use dbtime_machine::counter::TimeStampCounter;
use dbtime_machine::now;
use dbtime_machine::switch_clock::{OffCpuTime, SwitchClock};
use dbtime_machine::thread_clock::{ThreadClock, ThreadSpan};
use dbtime_model::parts::PART_COUNT;
use dbtime_model::{MonoNanos, Nanos, Part, Parts, StatementId};
use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;

/// Time without a reading of the thread clock after which the next one is slow.
const COLD: Nanos = Nanos::from_micros(5);

/// A call in which the thread was switched out is booked whole where it was shorter.
const SHORT_WAIT: Nanos = Nanos::from_micros(20);

/// How the present statement is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MeasureMode {
    /// Not at all.
    #[default]
    Off,
    /// Whatever keeps the CPU is CPU time; only where the thread lost it the kernel is asked why.
    Switches,
    /// By readings of the CPU clock at both ends of each stretch, which attract pre-emptions: where
    /// switches cannot be seen.
    Probe,
}

/// One connection's context. Its address is handed to SQLite, so it lives in a box of its own.
#[derive(Default)]
pub(super) struct ConnectionContext {
    pub(super) clock: ThreadClock,
    /// `None` where the thread cannot see that it was switched out.
    switches: Option<SwitchClock>,
    pub(super) path: PathBuf,
    pub(super) registry: Arc<LockRegistry>,
    pub(super) worker: usize,
    pub(super) busy_timeout: Cell<Nanos>,
    /// In WAL mode readers stand in nobody's way.
    pub(super) is_wal: Cell<bool>,
    pub(super) statement: Cell<StatementId>,
    pub(super) statements: Cell<u64>,
    pub(super) rows: Cell<u64>,
    pub(super) naps: Cell<u64>,
    pub(super) nap_ns: Cell<u64>,
    pub(super) waits: RefCell<Vec<LockAttribution>>,
    pub(super) file_waits: RefCell<Vec<FileAttribution>>,
    /// Naps of the present wait that nobody was found for: how many, and their nanoseconds.
    pub(super) unnamed: Cell<(u64, u64)>,
    /// The other process that the present wait is for, once it was looked for.
    pub(super) foreign_holder: Cell<Option<LockHolder>>,
    mode: Cell<MeasureMode>,
    /// When the present statement began.
    sent: Cell<MonoNanos>,
    /// Times calls.
    counter: TimeStampCounter,
    /// The counter when the last timed call ended.
    last_end: Cell<u64>,
    /// The same where the next one continues it, else zero.
    continued_from: Cell<u64>,
    /// Time in waits for mutexes that the next account has to tell apart. Unit: nanoseconds.
    in_mutexes: Cell<u64>,
    parts: [Cell<i64>; PART_COUNT],
    /// Their sum. Unit: nanoseconds.
    booked: Cell<u64>,
    calls: [[CallCell; VfsCall::ALL.len()]; SqliteFileKind::ALL.len()],
}

#[derive(Default)]
struct CallCell {
    count: Cell<u64>,
    bytes: Cell<u64>,
    wall_ns: Cell<u64>,
    max_ns: Cell<u64>,
}

thread_local! {
    /// The context of the connection this thread executes a statement on. Files opened meanwhile
    /// belong to it.
    static CURRENT: Cell<*const ConnectionContext> = const { Cell::new(std::ptr::null()) };
}

impl ConnectionContext {
    pub(super) fn new(path: PathBuf, registry: Arc<LockRegistry>, worker: usize) -> Self {
        Self {
            switches: SwitchClock::new(),
            path,
            registry,
            worker,
            file_waits: RefCell::new(FileAttribution::table()),
            ..Self::default()
        }
    }

    /// Makes this the context of files the thread opens from now on.
    #[inline]
    pub(super) fn enter(&self) {
        CURRENT.set(self);
    }

    /// A statement is over.
    #[inline]
    pub(super) fn ended(&self) {
        self.registry.set_activity(self.worker, WorkerActivity::Between);
    }

    /// Undoes [`ConnectionContext::enter`] before the context goes away.
    pub(super) fn leave(&self) {
        if std::ptr::eq(CURRENT.get(), self) {
            CURRENT.set(std::ptr::null());
        }
    }

    /// The context entered last on this thread, or null.
    #[inline]
    pub(super) fn current() -> *const Self {
        CURRENT.get()
    }

    /// Whether every statement can be measured without disturbing it.
    pub(super) fn sees_switches(&self) -> bool {
        self.switches.is_some()
    }

    /// Brings the accounts of the thread up to date, so that the next statement need not. Returns
    /// what was added; `None` where it kept the CPU, or switches cannot be seen.
    #[inline]
    pub(super) fn settle(&self) -> Option<OffCpuTime> {
        let switches = self.switches.as_ref()?;
        switches.lost_cpu().then(|| switches.account())
    }

    /// Begins a measured statement and returns the instant it starts at.
    #[inline]
    pub(super) fn begin_measuring(&self) -> MonoNanos {
        let sent = match &self.switches {
            Some(switches) => {
                self.mode.set(MeasureMode::Switches);
                let present = now();
                if switches.lost_cpu() { switches.account().until } else { present }
            }
            None => self.begin_probe(),
        };
        self.sent.set(sent);
        sent
    }

    fn begin_probe(&self) -> MonoNanos {
        let before = self.clock.advance();
        if before.wall > COLD {
            // The way through the kernel is out of the caches and the two clocks lie further apart
            // than at the end: on a statement of 200 ns that shows. The second reading is warm.
            self.clock.advance();
        }
        self.mode.set(MeasureMode::Probe);
        self.clock.last()
    }

    /// Ends a measured statement, moves its parts to where they are wanted, and returns the instant
    /// it ended.
    #[inline]
    pub(super) fn end_measuring(&self, parts: &mut Parts) -> MonoNanos {
        let mut done = match &self.switches {
            Some(_) => now(),
            None => {
                self.end_body_span();
                self.clock.last()
            }
        };
        if let Some(switches) = &self.switches {
            if switches.lost_cpu() {
                done = self.account_body(switches);
            }
            // Unmeasured waits there are none, so the rest was spent on a CPU.
            let on_cpu = (done - self.sent.get()) - Nanos(self.booked.get());
            parts.add(Part::Cpu, on_cpu.0.cast_signed());
        }
        self.mode.set(MeasureMode::Off);
        if self.booked.take() > 0 {
            for (part, ns) in Part::ALL.into_iter().zip(&self.parts) {
                if ns.get() != 0 {
                    parts.add(part, ns.replace(0));
                }
            }
        }
        done
    }

    /// Runs a call in which the thread may block, and says how long it took. In a measured
    /// statement the time it was blocked is added to `part`.
    #[inline]
    pub(super) fn timed<R>(&self, part: Part, call: impl FnOnce() -> R) -> (R, Nanos) {
        let call = || {
            self.registry.set_activity(self.worker, WorkerActivity::of_call(part));
            let result = call();
            self.registry.set_activity(self.worker, WorkerActivity::Running);
            result
        };
        let switches = match self.mode.get() {
            MeasureMode::Probe => return self.timed_probe(part, call),
            MeasureMode::Off => None,
            MeasureMode::Switches => self.switches.as_ref(),
        };
        if let Some(switches) = switches
            && switches.lost_cpu()
        {
            self.account_body(switches);
        }
        let start = match self.continued_from.take() {
            0 => self.counter.read(),
            end => end,
        };
        let result = call();
        let end = self.counter.read();
        self.last_end.set(end);
        if let Some(switches) = switches
            && switches.lost_cpu()
        {
            self.account_call(switches, part, start);
        }
        (result, self.counter.between(start, end))
    }

    /// A call on a file: runs it, counts it, and notes in which file a measured statement was
    /// blocked.
    #[inline]
    pub(super) fn timed_call<R>(
        &self,
        (file, call): (SqliteFileKind, VfsCall),
        part: Part,
        bytes: u64,
        below: impl FnOnce() -> R,
    ) -> R {
        let before = self.part(part);
        let (result, wall) = self.timed(part, below);
        self.record(file, call, bytes, wall);
        let blocked = self.part(part) - before;
        if blocked > 0 {
            self.note_file_wait(file, part, Nanos(blocked.cast_unsigned()));
        }
        result
    }

    #[cold]
    fn note_file_wait(&self, file: SqliteFileKind, part: Part, wait: Nanos) {
        if let Ok(mut waits) = self.file_waits.try_borrow_mut() {
            let waiter = self.statement.get();
            let one = FileAttribution { waiter, file, part, count: 1, wait };
            FileAttribution::add_to(&mut waits, &one);
        }
    }

    /// What is booked of the present statement. Unit: nanoseconds.
    #[inline]
    fn part(&self, part: Part) -> i64 {
        self.parts.get(part as usize).map_or(0, Cell::get)
    }

    /// Takes a mutex that somebody else has; timed in a measured statement only.
    ///
    /// The thread has the mutex when the wait is over, and others may wait for it meanwhile: the
    /// kernel is asked later, when the next account is due anyway.
    #[inline]
    pub(super) fn wait_for_mutex(&self, wait: impl FnOnce()) {
        let switches = match (self.mode.get(), &self.switches) {
            (MeasureMode::Off, _) => return wait(),
            (MeasureMode::Switches, Some(switches)) => switches,
            _ => return self.timed_probe(Part::Lock, wait).0,
        };
        let had_lost_cpu = switches.lost_cpu();
        let start = self.counter.read();
        wait();
        if !switches.lost_cpu() {
            return;
        }
        let took = self.counter.between(start, self.counter.read());
        if had_lost_cpu || took >= SHORT_WAIT {
            self.in_mutexes.set(self.in_mutexes.get() + took.0);
        } else {
            self.book_short(switches, Part::Lock, took);
        }
    }

    /// The thread lost the CPU in SQLite's own code. If it was blocked there other than for a
    /// mutex, nobody says why.
    #[cold]
    fn account_body(&self, switches: &SwitchClock) -> MonoNanos {
        let off = self.account(switches);
        self.add_off_cpu(off, Part::Unexplained, off.until - self.sent.get());
        off.until
    }

    /// Time off the CPU since the last account, less waits for mutexes, which are booked.
    fn account(&self, switches: &SwitchClock) -> OffCpuTime {
        let off = switches.account();
        let for_mutexes = off.blocked.min(Nanos(self.in_mutexes.take()));
        self.add_part(Part::Lock, for_mutexes);
        OffCpuTime { blocked: off.blocked - for_mutexes, ..off }
    }

    /// The thread lost the CPU in a call that began at `start` of the counter.
    #[cold]
    fn account_call(&self, switches: &SwitchClock, part: Part, start: u64) {
        let took = self.counter.between(start, self.counter.read());
        if took < SHORT_WAIT && self.in_mutexes.get() == 0 {
            return self.book_short(switches, part, took);
        }
        let off = self.account(switches);
        let took = self.counter.between(start, self.counter.read());
        self.add_off_cpu(off, part, took);
    }

    /// A wait so short is not worth the account, which would take a good part of it: what of it was
    /// on a CPU, or waited for one, is booked with the rest.
    fn book_short(&self, switches: &SwitchClock, part: Part, took: Nanos) {
        self.add_part(part, took);
        switches.was_booked(took);
    }

    /// Adds time off the CPU within a stretch that took so long: `blocked` may hold what interrupts
    /// took before it. The parts never come to more than the statement has taken.
    fn add_off_cpu(&self, off: OffCpuTime, blocked: Part, took: Nanos) {
        let passed = off.until - self.sent.get() - Nanos(self.booked.get());
        let runq = off.runq.min(passed);
        self.add_part(Part::Runq, runq);
        self.add_part(blocked, off.blocked.min(took - runq).min(passed - runq));
    }

    /// Says that the next timed call follows upon the last one without anything in between, so that
    /// one clock reading serves both. Readings are most of what the VFS costs.
    #[inline]
    pub(super) fn continues(&self) {
        if self.mode.get() != MeasureMode::Probe {
            self.continued_from.set(self.last_end.get());
        }
    }

    #[cold]
    fn timed_probe<R>(&self, part: Part, call: impl FnOnce() -> R) -> (R, Nanos) {
        self.end_body_span();
        // Two more readings, so that the figures of the call do not contain those of the clocks.
        let start = self.counter.read();
        let result = call();
        let wall = self.counter.between(start, self.counter.read());
        let span = self.clock.advance();
        self.add(&span);
        self.add_part(part, span.blocked());
        (result, wall)
    }

    /// What the thread did in SQLite's own code. If it was blocked there, no part says why: that
    /// stays in the unexplained remainder.
    #[inline]
    fn end_body_span(&self) {
        let span = self.clock.advance();
        self.add(&span);
    }

    #[inline]
    fn add(&self, span: &ThreadSpan) {
        self.add_part(Part::Cpu, span.cpu);
        self.add_part(Part::Runq, span.runq);
    }

    #[inline]
    fn add_part(&self, part: Part, by: Nanos) {
        if let Some(cell) = self.parts.get(part as usize) {
            cell.set(cell.get().wrapping_add(by.0.cast_signed()));
            self.booked.set(self.booked.get().wrapping_add(by.0));
        }
    }

    /// Counts a call that is not timed.
    #[inline]
    pub(super) fn count(&self, file: SqliteFileKind, call: VfsCall) {
        let cell = &self.calls[file as usize][call as usize];
        cell.count.set(cell.count.get().wrapping_add(1));
    }

    /// Counts a call that was timed.
    #[inline]
    fn record(&self, file: SqliteFileKind, call: VfsCall, bytes: u64, wall: Nanos) {
        let cell = &self.calls[file as usize][call as usize];
        cell.count.set(cell.count.get().wrapping_add(1));
        cell.bytes.set(cell.bytes.get().wrapping_add(bytes));
        cell.wall_ns.set(cell.wall_ns.get().wrapping_add(wall.0));
        cell.max_ns.set(cell.max_ns.get().max(wall.0));
    }

    /// The calls counted so far.
    pub(super) fn io(&self) -> IoFigures {
        let read = |cell: &CallCell| CallFigures {
            count: cell.count.get(),
            bytes: cell.bytes.get(),
            wall_ns: cell.wall_ns.get(),
            max_ns: cell.max_ns.get(),
        };
        IoFigures(self.calls.each_ref().map(|file| file.each_ref().map(read)))
    }

    /// Sets every figure back to zero.
    pub(super) fn clear_figures(&self) {
        for counter in [&self.statements, &self.rows, &self.naps, &self.nap_ns] {
            counter.set(0);
        }
        self.waits.borrow_mut().clear();
        self.file_waits.borrow_mut().clear();
        for cell in self.calls.iter().flatten() {
            for counter in [&cell.count, &cell.bytes, &cell.wall_ns, &cell.max_ns] {
                counter.set(0);
            }
        }
    }
}
