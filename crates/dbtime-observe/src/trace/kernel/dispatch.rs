//! What the kernel takes to run a program at a place of its own, before the program can look at the
//! clock: found out with calls of this process, without the programs and with them.

use dbtime_machine::now;
use dbtime_model::Nanos;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};

/// Calls of a round.
const CALLS: u64 = 200;

/// Rounds, of which the middle one counts.
const ROUNDS: usize = 9;

/// Looks for bytes where none are: each time the programs are run that reads tell of, one or four
/// (see [`STAND_INS`](super::kernel_features::STAND_INS)). `None`: the system has no sockets.
pub(crate) fn call_time() -> Option<Nanos> {
    let (end, _other) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).ok()?;
    Some(time_of_one(CALLS, |_| {
        let mut byte = [0; 1];
        // There is nothing to be read.
        let _ = recv(&end, &mut byte, RecvFlags::DONTWAIT);
    }))
}

/// What one of so many calls takes, which are numbered.
pub(crate) fn time_of_one(calls: u64, mut call: impl FnMut(u64)) -> Nanos {
    let mut rounds = [(); ROUNDS].map(|()| {
        let begin = now();
        (0..calls).for_each(&mut call);
        (now() - begin).0 / calls
    });
    rounds.sort_unstable();
    Nanos(rounds[ROUNDS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_takes_some_time() {
        let time = call_time().expect("sockets");
        assert!((20..1_000_000).contains(&time.0), "{time:?}");
    }
}
