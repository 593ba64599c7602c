//! Durations alone that come before the text of their statement: with `log_duration` and
//! `log_statement`, the steps before an execution have no text.

use super::session::{OpenStatement, PieceView};
use crate::logs::RecordSink;
use dbtime_model::Nanos;
use dbtime_model::log_digest::UnreadReason;

/// The last durations alone of a session. The last one before an execution is its bind step's, and
/// the one before is its parse step's where there are no more.
#[derive(Clone, Debug, Default)]
pub(super) struct LoneDurations {
    /// The last two with their offsets, the last one last.
    last: [Option<(Nanos, u64)>; 2],
    has_more: bool,
}

impl LoneDurations {
    /// Adds that of a piece; one too many is counted as without a statement.
    pub(super) fn push(&mut self, view: PieceView<'_>, sink: &mut dyn RecordSink) {
        let [oldest, last] = self.last;
        self.last = [last, view.piece.duration.map(|duration| (duration, view.offset))];
        self.has_more |= oldest.is_some();
        count_unread(oldest, sink);
    }

    /// Gives them to the statement that is executed.
    pub(super) fn give(&mut self, open: &mut OpenStatement, sink: &mut dyn RecordSink) {
        let Self { last: [parse, bind], has_more } = std::mem::take(self);
        open.bind = bind.map(|(duration, _)| duration);
        if has_more {
            count_unread(parse, sink);
        } else {
            open.parse = parse.map(|(duration, _)| duration);
        }
    }

    /// Counts them as without a statement.
    pub(super) fn drop_all(&mut self, sink: &mut dyn RecordSink) {
        for lone in std::mem::take(self).last {
            count_unread(lone, sink);
        }
    }
}

fn count_unread(lone: Option<(Nanos, u64)>, sink: &mut dyn RecordSink) {
    if let Some((_, offset)) = lone {
        sink.count_unread(UnreadReason::NoStatement, offset);
    }
}
