//! The simulated machine: its clock, CPUs, threads, a process' memory, tables.

use crate::ffi::{self, TaskFacts};
use std::cell::Cell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The programs have one state: one machine at a time.
static ONE: Mutex<()> = Mutex::new(());

thread_local! {
    /// Whether this test has one, for which it would wait for ever.
    static HAS_ONE: Cell<bool> = const { Cell::new(false) };
}

/// A machine with nothing on it.
pub struct HostMachine {
    /// Of each thread.
    facts: Vec<TaskFacts>,
    sockets: u32,
    _only: MutexGuard<'static, ()>,
}

/// A thread of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostTask(pub(crate) u32);

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSocket(pub(crate) u32);

/// How old a kernel is: `enum host_age`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelAge {
    /// As the one that the tracer was written on.
    Present,
    /// It finds no thread by its number, and says 0 of an empty string of a process.
    Older,
    /// It leaves a program out where another thread is within it, and runs the second alone.
    Newer,
}

/// How many CPUs there are.
pub const CPUS: u32 = 8;

impl HostMachine {
    /// Waits until no other test has one.
    ///
    /// # Panics
    /// This test has one.
    pub fn boot() -> Self {
        assert!(!HAS_ONE.replace(true), "drop the machine before another is booted");
        // A test that failed leaves nothing behind: all is reset.
        let only = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        ffi::host_reset();
        Self { facts: Vec::new(), sockets: 0, _only: only }
    }

    /// A thread, by its number and that of its process' first one; `None`: it is that itself.
    pub fn task(&mut self, pid: u32, leader: Option<HostTask>, name: &str) -> HostTask {
        let task = HostTask(self.facts.len() as u32);
        self.facts.push(TaskFacts::default());
        ffi::task(task.0, pid, leader.unwrap_or(task).0, name);
        self.set_facts(task, &TaskFacts { call: -1, ..TaskFacts::default() });
        task
    }

    /// A thread is in a PID namespace of its own, as in a container, under this number.
    pub fn put_in_namespace(&mut self, task: HostTask, number: u32) {
        ffi::host_set_inner(task.0, number);
    }

    /// A connection by TCP.
    pub fn socket(&mut self, port: u16, peer_port: u16) -> HostSocket {
        const INTERNET: u32 = 2;
        let socket = HostSocket(self.sockets);
        self.sockets += 1;
        ffi::host_socket(socket.0, INTERNET, port.into(), peer_port.into());
        socket
    }

    /// How many packets wait in a socket.
    pub fn set_unread(&mut self, socket: HostSocket, packets: u32) {
        ffi::host_set_unread(socket.0, packets);
    }

    /// Sets the clock, which stands. Unit: nanoseconds.
    pub fn set_clock(&mut self, now: u64) {
        ffi::host_set_clock(now, 0);
    }

    /// What the clock shows.
    pub fn clock(&self) -> u64 {
        ffi::host_clock()
    }

    /// The thread that programs run on, and its CPU.
    pub fn run(&mut self, task: HostTask, cpu: u32) {
        assert!(cpu < CPUS, "there are {CPUS} CPUs");
        ffi::host_set_running(task.0, cpu);
    }

    /// What programs find out about a thread from here on.
    pub fn set_facts(&mut self, task: HostTask, facts: &TaskFacts) {
        self.facts[task.0 as usize] = *facts;
        ffi::set_facts(task.0, facts);
    }

    /// A thread is in a system call, or in a function; -1: in no call.
    pub fn enter(&mut self, task: HostTask, call: i32, arguments: [u64; 4]) {
        let facts = TaskFacts { call, arguments, ..self.facts[task.0 as usize] };
        self.set_facts(task, &facts);
    }

    /// How long the queues of CPUs were throttled, in all: those of one control group. Unit:
    /// nanoseconds.
    pub fn set_throttled(&mut self, times: &[u64; CPUS as usize]) {
        (0..).zip(times).for_each(|(cpu, time)| ffi::host_set_throttled(cpu, *time));
    }

    /// A thread has a file open, by a number below 8. `mode`: as of stat(2).
    pub fn open_file(
        &mut self,
        task: HostTask,
        number: u32,
        mode: u32,
        (folder, name): (&str, &str),
    ) {
        ffi::open_file(task.0, number, mode, folder, name);
    }

    /// Puts bytes where servers have theirs, in place of others that began there. Around them there
    /// is nothing that could be read.
    pub fn set_memory(&mut self, at: u64, bytes: &[u8]) {
        ffi::memory(at, bytes);
    }

    /// Nothing of it can be read any more.
    pub fn forget_memory(&mut self) {
        ffi::host_forget_memory();
    }

    /// How often programs have read memory of processes since the boot.
    pub fn reads(&self) -> u64 {
        ffi::host_reads()
    }

    /// The read of memory with this number, from 1 and from now on, fails; 0: none does.
    pub fn fail_read(&mut self, number: u64) {
        ffi::host_fail_read(number);
    }

    /// Whether the kernel lacks what not all kernels have.
    pub fn lack_members(&mut self, lacks: bool) {
        ffi::host_set_members(lacks.into());
    }

    /// Has the kernel do as those of this age do.
    pub fn set_age(&mut self, age: KernelAge) {
        ffi::host_set_age(age as i32);
    }

    /// Whether the stream has no room.
    pub fn fill_ring(&mut self, is_full: bool) {
        ffi::host_set_ring_full(is_full.into());
    }

    /// What probes bring with them.
    pub fn set_cookie(&mut self, cookie: u64) {
        ffi::host_set_cookie(cookie);
    }

    /// Records that programs have handed over since the last call.
    pub fn records(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(ffi::next_record).collect()
    }

    /// Keys and rows of a table in the order of their making; of one of each CPU those of `cpu`.
    pub fn rows(&self, table: &str, cpu: u32) -> Vec<(Vec<u8>, Vec<u8>)> {
        (0..).map_while(|place| ffi::row_at(table, place, cpu)).collect()
    }

    /// Writes a row of a table.
    pub fn put(&mut self, table: &str, key: &[u8], row: &[u8]) {
        ffi::put(table, key, row);
    }

    /// Takes a row out of a table.
    pub fn remove(&mut self, table: &str, key: &[u8]) {
        ffi::remove(table, key);
    }

    /// A program has run: it has kept to what it may.
    #[track_caller]
    pub(crate) fn check(&mut self) {
        let broken = ffi::broken();
        assert!(broken.is_empty(), "{broken}");
    }
}

impl Drop for HostMachine {
    fn drop(&mut self) {
        HAS_ONE.set(false);
        // What is left would be found as lost by a checker of memory.
        ffi::host_reset();
    }
}
