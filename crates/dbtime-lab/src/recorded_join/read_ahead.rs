//! Reads a file in a thread of its own, some batches ahead of who takes them.

use super::join_error::JoinError;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::Scope;

/// So many batches are read ahead.
const BATCHES: usize = 4;

/// The batches of a file, in their order.
pub(super) struct ReadAhead<T> {
    batches: Receiver<Result<T, JoinError>>,
}

impl<T: Send> ReadAhead<T> {
    /// Begins to read: `next` returns the next batch, `None` at the end. It ends with the first
    /// error, and once nobody takes batches any more.
    pub(super) fn begin<'scope, 'env, N>(scope: &'scope Scope<'scope, 'env>, mut next: N) -> Self
    where
        N: FnMut() -> Result<Option<T>, JoinError> + Send + 'scope,
        T: 'scope,
    {
        let (to, batches) = sync_channel(BATCHES);
        scope.spawn(move || {
            while let Some(batch) = next().transpose() {
                let is_last = batch.is_err();
                if to.send(batch).is_err() || is_last {
                    break;
                }
            }
        });
        Self { batches }
    }

    /// The next batch; `None` at the end.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn next(&mut self) -> Result<Option<T>, JoinError> {
        // The channel is closed at the end.
        self.batches.recv().ok().transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::thread;

    /// What is read of so many batches, the last of which fails if `fails`.
    fn read(count: usize, fails: bool, taken: usize) -> Vec<Result<Option<usize>, String>> {
        let mut number = 0;
        let next = move || {
            number += 1;
            let error = || JoinError::NoRequests { recording: PathBuf::new() };
            match number == count && fails {
                true => Err(error()),
                false => Ok((number <= count).then_some(number)),
            }
        };
        thread::scope(|scope| {
            let mut ahead = ReadAhead::begin(scope, next);
            (0..taken).map(|_| ahead.next().map_err(|error| error.to_string())).collect()
        })
    }

    #[test]
    fn batches_come_in_order_up_to_the_end_or_an_error() {
        assert_eq!(read(2, false, 3), [Ok(Some(1)), Ok(Some(2)), Ok(None)]);
        let failed = read(2, true, 3);
        assert_eq!((&failed[0], failed[1].is_err(), &failed[2]), (&Ok(Some(1)), true, &Ok(None)));
        // A reader that is not read to its end does not keep the scope from ending.
        assert_eq!(read(1_000, false, 1), [Ok(Some(1))]);
    }
}
