//! Where an answer ends, and what little of it a driver keeps.

use super::{HEADER, PostgresError, backend, header};
use crate::{MalformedMessage, ReadProgress, ResultRows};

/// Which rows are handed over; all are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExpectedResponse {
    /// None: they are skipped as they arrive and never held, however long they are.
    #[default]
    Nothing,
    /// The first of each result.
    FirstRow,
    /// All.
    Rows,
}

/// Whether the server has a transaction open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TransactionStatus {
    /// None.
    #[default]
    None,
    /// One is open.
    Open,
    /// One is open, and only ROLLBACK leads out of it.
    Failed,
}

/// A whole answer: everything up to ReadyForQuery, or up to the error that ended the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostgresResponse {
    /// Rows returned or changed, by all statements of the answer together. Where a statement tells
    /// another number than it has sent, what arrived counts.
    pub rows: u64,
    /// Notices that came with it.
    pub notices: u32,
    /// A statement was prepared, even if executing it failed.
    pub is_parsed: bool,
    /// How many parameters the statement takes that was described; `None`: none was.
    pub parameters: Option<u16>,
    /// The server's transaction after it.
    pub transaction: TransactionStatus,
    /// The first failure.
    pub error: Option<Box<PostgresError>>,
}

/// What is read of an error that is longer: code and message come first.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// A tag such as `INSERT 0 1` takes 64 bytes at most (`COMPLETION_TAG_BUFSIZE`).
const MAX_TAG_BYTES: usize = 1 << 10;

/// 1,600 columns at most, each with a name of 63 bytes.
const MAX_DESCRIPTION_BYTES: usize = 1 << 20;

/// How many parameters there are stands before their types.
const PARAMETER_COUNT_BYTES: usize = 2;

/// A row that is longer is not handed over, for it would have to be held.
const MAX_ROW_BYTES: usize = 16 << 20;

/// Reads one answer from bytes as they arrive. It is used again for the next one.
#[derive(Clone, Debug)]
pub struct PostgresResponseReader {
    is_done: bool,
    expected: ExpectedResponse,
    /// Bytes of the present message that are skipped.
    skip: usize,
    /// Rows of the present statement so far.
    rows: u64,
    needs_copy_data: bool,
    /// The present statement has had its data, or was refused it.
    is_copy_settled: bool,
    answer: PostgresResponse,
}

impl Default for PostgresResponseReader {
    fn default() -> Self {
        Self::new()
    }
}

impl PostgresResponseReader {
    /// A reader for a connection.
    pub fn new() -> Self {
        Self {
            is_done: true,
            expected: ExpectedResponse::Nothing,
            skip: 0,
            rows: 0,
            needs_copy_data: false,
            is_copy_settled: false,
            answer: PostgresResponse::default(),
        }
    }

    /// Gets ready for an answer. A message that began before it, such as a notice, is still read
    /// to its end.
    #[inline]
    pub fn expect(&mut self, expected: ExpectedResponse) {
        (self.is_done, self.expected) = (false, expected);
        self.statement_begins();
        self.answer = PostgresResponse::default();
    }

    /// Whether the answer is whole, and none other is expected.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the server waits for the data of a COPY.
    pub fn needs_copy_data(&self) -> bool {
        self.needs_copy_data
    }

    /// The data has been sent or refused: the answer goes on.
    pub fn data_settled(&mut self) {
        (self.needs_copy_data, self.is_copy_settled) = (false, true);
    }

    /// The answer, once it is whole.
    #[inline]
    pub fn answer(&self) -> &PostgresResponse {
        &self.answer
    }

    /// Takes the answer out.
    #[inline]
    pub fn take(&mut self) -> PostgresResponse {
        std::mem::take(&mut self.answer)
    }

    /// Reads `input`. Returns how many bytes were used; the others must be given again.
    ///
    /// # Errors
    /// When the bytes cannot be an answer.
    #[inline]
    pub fn feed(
        &mut self,
        input: &[u8],
        rows: &mut impl ResultRows,
    ) -> Result<(usize, ReadProgress), MalformedMessage> {
        let mut used = 0;
        loop {
            if self.skip > 0 {
                let skipped = self.skip.min(input.len() - used);
                (used, self.skip) = (used + skipped, self.skip - skipped);
                if self.skip > 0 {
                    return Ok((used, ReadProgress::More));
                }
            }
            if self.is_done {
                return Ok((used, ReadProgress::Done));
            }
            let rest = &input[used..];
            let Some((tag, length)) = header(rest)? else { return Ok((used, ReadProgress::More)) };
            let needed = self.needed(tag, length)?;
            let Some(payload) = rest[HEADER..].get(..needed) else {
                return Ok((used, ReadProgress::More));
            };
            self.message(tag, payload, rows)?;
            (used, self.skip) = (used + HEADER + needed, length - needed);
        }
    }

    /// How much of a message must be there before anything is done with it.
    #[inline]
    fn needed(&self, tag: u8, length: usize) -> Result<usize, MalformedMessage> {
        let at_most =
            |most, what| if length <= most { Ok(length) } else { Err(MalformedMessage(what)) };
        match tag {
            backend::DATA_ROW if self.keeps_row() && length <= MAX_ROW_BYTES => Ok(length),
            backend::READY if length != 1 => {
                Err(MalformedMessage("a ReadyForQuery of another length"))
            }
            backend::READY => Ok(1),
            backend::COMMAND_COMPLETE => {
                at_most(MAX_TAG_BYTES, "a CommandComplete that is too long")
            }
            backend::ERROR => Ok(length.min(MAX_ERROR_BYTES)),
            backend::PARAMETER_DESCRIPTION => Ok(length.min(PARAMETER_COUNT_BYTES)),
            backend::ROW_DESCRIPTION if self.expected != ExpectedResponse::Nothing => {
                at_most(MAX_DESCRIPTION_BYTES, "a RowDescription that is too long")
            }
            _ => Ok(0),
        }
    }

    #[inline]
    fn keeps_row(&self) -> bool {
        match self.expected {
            ExpectedResponse::Nothing => false,
            ExpectedResponse::FirstRow => self.rows == 0,
            ExpectedResponse::Rows => true,
        }
    }

    #[inline]
    fn message(
        &mut self,
        tag: u8,
        payload: &[u8],
        rows: &mut impl ResultRows,
    ) -> Result<(), MalformedMessage> {
        match tag {
            backend::DATA_ROW => {
                // Too long a row has no payload here; one without columns has two bytes of it.
                if !payload.is_empty() {
                    rows.row(payload);
                }
                self.rows += 1;
            }
            backend::COMMAND_COMPLETE => self.statement_ended(payload, rows),
            backend::READY => {
                self.answer.transaction = match payload {
                    b"I" => TransactionStatus::None,
                    b"T" => TransactionStatus::Open,
                    b"E" => TransactionStatus::Failed,
                    _ => return Err(MalformedMessage("an unknown state of transaction")),
                };
                self.is_done = true;
            }
            backend::PARSE_COMPLETE => self.answer.is_parsed = true,
            backend::PARAMETER_DESCRIPTION => {
                self.answer.parameters = payload.first_chunk::<2>().map(|n| u16::from_be_bytes(*n));
            }
            backend::ERROR => self.failed(payload),
            backend::NOTICE => self.answer.notices += 1,
            // Each is answered: without end, nobody would have room for the answers.
            backend::COPY_IN if self.is_copy_settled => {
                return Err(MalformedMessage("a second request for the data of one COPY"));
            }
            backend::COPY_IN => self.needs_copy_data = true,
            backend::ROW_DESCRIPTION => {
                if !payload.is_empty() {
                    rows.columns(payload);
                }
            }
            backend::EMPTY_QUERY | backend::PORTAL_SUSPENDED => {
                self.statement_ended(b"", rows);
            }
            backend::BIND_COMPLETE
            | backend::CLOSE_COMPLETE
            | backend::COPY_DATA
            | backend::COPY_DONE
            | backend::COPY_OUT
            | backend::NO_DATA
            | backend::NOTIFICATION
            | backend::PARAMETER_STATUS => {}
            _ => return Err(MalformedMessage("a message that belongs to no answer")),
        }
        Ok(())
    }

    /// Counts the rows of a statement by what arrived, else by its tag: `INSERT 0 1`, `UPDATE 3`.
    #[inline]
    fn statement_ended(&mut self, tag: &[u8], rows: &mut impl ResultRows) {
        let total = if self.rows > 0 { self.rows } else { count(tag) };
        self.answer.rows = self.answer.rows.saturating_add(total);
        rows.ended(total);
        self.statement_begins();
    }

    /// Nothing has come yet of the next statement.
    #[inline]
    fn statement_begins(&mut self) {
        (self.rows, self.needs_copy_data, self.is_copy_settled) = (0, false, false);
    }

    #[cold]
    fn failed(&mut self, payload: &[u8]) {
        let error = PostgresError::read(payload);
        self.is_done |= error.is_fatal();
        self.statement_begins();
        self.answer.error.get_or_insert_with(|| Box::new(error));
    }
}

/// The number at the end of a tag; 0 where there is none.
#[inline]
fn count(tag: &[u8]) -> u64 {
    let tag = tag.strip_suffix(&[0]).unwrap_or(tag);
    let start = tag.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |at| at + 1);
    let digit = |sum: u64, byte: &u8| sum.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
    tag[start..].iter().fold(0, digit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::{begin_message, end_message};
    use proptest::prelude::*;

    fn messages(messages: &[(u8, &[u8])]) -> Vec<u8> {
        let mut out = Vec::new();
        for (tag, payload) in messages {
            let begun = begin_message(*tag, &mut out);
            out.extend_from_slice(payload);
            end_message(begun, &mut out);
        }
        out
    }

    /// Rows as they were handed over.
    #[derive(Default)]
    struct CollectedRows(Vec<Vec<u8>>, usize);

    impl ResultRows for CollectedRows {
        fn columns(&mut self, _: &[u8]) {
            self.1 += 1;
        }

        fn row(&mut self, payload: &[u8]) {
            self.0.push(payload.to_vec());
        }
    }

    /// Reads as many answers as there are, `chunk` bytes at a time.
    fn read(
        bytes: &[u8],
        chunk: usize,
        expected: ExpectedResponse,
    ) -> (Vec<PostgresResponse>, CollectedRows) {
        let (mut reader, mut kept, mut answers) =
            (PostgresResponseReader::new(), CollectedRows::default(), Vec::new());
        let (mut held, mut arrived) = (Vec::new(), bytes.chunks(chunk));
        reader.expect(expected);
        loop {
            let (used, progress) = reader.feed(&held, &mut kept).expect("an answer");
            held.drain(..used);
            if progress == ReadProgress::Done {
                answers.push(reader.take());
                reader.expect(expected);
            } else if let Some(more) = arrived.next() {
                held.extend_from_slice(more);
            } else {
                assert!(held.is_empty(), "all is used");
                return (answers, kept);
            }
        }
    }

    const READY: (u8, &[u8]) = (b'Z', b"I");
    const ROW: (u8, &[u8]) = (b'D', b"\0\x01\0\0\0\x011");
    const COLUMNS: (u8, &[u8]) =
        (b'T', b"\0\x01a\0\0\0\0\0\0\0\0\0\0\x17\0\x04\xff\xff\xff\xff\0\0");

    #[test]
    fn answers_end_where_they_end_however_they_arrive() {
        let conflict: &[u8] = b"SERROR\0VERROR\0C40P01\0Mdeadlock detected\0\0";
        let parts = [
            // A prepared statement, a statement as text with a notice, a change, a failure after
            // its statement was prepared, several statements at once, nothing at all.
            messages(&[(b'1', b""), (b'2', b""), ROW, ROW, (b'C', b"SELECT 2\0"), READY]),
            messages(&[COLUMNS, ROW, (b'N', b"SNOTICE\0\0"), (b'C', b"EXPLAIN\0"), (b'Z', b"T")]),
            messages(&[(b'2', b""), (b'C', b"INSERT 0 17\0"), (b'Z', b"T")]),
            messages(&[(b'1', b""), (b'2', b""), ROW, (b'E', conflict), (b'Z', b"E")]),
            messages(&[(b'C', b"UPDATE 3\0"), COLUMNS, ROW, (b'C', b"SELECT 1\0"), READY]),
            messages(&[
                (b'S', b"TimeZone\0UTC\0"),
                (b'A', b"\0\0\0\x01c\0p\0"),
                (b'I', b""),
                READY,
            ]),
        ];
        let bytes = parts.concat();
        for chunk in 1..=bytes.len() {
            let (answers, kept) = read(&bytes, chunk, ExpectedResponse::Nothing);
            let rows: Vec<_> = answers.iter().map(|answer| answer.rows).collect();
            assert_eq!(rows, [2, 1, 17, 0, 4, 0], "by {chunk}");
            let states: Vec<_> = answers.iter().map(|answer| answer.transaction).collect();
            use TransactionStatus::{Failed, None, Open};
            assert_eq!(states, [None, Open, Open, Failed, None, None]);
            assert_eq!(answers[1].notices, 1);
            assert!(answers[0].is_parsed && answers[3].is_parsed && !answers[2].is_parsed);
            let error = answers[3].error.as_ref().expect("failed");
            assert_eq!(
                (error.code.as_str(), error.message.as_str()),
                ("40P01", "deadlock detected")
            );
            assert!(kept.0.is_empty(), "nobody wanted rows");
        }
        for (expected, rows, descriptions) in
            [(ExpectedResponse::FirstRow, 4, 2), (ExpectedResponse::Rows, 5, 2)]
        {
            let (_, kept) = read(&bytes, 7, expected);
            assert_eq!((kept.0.len(), kept.1), (rows, descriptions), "{expected:?}");
            assert!(kept.0.iter().all(|row| row == ROW.1));
        }
    }

    #[test]
    fn rows_that_nobody_wants_are_never_held() {
        let long = vec![b'x'; 3 << 20];
        let bytes = messages(&[(b'D', &long), ROW, (b'C', b"SELECT 2\0"), READY]);
        let mut reader = PostgresResponseReader::new();
        reader.expect(ExpectedResponse::Nothing);
        let mut held = Vec::new();
        for chunk in bytes.chunks(1 << 16) {
            held.extend_from_slice(chunk);
            let (used, _) = reader.feed(&held, &mut ()).expect("an answer");
            held.drain(..used);
            assert!(held.len() < HEADER + MAX_TAG_BYTES, "{} bytes are held", held.len());
        }
        assert!(reader.is_done());
        assert_eq!(reader.answer().rows, 2);
        // One that is wanted, but too long for it, is counted all the same.
        let longer = vec![b'x'; MAX_ROW_BYTES + 1];
        let bytes = messages(&[(b'D', &longer), ROW, (b'C', b"SELECT 2\0"), READY]);
        let (answers, kept) = read(&bytes, 1 << 20, ExpectedResponse::Rows);
        assert_eq!((answers[0].rows, kept.0.len()), (2, 1));
    }

    #[test]
    fn errors_are_read_by_their_head_and_fatal_ones_end_the_answer() {
        let mut text = b"SERROR\0VERROR\0C22023\0M".to_vec();
        text.extend(std::iter::repeat_n(b'x', 200_000));
        let (answers, _) =
            read(&messages(&[(b'E', &text), READY]), 1 << 14, ExpectedResponse::Nothing);
        let error = answers[0].error.as_ref().expect("failed");
        assert_eq!((error.code.as_str(), error.message.len() < MAX_ERROR_BYTES), ("22023", true));
        let gone = (b'E', &b"SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0"[..]);
        let (answers, _) = read(&messages(&[gone]), 5, ExpectedResponse::Nothing);
        assert!(answers[0].error.as_ref().is_some_and(|error| error.is_fatal()));
    }

    #[test]
    fn a_copy_says_when_it_wants_data() {
        let mut reader = PostgresResponseReader::new();
        reader.expect(ExpectedResponse::Nothing);
        let begun = messages(&[(b'G', b"\0\0\x01\0\0")]);
        assert_eq!(reader.feed(&begun, &mut ()), Ok((begun.len(), ReadProgress::More)));
        assert!(reader.needs_copy_data());
        let ended = messages(&[(b'C', b"COPY 100000\0"), READY]);
        assert_eq!(reader.feed(&ended, &mut ()), Ok((ended.len(), ReadProgress::Done)));
        assert_eq!((reader.answer().rows, reader.needs_copy_data()), (100_000, false));
        // The data of another statement may be asked for, and of each of them once.
        let copied = messages(&[(b'C', b"COPY 1\0")]);
        reader.expect(ExpectedResponse::Nothing);
        for _ in 0..2 {
            assert!(reader.feed(&begun, &mut ()).is_ok() && reader.needs_copy_data());
            reader.data_settled();
            assert_eq!(reader.feed(&copied, &mut ()), Ok((copied.len(), ReadProgress::More)));
        }
        assert!(reader.feed(&begun, &mut ()).is_ok());
        reader.data_settled();
        assert!(reader.feed(&begun, &mut ()).is_err());
    }

    #[test]
    fn a_described_statement_says_how_many_parameters_it_takes() {
        let described = |payload: &[u8]| {
            let bytes = messages(&[(b'1', b""), (b't', payload), (b'n', b""), READY]);
            read(&bytes, 3, ExpectedResponse::Rows).0[0].parameters
        };
        assert_eq!(described(b"\0\x02\0\0\0\x17\0\0\0\x19"), Some(2));
        assert_eq!([described(b"\0\0"), described(b"\0")], [Some(0), None]);
        assert_eq!(read(&messages(&[READY]), 3, ExpectedResponse::Rows).0[0].parameters, None);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let bad = [
            messages(&[(b'Z', b"")]),
            messages(&[(b'Z', b"?")]),
            messages(&[(b'R', b"\0\0\0\0")]),
            messages(&[(b'C', &[b'x'; 2000])]),
            b"HTTP/1.1 400".to_vec(),
            b"J\0\0\0\x0a5.5.5-10.11".to_vec(),
        ];
        for bad in bad {
            let mut reader = PostgresResponseReader::new();
            reader.expect(ExpectedResponse::Nothing);
            assert!(reader.feed(&bad, &mut ()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn tags_end_in_numbers() {
        let cases = [("INSERT 0 12\0", 12), ("SELECT 0\0", 0), ("BEGIN\0", 0), ("5", 5), ("", 0)];
        for (tag, number) in cases {
            assert_eq!(count(tag.as_bytes()), number, "{tag}");
        }
    }

    proptest! {
        #[test]
        fn neither_bytes_nor_chunks_make_it_panic_or_change_what_it_reads(
            bodies in proptest::collection::vec(
                (proptest::sample::select(&b"DCZEN123TtnIGsSAHdcRK!"[..]),
                 proptest::collection::vec(any::<u8>(), 0..30)),
                0..12,
            ),
            noise in proptest::collection::vec(any::<u8>(), 0..20),
            chunk in 1usize..40,
            expected in proptest::sample::select(vec![
                ExpectedResponse::Nothing,
                ExpectedResponse::FirstRow,
                ExpectedResponse::Rows,
            ]),
        ) {
            let framed: Vec<(u8, &[u8])> =
                bodies.iter().map(|(tag, body)| (*tag, body.as_slice())).collect();
            let bytes = [messages(&framed), noise].concat();
            let run = |chunk: usize| {
                let (mut reader, mut kept, mut held) =
                    (PostgresResponseReader::new(), CollectedRows::default(), Vec::new());
                reader.expect(expected);
                for more in bytes.chunks(chunk) {
                    held.extend_from_slice(more);
                    match reader.feed(&held, &mut kept) {
                        Ok((used, _)) => drop(held.drain(..used)),
                        Err(error) => return (reader.take(), kept.0, Some(error)),
                    }
                }
                (reader.take(), kept.0, None)
            };
            prop_assert_eq!(run(chunk), run(bytes.len().max(1)));
        }
    }
}
