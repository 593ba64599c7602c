//! The programs that follow connections and the threads that serve them.

use crate::ffi;
use crate::machine::{HostMachine, HostSocket, HostTask};
use std::ops::Range;

/// Where a server's thread has what it reads, and what it sends.
pub const READ_AT: u64 = 0x7000_0000_0000;
/// See [`READ_AT`].
pub const SENT_AT: u64 = 0x7100_0000_0000;

/// `read(2)` and `write(2)`.
#[cfg(target_arch = "x86_64")]
const CALLS: (i32, i32) = (0, 1);
#[cfg(not(target_arch = "x86_64"))]
const CALLS: (i32, i32) = (63, 64);

/// How much is done for a request: `enum depth`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureDetail {
    /// It is handed over, where the settings say so.
    Everything,
    /// It is added up.
    Sums,
    /// It is counted.
    Counts,
}

/// The programs of `crates/dbtime-observe/bpf/capture.bpf.c`.
#[derive(Debug)]
pub struct CapturePrograms(());

impl CapturePrograms {
    /// Watches; `settings` is `struct settings`.
    pub fn begin(_machine: &mut HostMachine, settings: &[u8], detail: CaptureDetail) -> Self {
        const WATCHING: u32 = 1;
        ffi::capture_begin();
        ffi::set_capture(settings, detail as u32, WATCHING);
        Self(())
    }

    /// Nothing begins any more; what is under way is accounted for.
    pub fn end(&mut self, settings: &[u8]) {
        const ENDED: u32 = 2;
        ffi::set_capture(settings, CaptureDetail::Everything as u32, ENDED);
    }

    /// The thread that runs has read bytes from a socket. Behind them nothing can be read.
    pub fn read(&mut self, machine: &mut HostMachine, at: (HostTask, HostSocket), bytes: &[u8]) {
        self.read_before(machine, at, bytes, &[]);
    }

    /// The same where other bytes lie behind them.
    pub fn read_before(
        &mut self,
        machine: &mut HostMachine,
        (task, socket): (HostTask, HostSocket),
        bytes: &[u8],
        stale: &[u8],
    ) {
        let buffer = [bytes, stale].concat();
        self.read_into(machine, (task, socket), &buffer, 0..bytes.len());
    }

    /// The thread that runs has read bytes from a socket to a place in its buffer.
    pub fn read_into(
        &mut self,
        machine: &mut HostMachine,
        (task, socket): (HostTask, HostSocket),
        buffer: &[u8],
        read: Range<usize>,
    ) {
        machine.set_memory(READ_AT, buffer);
        self.call(machine, (task, CALLS.0, READ_AT + read.start as u64), || {
            ffi::capture_received(socket.0, read.len() as i32, 0);
        });
    }

    /// It has tried to, and got an error or, as 0, the end.
    pub fn read_nothing(
        &mut self,
        machine: &mut HostMachine,
        (task, socket): (HostTask, HostSocket),
        result: i32,
    ) {
        self.call(machine, (task, CALLS.0, READ_AT), || {
            ffi::capture_received(socket.0, result, 0);
        });
    }

    /// The thread that runs has sent bytes.
    pub fn send(
        &mut self,
        machine: &mut HostMachine,
        (task, socket): (HostTask, HostSocket),
        bytes: &[u8],
    ) {
        self.send_from(machine, (task, socket), bytes, 0..bytes.len());
    }

    /// The thread that runs has sent bytes from a place in its buffer.
    pub fn send_from(
        &mut self,
        machine: &mut HostMachine,
        (task, socket): (HostTask, HostSocket),
        buffer: &[u8],
        sent: Range<usize>,
    ) {
        machine.set_memory(SENT_AT, buffer);
        self.call(machine, (task, CALLS.1, SENT_AT + sent.start as u64), || {
            ffi::capture_sent(socket.0, sent.len() as i32);
        });
    }

    /// It has tried to, and got an error.
    pub fn send_nothing(
        &mut self,
        machine: &mut HostMachine,
        (task, socket): (HostTask, HostSocket),
        result: i32,
    ) {
        self.call(machine, (task, CALLS.1, SENT_AT), || ffi::capture_sent(socket.0, result));
    }

    fn call(
        &mut self,
        machine: &mut HostMachine,
        (task, call, at): (HostTask, i32, u64),
        program: impl FnOnce(),
    ) {
        machine.enter(task, call, [0, at, 0, 0]);
        program();
        machine.check();
    }

    /// Bytes have come to a socket.
    pub fn data_ready(&mut self, machine: &mut HostMachine, socket: HostSocket, unread: u32) {
        machine.set_unread(socket, unread);
        ffi::capture_data_ready(socket.0);
        machine.check();
    }

    /// A socket was closed.
    pub fn closed(&mut self, machine: &mut HostMachine, socket: HostSocket) {
        ffi::capture_closed(socket.0);
        machine.check();
    }

    /// A CPU goes from one thread to another. `state` as in the kernel; 0: it could run on.
    pub fn switch(
        &mut self,
        machine: &mut HostMachine,
        (from, to): (HostTask, HostTask),
        state: u32,
        is_preempted: bool,
    ) {
        ffi::capture_switch(is_preempted.into(), from.0, to.0, state);
        machine.check();
    }

    /// The present CPU is sampled.
    pub fn sample(&mut self, machine: &mut HostMachine) {
        ffi::capture_sample();
        machine.check();
    }

    /// A thread is woken, by the one that runs or by a timer.
    pub fn waking(&mut self, machine: &mut HostMachine, task: HostTask, by_timer: bool) {
        if by_timer {
            ffi::capture_timer(1);
        }
        ffi::capture_waking(task.0);
        if by_timer {
            ffi::capture_timer(0);
        }
        machine.check();
    }

    /// A server says what a thread waits for from here on (the second argument of what it calls),
    /// or that it does not any more.
    pub fn set_wait(&mut self, machine: &mut HostMachine, task: HostTask, begins: bool) {
        ffi::capture_waits(task.0, begins.into());
        machine.check();
    }

    /// PostgreSQL makes a portal.
    pub fn portal(&mut self, machine: &mut HostMachine, task: HostTask) {
        machine.enter(task, -1, [0, 1, 0, 0]);
        ffi::capture_portal(task.0);
        machine.check();
    }

    /// Notes which threads serve requests, which the walks over connections that follow go by on a
    /// kernel that finds no thread by its number.
    pub fn walk_threads(&mut self, machine: &mut HostMachine) {
        ffi::capture_walk_threads();
        machine.check();
    }

    /// Writes a snapshot of a connection to the records.
    pub fn snapshot(&mut self, machine: &mut HostMachine, socket: HostSocket) {
        ffi::capture_walk(socket.0, b's' as _);
        machine.check();
    }

    /// Accounts for a connection when the trace ends.
    pub fn finalize(&mut self, machine: &mut HostMachine, socket: HostSocket) {
        ffi::capture_walk(socket.0, b'f' as _);
        machine.check();
    }

    /// Closes a request that was answered by a thread which then left the connection.
    pub fn close_answered(&mut self, machine: &mut HostMachine, socket: HostSocket) {
        ffi::capture_walk(socket.0, b'c' as _);
        machine.check();
    }

    /// The shape of a text: `enum protocol` and `enum request_flags` say how it is read.
    pub fn shape(&mut self, machine: &mut HostMachine, rules: (u32, u32), text: &[u8]) -> u64 {
        let shape = ffi::shape(rules.0, rules.1, text);
        machine.check();
        shape
    }
}
