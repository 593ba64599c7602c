//! What a format is: how its records are divided, read and joined.

use super::{ClassNamer, RecordBatch, RecordSink};
use dbtime_model::log_digest::TimeMeaning;

/// What is known behind the bytes that were divided so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct BorderState {
    /// Whether they end within quotes.
    pub(crate) is_quoted: bool,
}

/// A format. It has no state: all of it is in what the functions are given.
pub(crate) trait LogReader: Send + Sync {
    /// Where the last record begins of those that begin behind the first byte of these bytes; what
    /// is before it are whole records. `None`: none begins there. The bytes begin where a record
    /// does, or where bytes went on that could not be divided, with the state at their beginning.
    ///
    /// Shape: whether a record begins at a byte depends on this line and the line before it, and on
    /// the state, never on where the bytes begin or end. A line counts when its end is there.
    fn last_start(&self, bytes: &[u8], state: BorderState) -> Option<usize>;

    /// The state behind these bytes.
    fn state_behind(&self, bytes: &[u8], state: BorderState) -> BorderState {
        let _ = bytes;
        state
    }

    /// Reads whole records, and adds them to the batch.
    fn read(&self, block: &[u8], namer: &mut dyn ClassNamer, batch: &mut RecordBatch);

    /// The last line of these bytes that gives lines behind it another form, as `#Fields:` of
    /// W3C's logs does; empty: there is none.
    fn header_in<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        let _ = bytes;
        &[]
    }

    /// Reads whole records that stand behind such a line; empty: there is none before them.
    fn read_below(
        &self,
        header: &[u8],
        block: &[u8],
        namer: &mut dyn ClassNamer,
        batch: &mut RecordBatch,
    ) {
        let _ = header;
        self.read(block, namer, batch);
    }

    /// What joins its pieces.
    fn joiner(&self) -> Box<dyn RecordJoiner>;

    /// What the instants of its records are.
    fn time_meaning(&self) -> TimeMeaning;
}

/// Joins the pieces of batches, which come in the order of the file, into records.
pub(crate) trait RecordJoiner: Send {
    /// Takes the pieces of a batch and hands whole records on.
    fn join(&mut self, block: &[u8], offset: u64, batch: &RecordBatch, sink: &mut dyn RecordSink);

    /// Hands on what is still open at the end of the file.
    fn end(&mut self, sink: &mut dyn RecordSink);

    /// Goes on in the next file of the log, whose first record is of this time; `false`: that file
    /// does not follow, or nothing goes on. Unit: microseconds since 1970-01-01.
    fn follow(&mut self, begin_us: i64, sink: &mut dyn RecordSink) -> bool {
        let _ = (begin_us, sink);
        false
    }

    /// Leaves what is open at the end, and has messages behind an offset, to the digest that goes
    /// on there and joins anew from that offset on; hands on the rest. How many statements that
    /// are.
    fn leave_open(&mut self, from: u64, sink: &mut dyn RecordSink) -> u64 {
        let _ = from;
        self.end(sink);
        0
    }

    /// Forgets what the digest before has counted though it was open.
    fn forget_counted(&mut self) {}
}
