//! A statement that is prepared allocates nothing when it is executed, sampled or not.

use super::atm::{Bank, FETCH, FETCH_ROW, UPDATE};
use dbtime_load::program::SqlValue;
use dbtime_model::Parts;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the allocations of each thread by itself, so that tests do not disturb each other.
struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: by the caller's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by the caller's contract.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn executions_do_not_allocate() {
    let bank = Bank::new(&[]);
    let mut connection = bank.connect();
    connection.prepare_all().ok();
    let mut run = |times: u64| {
        let mut parts = Parts::default();
        let before = COUNT.get();
        for index in 0..times {
            let key = [SqlValue::Integer(1 + index.cast_signed() % 100)];
            connection.execute(FETCH, &key, false).expect("a row");
            connection.execute(FETCH_ROW, &key, true).expect("rows");
            let change = [SqlValue::Integer(1), SqlValue::Integer(1)];
            connection.execute_measured(UPDATE, &change, false, &mut parts).0.expect("changed");
        }
        COUNT.get() - before
    };
    assert!(run(3) < 10, "the first row needs its buffers");
    assert_eq!(run(1000), 0);
}
