//! Notices that the dbtime which has started this process is gone, however that came about.
//!
//! It alone holds the other end of a pipe: what it starts gets none of its pipes. A signal at the
//! end of the parent would go by the signals of this process, and ask it to end early.

use crate::exit::CommandFailure;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::retry_on_intr;
use std::os::fd::{AsFd, BorrowedFd};

/// Does something once the other end of a pipe is closed, on a thread of its own.
///
/// Errors: there can be no such thread.
pub(crate) fn when_closed(
    pipe: impl AsFd + Send + 'static,
    end: impl FnOnce() + Send + 'static,
) -> Result<(), CommandFailure> {
    let watch = move || {
        if await_close(pipe.as_fd()) {
            end();
        }
    };
    let watcher = std::thread::Builder::new().name("parent".to_owned());
    watcher.spawn(watch).map_err(CommandFailure::environment)?;
    Ok(())
}

/// Waits until the other end is closed; `false`: that cannot be seen here.
fn await_close(pipe: BorrowedFd<'_>) -> bool {
    let mut ends = [PollFd::from_borrowed_fd(pipe, PollFlags::empty())];
    let waited = retry_on_intr(|| poll(&mut ends, None));
    waited.is_ok() && ends[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::pipe;
    use std::sync::mpsc::{RecvTimeoutError, channel};
    use std::time::Duration;

    const MOST: Duration = Duration::from_secs(100);

    #[test]
    fn either_end_of_a_pipe_shows_that_the_other_is_closed() {
        let (reader, other_writer) = pipe().expect("a pipe");
        let (other_reader, writer) = pipe().expect("a pipe");
        let (sender, closed) = channel();
        let also = sender.clone();
        when_closed(reader, move || sender.send("writer").expect("awaited")).expect("a thread");
        when_closed(writer, move || also.send("reader").expect("awaited")).expect("a thread");
        let early = closed.recv_timeout(Duration::from_millis(20));
        assert_eq!(early, Err(RecvTimeoutError::Timeout));
        drop(other_writer);
        assert_eq!(closed.recv_timeout(MOST), Ok("writer"));
        drop(other_reader);
        assert_eq!(closed.recv_timeout(MOST), Ok("reader"));
    }
}
