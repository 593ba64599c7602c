//! What the kernel takes to run a program at a place of its own, before the program can look at the
//! clock: found out with calls of this process, without the programs and with them.

use dbtime_machine::now;
use dbtime_model::Nanos;
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType, recv, socketpair};

/// Calls of a round, and rounds, of which the middle one counts.
const CALLS: u64 = 200;
const ROUNDS: usize = 9;

/// Looks for bytes where none are: each time the programs are run that reads tell of, one or four
/// (see [`STAND_INS`](super::kernel_features::STAND_INS)). `None`: the system has no sockets.
pub(crate) fn call_time() -> Option<Nanos> {
    let (end, _other) =
        socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None).ok()?;
    let mut rounds = [(); ROUNDS].map(|()| {
        let begin = now();
        for _ in 0..CALLS {
            let mut byte = [0; 1];
            // There is nothing to be read.
            let _ = recv(&end, &mut byte, RecvFlags::DONTWAIT);
        }
        (now() - begin).0 / CALLS
    });
    rounds.sort_unstable();
    Some(Nanos(rounds[ROUNDS / 2]))
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
