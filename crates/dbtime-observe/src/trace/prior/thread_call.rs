//! The system call in which a thread waits, as the kernel writes it down (`syscall` in proc(5)).

/// What a thread waits for, as far as it is of use here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadCall {
    /// What comes over this file of its process.
    Reads(u64),
    /// One file, as the structure at this address of its memory says.
    Polls(u64),
    /// Any of many files: as one of a pool of threads does for connections that are idle.
    WaitsForAny,
    /// Something else, or nothing.
    Other,
}

/// Calls that wait for any of many files.
const POOL_CALLS: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
];

const POLL_CALLS: &[libc::c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    libc::SYS_ppoll,
];

const READ_CALLS: &[libc::c_long] =
    &[libc::SYS_read, libc::SYS_recvfrom, libc::SYS_recvmsg, libc::SYS_readv];

/// Reads `NUMBER ARGUMENT …`, in hexadecimal but for the first.
pub(super) fn thread_call(text: &str) -> ThreadCall {
    let mut words = text.split_whitespace();
    let number = words.next().and_then(|word| word.parse::<libc::c_long>().ok());
    let mut argument = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
    let (Some(number), Some(first), Some(second)) = (number, argument(), argument()) else {
        return ThreadCall::Other; // it runs
    };
    match number {
        number if POLL_CALLS.contains(&number) && second == 1 => ThreadCall::Polls(first),
        number if READ_CALLS.contains(&number) => ThreadCall::Reads(first),
        number if POOL_CALLS.contains(&number) => ThreadCall::WaitsForAny,
        _ => ThreadCall::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_by_their_numbers() {
        let call = |number: libc::c_long, rest: &str| thread_call(&format!("{number} {rest}\n"));
        assert_eq!(
            call(libc::SYS_ppoll, "0x7f9660173988 0x1 0x0"),
            ThreadCall::Polls(0x7f96_6017_3988)
        );
        assert_eq!(call(libc::SYS_ppoll, "0x7f9660173988 0x3 0x0"), ThreadCall::Other);
        assert_eq!(call(libc::SYS_recvfrom, "0x1a 0x7f0 0x4"), ThreadCall::Reads(0x1a));
        assert_eq!(call(libc::SYS_epoll_pwait, "0x5 0x7f0 0x4"), ThreadCall::WaitsForAny);
        assert_eq!(call(libc::SYS_futex, "0x5598 0x189 0x0"), ThreadCall::Other);
        for odd in ["running", "", "-1 0x7ffe 0x7f", "7 0x", "7 0xzz 0x1", "7"] {
            assert_eq!(thread_call(odd), ThreadCall::Other, "{odd}");
        }
    }
}
