//! Whether the thread lost the CPU since it last looked, for the price of one load.
//!
//! A thread that has registered for restartable sequences (rseq(2); glibc does it for every thread
//! from 2.35 on) may point the kernel at a range of its code. When the kernel lets a thread go on
//! that was switched out, migrated or given a signal, and the thread is outside of that range, it
//! clears the pointer. The range here is never executed, so the pointer is a flag that every
//! switch clears and nothing else does.

use crate::now;
use dbtime_model::Nanos;
use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// `struct rseq_cs` of the kernel (include/uapi/linux/rseq.h).
#[repr(C, align(32))]
struct RseqDescriptor {
    version: u32,
    flags: u32,
    start: u64,
    length: u64,
    abort: u64,
}

/// What the descriptor speaks of. Nothing here is executed: the kernel looks at the addresses, and
/// at the signature, which must stand before the place where an aborted sequence would go on.
#[repr(C)]
struct RseqRange {
    signature: u32,
    abort: u32,
    body: [u64; 2],
}

/// The signature that glibc registers (sys/rseq.h).
#[cfg(target_arch = "x86_64")]
const SIGNATURE: u32 = 0x5305_3053;
#[cfg(not(target_arch = "x86_64"))]
const SIGNATURE: u32 = 0xd428_bc00;

static RANGE: RseqRange = RseqRange { signature: SIGNATURE, abort: 0, body: [0; 2] };
static DESCRIPTOR: OnceLock<RseqDescriptor> = OnceLock::new();

/// Where `rseq_cs` is in the thread's `struct rseq`, and the smallest area that has it.
const POINTER_OFFSET: isize = 8;
const SMALLEST_AREA: u32 = 20;

/// The sleeps of the trial, the next where the one before did not clear the flag.
const TRIAL_SLEEPS: [Duration; 4] = [
    Duration::from_micros(20),
    Duration::from_micros(200),
    Duration::from_millis(2),
    Duration::from_millis(20),
];

/// The flag of the thread that made it.
#[derive(Debug)]
pub struct SwitchFlag {
    pointer: NonNull<AtomicU64>,
    descriptor: u64,
    not_send: PhantomData<*const ()>,
}

impl SwitchFlag {
    /// Of the calling thread, raised; `None` where it does not work: an older libc or kernel,
    /// another architecture, `GLIBC_TUNABLES=glibc.pthread.rseq=0`. It is tried out here, which
    /// takes about 0.1 ms.
    pub fn new() -> Option<Self> {
        let flag = Self { pointer: area()?, descriptor: descriptor(), not_send: PhantomData };
        flag.works().then_some(flag)
    }

    /// Raises the flag.
    #[inline]
    pub fn raise(&self) {
        self.rseq_cs().store(self.descriptor, Ordering::Relaxed);
    }

    /// Whether the thread was switched out since the flag was raised.
    #[inline]
    pub fn is_cleared(&self) -> bool {
        self.rseq_cs().load(Ordering::Relaxed) == 0
    }

    #[inline]
    fn rseq_cs(&self) -> &AtomicU64 {
        // SAFETY: the area belongs to this thread, lives as long as it, and the flag cannot leave
        // the thread. The kernel writes to it only while the thread does not run.
        unsafe { self.pointer.as_ref() }
    }

    /// A sleep must clear it, and a thread that goes on must find it raised.
    fn works(&self) -> bool {
        if !TRIAL_SLEEPS.iter().any(|length| self.is_cleared_by(*length)) {
            return false;
        }
        let deadline = now() + Nanos::from_millis(50);
        while now() < deadline {
            self.raise();
            if !self.is_cleared() {
                return true;
            }
        }
        false
    }

    /// Whether a sleep clears it. On a machine without time to spare a short one may be over before
    /// the thread has left its CPU.
    fn is_cleared_by(&self, length: Duration) -> bool {
        self.raise();
        std::thread::sleep(length);
        self.is_cleared()
    }
}

impl Drop for SwitchFlag {
    fn drop(&mut self) {
        self.rseq_cs().store(0, Ordering::Relaxed);
    }
}

fn descriptor() -> u64 {
    let descriptor = DESCRIPTOR.get_or_init(|| RseqDescriptor {
        version: 0,
        flags: 0,
        start: (&raw const RANGE.body).addr() as u64,
        length: size_of_val(&RANGE.body) as u64,
        abort: (&raw const RANGE.abort).addr() as u64,
    });
    (&raw const *descriptor).expose_provenance() as u64
}

/// The `rseq_cs` of the calling thread's area; `None` where glibc has registered none.
fn area() -> Option<NonNull<AtomicU64>> {
    let size: u32 = symbol(c"__rseq_size")?;
    if size < SMALLEST_AREA {
        return None;
    }
    let offset: isize = symbol(c"__rseq_offset")?;
    let thread = thread_pointer()?;
    NonNull::new(thread.wrapping_byte_offset(offset + POINTER_OFFSET).cast())
}

/// The value of a variable of the C library; `None` where it has none of that name.
fn symbol<T: Copy>(name: &CStr) -> Option<T> {
    // SAFETY: the name is a C string, and any answer is fine.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: both variables are defined with the type that is asked for (sys/rseq.h).
    NonNull::new(address.cast::<T>()).map(|value| unsafe { value.read() })
}

#[cfg(target_arch = "x86_64")]
fn thread_pointer() -> Option<*mut c_void> {
    let pointer: *mut c_void;
    // SAFETY: the first word behind the thread pointer is the thread pointer itself (x86-64 ABI).
    unsafe {
        std::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, readonly, preserves_flags));
    }
    Some(pointer)
}

#[cfg(target_arch = "aarch64")]
fn thread_pointer() -> Option<*mut c_void> {
    let pointer: *mut c_void;
    // SAFETY: reads a register.
    unsafe {
        std::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nostack, nomem, preserves_flags));
    }
    Some(pointer)
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn thread_pointer() -> Option<*mut c_void> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_clears_the_flag_and_a_short_way_does_not() {
        let Some(flag) = SwitchFlag::new() else { return };
        flag.raise();
        std::thread::sleep(Duration::from_millis(1));
        assert!(flag.is_cleared());
        let stays = (0..1000).filter(|_| {
            flag.raise();
            !flag.is_cleared()
        });
        assert!(stays.count() > 900);
    }

    #[test]
    fn each_thread_has_a_flag_of_its_own() {
        let Some(flag) = SwitchFlag::new() else { return };
        let other = std::thread::spawn(|| SwitchFlag::new().is_some()).join();
        assert!(other.expect("no panic"));
        flag.raise();
        assert!((0..1000).any(|_| {
            flag.raise();
            !flag.is_cleared()
        }));
    }
}
