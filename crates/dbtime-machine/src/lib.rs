//! The machine under a load and beside it: its clocks and timers, how a thread waits for an
//! instant, where its time went, which CPUs it keeps to, whom it gives way to, and samples of the
//! machine as a whole.
//!
//! Only the model is below this crate. It knows nothing of loads, databases and other processes.
#![deny(unsafe_code)]
#![deny(unsafe_op_in_unsafe_fn)]

mod batch_thread;
pub mod clock;
pub mod counter;
pub mod cpus;
pub mod environment;
mod forked_child;
mod own_limit;
mod pinned_thread;
pub mod ports;
pub mod schedstat;
mod spin_test;
pub mod switch_clock;
#[expect(unsafe_code, reason = "the flag lies in memory that the kernel writes")]
pub mod switch_flag;
pub mod thread_clock;
pub mod timer;
pub mod usage;
pub mod wait;

pub use batch_thread::BatchThread;
pub use clock::now;
pub use dbtime_model::spec::CpuList;
pub use forked_child::start_by_fork;
pub use pinned_thread::PinnedThread;
pub use spin_test::SpinTest;
