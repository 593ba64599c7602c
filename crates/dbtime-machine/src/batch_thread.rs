//! A thread that works for a measurement, and gives way to what is measured.

use std::io;
use std::marker::PhantomData;

/// Makes the calling thread one of batch work (`SCHED_BATCH` of sched(7)) until it is dropped: when
/// it wakes up it does not pre-empt what runs on its CPU. Its share of the CPUs stays the same, so
/// that it does not starve. Threads and processes that it starts meanwhile are batch work too, and
/// stay so.
#[derive(Debug)]
pub struct BatchThread {
    usual: libc::c_int,
    /// It belongs to the thread that made it.
    thread: PhantomData<*const ()>,
}

impl BatchThread {
    /// Changes the calling thread.
    ///
    /// Errors: sched_setscheduler(2), such as a filter of system calls that refuses it.
    pub fn begin() -> io::Result<Self> {
        let usual = policy()?;
        set_policy(libc::SCHED_BATCH)?;
        Ok(Self { usual, thread: PhantomData })
    }
}

impl Drop for BatchThread {
    fn drop(&mut self) {
        // A thread that had another policy by then was changed by somebody else, who shall keep it.
        if policy().is_ok_and(|policy| policy == libc::SCHED_BATCH) {
            let _ = set_policy(self.usual);
        }
    }
}

/// The policy of the calling thread.
#[expect(unsafe_code, reason = "a system call that touches no memory of ours")]
fn policy() -> io::Result<libc::c_int> {
    // SAFETY: it takes the number of a thread alone, 0 for the calling one.
    let policy = unsafe { libc::sched_getscheduler(0) };
    if policy < 0 { Err(io::Error::last_os_error()) } else { Ok(policy) }
}

/// Gives the calling thread a policy that has no priority.
#[expect(unsafe_code, reason = "a system call that reads one value of ours")]
fn set_policy(policy: libc::c_int) -> io::Result<()> {
    let parameter = libc::sched_param { sched_priority: 0 };
    // SAFETY: the parameter lives until the call has returned.
    let result = unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_batch_work_until_the_guard_is_dropped() {
        let usual = policy().expect("a policy");
        let batch = BatchThread::begin().expect("no right is needed");
        assert_eq!(policy().expect("a policy"), libc::SCHED_BATCH);
        drop(batch);
        assert_eq!(policy().expect("a policy"), usual);
    }

    #[test]
    fn a_policy_that_came_later_stays() {
        let found = std::thread::spawn(|| {
            let batch = BatchThread::begin().expect("no right is needed");
            set_policy(libc::SCHED_IDLE).expect("no right is needed");
            drop(batch);
            policy().expect("a policy")
        });
        assert_eq!(found.join().expect("no panic"), libc::SCHED_IDLE);
    }
}
