//! The simulated kernel and the programs, as C functions, each behind one that is safe: threads and
//! sockets go by numbers that C looks up, tables by their names, bytes are copied. What is not
//! there ends the process.
//!
//! They have one state together: only who holds the one [`HostMachine`](crate::HostMachine) calls
//! them.

use std::ffi::{CStr, CString, c_char, c_int, c_long};

/// What a program finds out about a thread: `struct host_facts`. Unit of times: nanoseconds, those
/// of `sched_info` by the scheduler's own clock.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct TaskFacts {
    /// How long it has waited for CPUs in its life.
    pub run_delay: u64,
    /// When it got the CPU last.
    pub last_arrival: u64,
    /// Since when it waits for one; 0: it does not.
    pub last_queued: u64,
    /// How long it has had a CPU in its life.
    pub cpu_clock: u64,
    /// When it began, since boot.
    pub start: u64,
    /// Of its present system call.
    pub arguments: [u64; 4],
    /// By that call.
    pub returned: u64,
    /// Its number; -1: none.
    pub call: i32,
    /// The CPU in whose queue it waits.
    pub queue: u32,
    /// Whether it has a CPU.
    pub is_on_cpu: u32,
    /// Whether its control group was frozen.
    pub is_frozen: u32,
    /// CPU time in user mode.
    pub utime: u64,
    /// CPU time in the kernel.
    pub stime: u64,
}

mod c {
    use super::{TaskFacts, c_char, c_int, c_long};

    unsafe extern "C" {
        pub(super) fn host_reset();
        pub(super) fn host_broken() -> *const c_char;
        pub(super) fn host_set_clock(now: u64, tick: u64);
        pub(super) fn host_clock() -> u64;
        pub(super) fn host_set_running(task: u32, cpu: u32);
        pub(super) fn host_set_cookie(cookie: u64);
        pub(super) fn host_set_throttled(cpu: u32, time: u64);
        pub(super) fn host_set_members(lacks: c_int);
        pub(super) fn host_set_age(age: c_int);
        pub(super) fn host_set_ring_full(is_full: c_int);
        pub(super) fn host_reads() -> u64;
        pub(super) fn host_fail_read(after: u64);
        pub(super) fn host_task(index: u32, pid: u32, leader: u32, name: *const c_char);
        pub(super) fn host_set_inner(index: u32, number: u32);
        pub(super) fn host_set_facts(index: u32, facts: *const TaskFacts);
        pub(super) fn host_open_file(
            index: u32,
            number: u32,
            mode: u32,
            folder: *const c_char,
            name: *const c_char,
        );
        pub(super) fn host_memory(at: u64, bytes: *const u8, length: u64);
        pub(super) fn host_forget_memory();
        pub(super) fn host_socket(index: u32, family: u32, port: u32, peer_port: u32);
        pub(super) fn host_set_unread(index: u32, packets: u32);
        pub(super) fn host_record_length() -> c_long;
        pub(super) fn host_take_record(to: *mut u8);
        pub(super) fn host_key_size(name: *const c_char) -> u32;
        pub(super) fn host_value_size(name: *const c_char) -> u32;
        pub(super) fn host_put(name: *const c_char, key: *const u8, value: *const u8) -> c_long;
        pub(super) fn host_remove(name: *const c_char, key: *const u8) -> c_long;
        pub(super) fn host_row_at(
            name: *const c_char,
            place: u32,
            cpu: u32,
            key: *mut u8,
            value: *mut u8,
        ) -> c_int;
        pub(super) fn capture_begin();
        pub(super) fn capture_settings_size() -> u32;
        pub(super) fn capture_set(settings: *const u8, depth: u32, phase: u32);
        pub(super) fn capture_received(socket: u32, result: c_int, flags: c_int);
        pub(super) fn capture_sent(socket: u32, result: c_int);
        pub(super) fn capture_data_ready(socket: u32);
        pub(super) fn capture_closed(socket: u32);
        pub(super) fn capture_switch(preempt: c_int, from: u32, to: u32, state: u32);
        pub(super) fn capture_sample();
        pub(super) fn capture_waking(task: u32);
        pub(super) fn capture_timer(begins: c_int);
        pub(super) fn capture_waits(task: u32, begins: c_int);
        pub(super) fn capture_portal(task: u32);
        pub(super) fn capture_walk_threads();
        pub(super) fn capture_walk(socket: u32, what: c_char);
        pub(super) fn capture_shape(protocol: u32, flags: u32, text: *const u8, length: u32)
        -> u64;
        pub(super) fn scheduler_begin(at: u64);
        pub(super) fn scheduler_switch(preempt: c_int, from: u32, to: u32, state: u32);
        pub(super) fn scheduler_waking(task: u32);
        pub(super) fn scheduler_new(task: u32);
    }
}

/// Declares safe functions over those of C that take numbers alone.
macro_rules! by_numbers {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)?;)+) => {
        $(
            pub(crate) fn $name($($argument: $type),*) $(-> $result)? {
                // SAFETY: it takes numbers, and checks those that are places.
                unsafe { c::$name($($argument),*) }
            }
        )+
    };
}

by_numbers! {
    host_reset();
    host_set_clock(now: u64, tick: u64);
    host_clock() -> u64;
    host_set_running(task: u32, cpu: u32);
    host_set_cookie(cookie: u64);
    host_set_throttled(cpu: u32, time: u64);
    host_set_members(lacks: c_int);
    host_set_age(age: c_int);
    host_set_ring_full(is_full: c_int);
    host_reads() -> u64;
    host_fail_read(after: u64);
    host_set_inner(index: u32, number: u32);
    host_forget_memory();
    host_socket(index: u32, family: u32, port: u32, peer_port: u32);
    host_set_unread(index: u32, packets: u32);
    capture_begin();
    capture_received(socket: u32, result: c_int, flags: c_int);
    capture_sent(socket: u32, result: c_int);
    capture_data_ready(socket: u32);
    capture_closed(socket: u32);
    capture_switch(preempt: c_int, from: u32, to: u32, state: u32);
    capture_sample();
    capture_waking(task: u32);
    capture_timer(begins: c_int);
    capture_waits(task: u32, begins: c_int);
    capture_portal(task: u32);
    capture_walk_threads();
    capture_walk(socket: u32, what: c_char);
    scheduler_begin(at: u64);
    scheduler_switch(preempt: c_int, from: u32, to: u32, state: u32);
    scheduler_waking(task: u32);
    scheduler_new(task: u32);
}

fn c_text(text: &str) -> CString {
    CString::new(text).expect("names have no zeros")
}

/// What the last program did that it may not; nothing: all is well.
pub(crate) fn broken() -> String {
    // SAFETY: it returns a string of C that lies still until the next call.
    unsafe { CStr::from_ptr(c::host_broken()) }.to_string_lossy().into_owned()
}

pub(crate) fn task(index: u32, pid: u32, leader: u32, name: &str) {
    let name = c_text(name);
    // SAFETY: the name is a string of C, and is copied.
    unsafe { c::host_task(index, pid, leader, name.as_ptr()) }
}

pub(crate) fn set_facts(index: u32, facts: &TaskFacts) {
    // SAFETY: the struct is that of C, and is copied.
    unsafe { c::host_set_facts(index, facts) }
}

pub(crate) fn open_file(index: u32, number: u32, mode: u32, folder: &str, name: &str) {
    let (folder, name) = (c_text(folder), c_text(name));
    // SAFETY: both names are strings of C, and are copied.
    unsafe { c::host_open_file(index, number, mode, folder.as_ptr(), name.as_ptr()) }
}

pub(crate) fn memory(at: u64, bytes: &[u8]) {
    // SAFETY: so many bytes are there, and are copied.
    unsafe { c::host_memory(at, bytes.as_ptr(), bytes.len() as u64) }
}

/// The oldest record of the stream, or of a walk, which goes.
pub(crate) fn next_record() -> Option<Vec<u8>> {
    // SAFETY: it takes nothing.
    let length = usize::try_from(unsafe { c::host_record_length() }).ok()?;
    let mut record = vec![0; length];
    // SAFETY: there is room for so many bytes as the record has.
    unsafe { c::host_take_record(record.as_mut_ptr()) }
    Some(record)
}

/// Bytes of a key and of a row.
fn sizes(table: &CStr) -> (usize, usize) {
    // SAFETY: the name is a string of C.
    unsafe {
        (c::host_key_size(table.as_ptr()) as usize, c::host_value_size(table.as_ptr()) as usize)
    }
}

pub(crate) fn put(table: &str, key: &[u8], row: &[u8]) {
    let table = c_text(table);
    assert_eq!((key.len(), row.len()), sizes(&table), "{table:?}");
    // SAFETY: key and row have as many bytes as the table's, and are copied.
    let result = unsafe { c::host_put(table.as_ptr(), key.as_ptr(), row.as_ptr()) };
    assert_eq!(result, 0, "{table:?} takes it");
}

pub(crate) fn remove(table: &str, key: &[u8]) {
    let table = c_text(table);
    assert_eq!(key.len(), sizes(&table).0, "{table:?}");
    // SAFETY: the key has as many bytes as the table's.
    unsafe { c::host_remove(table.as_ptr(), key.as_ptr()) };
}

/// A row by its place in the order of their making; of tables of each CPU that of one.
pub(crate) fn row_at(table: &str, place: u32, cpu: u32) -> Option<(Vec<u8>, Vec<u8>)> {
    let table = c_text(table);
    let (key, row) = sizes(&table);
    let (mut key, mut row) = (vec![0; key], vec![0; row]);
    // SAFETY: there is room for as many bytes as the table's keys and rows have.
    let is_there =
        unsafe { c::host_row_at(table.as_ptr(), place, cpu, key.as_mut_ptr(), row.as_mut_ptr()) };
    (is_there > 0).then_some((key, row))
}

pub(crate) fn set_capture(settings: &[u8], depth: u32, phase: u32) {
    // SAFETY: it takes nothing.
    let size = unsafe { c::capture_settings_size() };
    assert_eq!(settings.len(), size as usize);
    // SAFETY: there are as many bytes as the settings have, and they are copied.
    unsafe { c::capture_set(settings.as_ptr(), depth, phase) }
}

pub(crate) fn shape(protocol: u32, flags: u32, text: &[u8]) -> u64 {
    // SAFETY: so many bytes are there, and are copied.
    unsafe { c::capture_shape(protocol, flags, text.as_ptr(), text.len() as u32) }
}
