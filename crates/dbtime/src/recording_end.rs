//! What is told of how the file of a recording ends, and what the exit code becomes of it: the same
//! whether it is shown or joined.

use crate::exit::ProcessExit;
use crate::screen;
use dbtime_model::traced_file::RecordingEnd;
use std::path::Path;

/// Tells how this file ends, and gives the exit code that was `exit` so far.
pub(crate) fn judged(
    file: &Path,
    end: RecordingEnd,
    is_strict: bool,
    exit: ProcessExit,
) -> ProcessExit {
    end.notice_of(file).iter().for_each(|text| screen::note(text));
    let is_whole = end == RecordingEnd::Whole;
    match end.is_early() || (is_strict && !is_whole) {
        true => exit.max(ProcessExit::Undecided),
        false => exit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_ledger_is_undecided_and_what_goes_on_where_that_is_asked() {
        use ProcessExit::{Fine, Undecided};
        for (end, usual, strict) in [
            (RecordingEnd::Whole, Fine, Fine),
            (RecordingEnd::Continued(1), Fine, Undecided),
            (RecordingEnd::Unfinished, Undecided, Undecided),
            (RecordingEnd::Cut, Undecided, Undecided),
        ] {
            let of = |is_strict| judged(Path::new("it"), end, is_strict, Fine);
            assert_eq!((of(false), of(true)), (usual, strict), "{end:?}");
        }
    }
}
