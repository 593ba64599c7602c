//! The programs that add up every thread's time on CPUs and without one.

use crate::ffi;
use crate::machine::{HostMachine, HostTask};

/// The programs of `crates/dbtime-observe/bpf/scheduler.bpf.c`.
#[derive(Debug)]
pub struct SchedulerPrograms(());

impl SchedulerPrograms {
    /// Watches from an instant on, which is not 0.
    pub fn begin(_machine: &mut HostMachine, at: u64) -> Self {
        ffi::scheduler_begin(at);
        Self(())
    }

    /// A CPU goes from one thread to another; thread 0 is nobody. `state` as in the kernel: 0: it
    /// could run on.
    pub fn switch(
        &mut self,
        machine: &mut HostMachine,
        (from, to): (HostTask, HostTask),
        state: u32,
        is_preempted: bool,
    ) {
        ffi::scheduler_switch(is_preempted.into(), from.0, to.0, state);
        machine.check();
    }

    /// A thread is woken.
    pub fn waking(&mut self, machine: &mut HostMachine, task: HostTask) {
        ffi::scheduler_waking(task.0);
        machine.check();
    }

    /// A thread has been made.
    pub fn new_task(&mut self, machine: &mut HostMachine, task: HostTask) {
        ffi::scheduler_new(task.0);
        machine.check();
    }
}
