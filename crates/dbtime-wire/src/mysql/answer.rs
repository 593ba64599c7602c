//! Where an answer ends, and what little of it a driver wants to know.

use super::{HEADER, MAX_PAYLOAD, header};
use crate::bytes::ByteCursor;
use crate::{MalformedMessage, ReadProgress, ResultRows};

/// What was asked, which decides how the answer begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpectedReply {
    /// Results of COM_QUERY or COM_STMT_EXECUTE.
    Results,
    /// The answer to COM_STMT_PREPARE.
    Prepare,
}

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MysqlResponse {
    /// Rows in all result sets.
    pub rows: u64,
    /// Whether there was a result set at all.
    pub has_result: bool,
    /// Rows changed, where there was no result set.
    pub affected: u64,
    /// Warnings the server counted.
    pub warnings: u32,
    /// The server's status after it: transaction open, and so on.
    pub status: u16,
    /// Of a prepared statement.
    pub prepared: Option<PrepareResponse>,
    /// It failed.
    pub error: Option<MysqlError>,
}

/// A prepared statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrepareResponse {
    /// The server's number for it, on this connection.
    pub id: u32,
    /// Its result columns.
    pub columns: u16,
    /// Its parameters.
    pub parameters: u16,
}

/// What the server says went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MysqlError {
    /// The server's number, such as 1213.
    pub code: u16,
    /// SQLSTATE, five characters; empty where the server sent none.
    pub state: String,
    /// In its own words.
    pub message: String,
}

/// Bytes of an error's text that are kept; servers write 512 at most.
const MAX_TEXT_BYTES: usize = 1 << 14;

impl MysqlError {
    /// Reads the payload of an error packet, whose first byte is 0xff.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let mut bytes = ByteCursor(payload.strip_prefix(&[0xff])?);
        let code = bytes.u16_le()?;
        let mut state = String::new();
        if let Some(after) = bytes.0.strip_prefix(b"#").filter(|after| after.len() >= 5) {
            state = String::from_utf8_lossy(&after[..5]).into_owned();
            bytes = ByteCursor(&after[5..]);
        }
        let text = &bytes.0[..bytes.0.len().min(MAX_TEXT_BYTES)];
        Some(Self { code, state, message: String::from_utf8_lossy(text).into_owned() })
    }
}

/// Another result set follows.
const MORE_RESULTS: u16 = 0x0008;

/// Packets that are no rows are short: more is another protocol.
const MAX_OK_BYTES: usize = 1 << 20;

/// Reads one answer from bytes as they arrive. It is used again for the next one.
#[derive(Clone, Debug)]
pub struct MysqlResponseReader {
    phase: ResponsePhase,
    /// The server ends results by OK packets and leaves the old end-of-file packets out.
    without_eof: bool,
    keeps_rows: bool,
    /// Bytes of the present packet that are skipped.
    skip: usize,
    /// The present packet goes on in the next one.
    continues: bool,
    answer: MysqlResponse,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ResponsePhase {
    /// The first packet of an answer to `ExpectedReply`.
    Head(ExpectedReply),
    /// Descriptions of columns, so many to come.
    Columns(u64),
    /// The end-of-file packet after them.
    AfterColumns,
    Rows,
    /// Descriptions of a prepared statement's parameters and columns, so many packets to come.
    Descriptions(u32),
    Done,
}

impl MysqlResponseReader {
    /// A reader for a connection; `without_eof` when both sides agreed on CLIENT_DEPRECATE_EOF.
    pub fn new(without_eof: bool) -> Self {
        Self {
            phase: ResponsePhase::Done,
            without_eof,
            keeps_rows: false,
            skip: 0,
            continues: false,
            answer: MysqlResponse::default(),
        }
    }

    /// Gets ready for an answer. With `keeps_rows` rows are handed over whole, else only counted;
    /// of a prepared statement the descriptions of its columns are.
    #[inline]
    pub fn expect(&mut self, expect: ExpectedReply, keeps_rows: bool) {
        self.phase = ResponsePhase::Head(expect);
        self.keeps_rows = keeps_rows;
        (self.skip, self.continues) = (0, false);
        self.answer = MysqlResponse::default();
    }

    /// The answer, once it is whole.
    #[inline]
    pub fn answer(&self) -> &MysqlResponse {
        &self.answer
    }

    /// Takes the answer out.
    pub fn take(&mut self) -> MysqlResponse {
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
            if self.phase == ResponsePhase::Done {
                return Ok((used, ReadProgress::Done));
            }
            let rest = &input[used..];
            let Some((length, _)) = header(rest) else { return Ok((used, ReadProgress::More)) };
            let payload = &rest[HEADER..];
            if let Some(payload) = payload.get(..length) {
                self.packet(payload, rows)?;
                used += HEADER + length;
            } else if self.can_skip(length, payload) {
                self.answer.rows += u64::from(!self.continues);
                self.continues = length == MAX_PAYLOAD;
                (used, self.skip) = (used + HEADER, length);
            } else if length > MAX_OK_BYTES && !self.keeps_rows && !self.may_be_row(payload) {
                return Err(MalformedMessage("a packet that is too long to be an answer"));
            } else {
                return Ok((used, ReadProgress::More));
            }
        }
    }

    /// Whether the first byte, which tells a row from an end, is still on its way.
    fn may_be_row(&self, payload: &[u8]) -> bool {
        self.phase == ResponsePhase::Rows && payload.is_empty()
    }

    /// Whether an incomplete packet is (the continuation of) a row that nobody wants.
    fn can_skip(&self, length: usize, payload: &[u8]) -> bool {
        if self.phase != ResponsePhase::Rows || self.keeps_rows {
            return false;
        }
        let is_row = |first: &u8| match first {
            0xff => false,
            // An end has this first byte too, but is short.
            0xfe => length > MAX_OK_BYTES,
            _ => true,
        };
        self.continues || payload.first().is_some_and(is_row)
    }

    #[inline]
    fn packet(
        &mut self,
        payload: &[u8],
        rows: &mut impl ResultRows,
    ) -> Result<(), MalformedMessage> {
        if self.continues {
            // A row of 16 MiB and more is handed over by its first packet alone.
            self.continues = payload.len() == MAX_PAYLOAD;
            return Ok(());
        }
        match self.phase {
            ResponsePhase::Head(expect) => self.head(expect, payload, rows)?,
            ResponsePhase::Columns(left) => {
                if self.keeps_rows {
                    rows.column(payload);
                }
                self.phase = match left {
                    0 | 1 if self.without_eof => ResponsePhase::Rows,
                    0 | 1 => ResponsePhase::AfterColumns,
                    left => ResponsePhase::Columns(left - 1),
                };
            }
            ResponsePhase::AfterColumns => self.phase = ResponsePhase::Rows,
            ResponsePhase::Rows => self.row_or_end(payload, rows)?,
            ResponsePhase::Descriptions(left) => {
                if self.keeps_rows && self.describes_column(left) {
                    rows.column(payload);
                }
                self.phase = if left <= 1 {
                    ResponsePhase::Done
                } else {
                    ResponsePhase::Descriptions(left - 1)
                };
            }
            ResponsePhase::Done => {}
        }
        Ok(())
    }

    fn head(
        &mut self,
        expect: ExpectedReply,
        payload: &[u8],
        rows: &mut impl ResultRows,
    ) -> Result<(), MalformedMessage> {
        match (payload.first(), expect) {
            (None, _) => Err(MalformedMessage("an empty packet for an answer")),
            (Some(0xff), _) => self.failed(payload),
            (Some(0x00), ExpectedReply::Results) => self.ended(payload, true, rows),
            (Some(0x00), ExpectedReply::Prepare) => self.prepared(payload),
            (Some(_), ExpectedReply::Prepare) => Err(MalformedMessage("no answer to PREPARE")),
            (Some(0xfb), _) => {
                Err(MalformedMessage("a request for a local file, which is refused"))
            }
            (Some(_), ExpectedReply::Results) => {
                let columns =
                    ByteCursor(payload).lenenc().filter(|count| (1..=65_535).contains(count));
                let columns = columns.ok_or(MalformedMessage("a result without columns"))?;
                self.answer.has_result = true;
                self.phase = ResponsePhase::Columns(columns);
                Ok(())
            }
        }
    }

    #[inline]
    fn row_or_end(
        &mut self,
        payload: &[u8],
        rows: &mut impl ResultRows,
    ) -> Result<(), MalformedMessage> {
        match payload.first() {
            Some(0xff) => self.failed(payload),
            Some(0xfe) if self.without_eof && payload.len() < MAX_PAYLOAD => {
                self.ended(payload, false, rows)
            }
            Some(0xfe) if payload.len() < 9 => {
                let mut bytes = ByteCursor(&payload[1..]);
                let warnings = bytes.u16_le().unwrap_or(0);
                let status = bytes.u16_le().unwrap_or(0);
                rows.ended(0);
                self.end(status, warnings);
                Ok(())
            }
            _ => {
                self.answer.rows += 1;
                self.continues = payload.len() == MAX_PAYLOAD;
                if self.keeps_rows {
                    rows.row(payload);
                }
                Ok(())
            }
        }
    }

    /// An OK packet, which ends a result set or stands in its place.
    fn ended(
        &mut self,
        payload: &[u8],
        counts_rows: bool,
        rows: &mut impl ResultRows,
    ) -> Result<(), MalformedMessage> {
        let mut bytes = ByteCursor(&payload[1..]);
        let mut read = || {
            let affected = bytes.lenenc()?;
            bytes.lenenc()?;
            Some((affected, bytes.u16_le()?, bytes.u16_le()?))
        };
        let (affected, status, warnings) = read().ok_or(MalformedMessage("a cut-off OK packet"))?;
        if counts_rows {
            self.answer.affected = self.answer.affected.saturating_add(affected);
        }
        rows.ended(if counts_rows { affected } else { 0 });
        self.end(status, warnings);
        Ok(())
    }

    fn end(&mut self, status: u16, warnings: u16) {
        self.answer.status = status;
        self.answer.warnings = self.answer.warnings.saturating_add(warnings.into());
        let more = status & MORE_RESULTS != 0;
        self.phase =
            if more { ResponsePhase::Head(ExpectedReply::Results) } else { ResponsePhase::Done };
    }

    /// Whether the packet of a prepared statement's descriptions behind which `left - 1` come is
    /// that of a column: those of its parameters come first.
    fn describes_column(&self, left: u32) -> bool {
        let columns = self.answer.prepared.map_or(0, |prepared| u32::from(prepared.columns));
        let ends = u32::from(!self.without_eof);
        left > ends && left <= columns + ends
    }

    fn failed(&mut self, payload: &[u8]) -> Result<(), MalformedMessage> {
        let error = MysqlError::read(payload).ok_or(MalformedMessage("a cut-off error packet"))?;
        self.answer.error = Some(error);
        self.phase = ResponsePhase::Done;
        Ok(())
    }

    fn prepared(&mut self, payload: &[u8]) -> Result<(), MalformedMessage> {
        let mut bytes = ByteCursor(&payload[1..]);
        let mut read = || {
            Some(PrepareResponse {
                id: bytes.u32_le()?,
                columns: bytes.u16_le()?,
                parameters: bytes.u16_le()?,
            })
        };
        let prepared = read().ok_or(MalformedMessage("a cut-off answer to PREPARE"))?;
        self.answer.prepared = Some(prepared);
        // Each of the two lists is followed by an end, unless both sides do without.
        let packets = |count: u16| match count {
            0 => 0,
            count => u32::from(count) + u32::from(!self.without_eof),
        };
        let packets = packets(prepared.parameters) + packets(prepared.columns);
        self.phase =
            if packets == 0 { ResponsePhase::Done } else { ResponsePhase::Descriptions(packets) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mysql::write_packet;
    use proptest::prelude::*;

    fn packets(payloads: &[&[u8]]) -> Vec<u8> {
        let mut out = Vec::new();
        payloads.iter().fold(1, |sequence, payload| write_packet(payload, sequence, &mut out));
        out
    }

    fn read(bytes: &[u8], chunk: usize, without_eof: bool, expect: ExpectedReply) -> MysqlResponse {
        let mut reader = MysqlResponseReader::new(without_eof);
        reader.expect(expect, false);
        let (mut held, mut arrived) = (Vec::new(), bytes.chunks(chunk.max(1)));
        loop {
            let (used, progress) = reader.feed(&held, &mut ()).expect("an answer");
            held.drain(..used);
            if progress == ReadProgress::Done {
                assert!(held.is_empty() && arrived.next().is_none(), "all is used");
                return reader.take();
            }
            held.extend_from_slice(arrived.next().expect("not cut off"));
        }
    }

    #[test]
    fn more_rows_than_there_are_numbers_are_as_many_as_there_are() {
        let most = [&[0x00, 0xfe][..], &[0xff; 8], &[0, 8, 0, 0xff, 0xff]].concat();
        let last = [&[0x00, 0xfe][..], &[0xff; 8], &[0, 0, 0, 0xff, 0xff]].concat();
        let answer = read(&packets(&[&most, &last]), 1 << 16, false, ExpectedReply::Results);
        assert_eq!((answer.affected, answer.warnings), (u64::MAX, 2 * 0xffff));
    }

    const OK_PACKET: &[u8] = &[0x00, 0, 0, 2, 0, 0, 0];
    const COLUMN: &[u8] =
        b"\x03def\x00\x00\x00\x01c\x00\x0c\x21\x00\x10\x00\x00\x00\xfe\x00\x00\x00\x00\x00";

    #[test]
    fn a_long_row_may_be_cut_off_right_behind_its_header() {
        let row = vec![b'a'; MAX_OK_BYTES + 1];
        let end: &[u8] = &[0xfe, 0, 0, 2, 0, 0, 0];
        let bytes = packets(&[&[1], COLUMN, &row, end]);
        let header_ends = packets(&[&[1], COLUMN]).len() + HEADER;
        let mut reader = MysqlResponseReader::new(true);
        reader.expect(ExpectedReply::Results, false);
        let (used, progress) = reader.feed(&bytes[..header_ends], &mut ()).expect("a row begins");
        assert_eq!(progress, ReadProgress::More);
        let (_, progress) = reader.feed(&bytes[used..], &mut ()).expect("the rest of it");
        assert_eq!((progress, reader.answer().rows), (ReadProgress::Done, 1));
    }

    #[test]
    fn answers_end_where_they_end_however_they_arrive() {
        let changed: &[u8] = &[0x00, 0xfc, 0x2c, 0x01, 0, 3, 0, 2, 0];
        let eof: &[u8] = &[0xfe, 1, 0, 2, 0];
        let ok_end: &[u8] = &[0xfe, 0, 0, 2, 0, 1, 0];
        let more: &[u8] = &[0xfe, 0, 0, 8, 0, 0, 0];
        let error: &[u8] = b"\xff\xbd\x04#40001Deadlock found";
        /// Packets, whether ends are OK packets, rows, changed rows, warnings.
        type Case<'a> = (&'a [&'a [u8]], bool, u64, u64, u32);
        let cases: [Case<'_>; 5] = [
            (&[OK_PACKET], true, 0, 0, 0),
            (&[changed], true, 0, 300, 2),
            (&[&[1], COLUMN, eof, b"\x01a", b"\x01b", eof], false, 2, 0, 1),
            (&[&[1], COLUMN, b"\x01a", ok_end], true, 1, 0, 1),
            (&[&[1], COLUMN, b"\x01a", more, &[1], COLUMN, b"\x01b", ok_end], true, 2, 0, 1),
        ];
        for (payloads, without_eof, rows, affected, warnings) in cases {
            let bytes = packets(payloads);
            for chunk in 1..=bytes.len() {
                let answer = read(&bytes, chunk, without_eof, ExpectedReply::Results);
                let found = (answer.rows, answer.affected, answer.warnings);
                assert_eq!(found, (rows, affected, warnings), "{payloads:?} by {chunk}");
                assert_eq!(answer.error, None);
            }
        }
        let answer =
            read(&packets(&[&[1], COLUMN, b"\x01a", error]), 3, true, ExpectedReply::Results);
        let error = answer.error.expect("failed");
        assert_eq!((error.code, error.state.as_str()), (1213, "40001"));
        assert_eq!(error.message, "Deadlock found");
    }

    #[test]
    fn rows_of_many_packets_count_once_and_are_not_held() {
        let long = vec![b'x'; MAX_PAYLOAD + 10];
        let bytes = packets(&[&[1], COLUMN, &long, b"\x01b", &[0xfe, 0, 0, 2, 0, 0, 0]]);
        let answer = read(&bytes, 1 << 16, true, ExpectedReply::Results);
        assert_eq!(answer.rows, 2);
        let exact = vec![b'x'; MAX_PAYLOAD];
        let bytes = packets(&[&[1], COLUMN, &exact, &[0xfe, 0, 0, 2, 0, 0, 0]]);
        assert_eq!(read(&bytes, 1 << 16, true, ExpectedReply::Results).rows, 1);
    }

    #[test]
    fn prepared_statements_are_described() {
        let head: &[u8] = &[0, 7, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0];
        let eof: &[u8] = &[0xfe, 0, 0, 2, 0];
        let with = packets(&[head, COLUMN, COLUMN, eof, COLUMN, eof]);
        let without = packets(&[head, COLUMN, COLUMN, COLUMN]);
        for (bytes, without_eof) in [(with, false), (without, true)] {
            let prepared = read(&bytes, 5, without_eof, ExpectedReply::Prepare).prepared;
            assert_eq!(prepared, Some(PrepareResponse { id: 7, columns: 1, parameters: 2 }));
        }
    }

    #[test]
    fn of_a_prepared_statement_the_columns_are_handed_over() {
        #[derive(Default)]
        struct DescribedColumns(Vec<Vec<u8>>);
        impl ResultRows for DescribedColumns {
            fn column(&mut self, payload: &[u8]) {
                self.0.push(payload.to_vec());
            }

            fn row(&mut self, _: &[u8]) {}
        }
        let eof: &[u8] = &[0xfe, 0, 0, 2, 0];
        let head = |columns: u8, taken: u8| [0, 7, 0, 0, 0, columns, 0, taken, 0, 0, 0, 0];
        let (both, none, few) = (head(2, 1), head(0, 1), head(1, 0));
        /// Packets, whether both sides do without ends, columns.
        type Case<'a> = (&'a [&'a [u8]], bool, &'a [&'a [u8]]);
        let cases: [Case<'_>; 5] = [
            (&[&both, b"p", eof, b"a", b"b", eof], false, &[b"a", b"b"]),
            (&[&both, b"p", b"a", b"b"], true, &[b"a", b"b"]),
            (&[&none, b"p", eof], false, &[]),
            (&[&none, b"p"], true, &[]),
            (&[&few, b"a", eof], false, &[b"a"]),
        ];
        for (payloads, without_eof, expected) in cases {
            let mut reader = MysqlResponseReader::new(without_eof);
            reader.expect(ExpectedReply::Prepare, true);
            let (bytes, mut described) = (packets(payloads), DescribedColumns::default());
            let fed = reader.feed(&bytes, &mut described);
            assert_eq!(fed, Ok((bytes.len(), ReadProgress::Done)), "{payloads:?}");
            assert_eq!(described.0, expected, "{payloads:?}");
        }
    }

    #[test]
    fn of_an_error_no_more_is_kept_than_servers_write() {
        let error = [&b"\xff\x19\x04#28000"[..], &vec![b'x'; 1 << 20][..]].concat();
        let error = MysqlError::read(&error).expect("an error");
        assert_eq!((error.code, error.state.as_str()), (1049, "28000"));
        assert_eq!(error.message.len(), MAX_TEXT_BYTES);
    }

    #[test]
    fn what_is_no_answer_is_refused() {
        let long = [0xff, 0xff, 0xfe, 0, 0x00];
        for bad in [&packets(&[&[]])[..], &packets(&[b"\xfb/etc/passwd"]), &long, b"HTTP/1.1 400"] {
            let mut reader = MysqlResponseReader::new(true);
            reader.expect(ExpectedReply::Results, false);
            assert!(reader.feed(bad, &mut ()).is_err(), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_or_use_more_than_there_is(
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
            lengths in proptest::collection::vec(0usize..20, 0..10),
            without_eof: bool,
            keeps_rows: bool,
        ) {
            // Framed as packets, so that what is inside is reached too.
            let (mut framed, mut rest) = (Vec::new(), bytes.as_slice());
            for length in lengths {
                let (head, tail) = rest.split_at(length.min(rest.len()));
                write_packet(head, 0, &mut framed);
                rest = tail;
            }
            framed.extend_from_slice(rest);
            let mut reader = MysqlResponseReader::new(without_eof);
            reader.expect(ExpectedReply::Results, keeps_rows);
            if let Ok((used, _)) = reader.feed(&framed, &mut ()) {
                prop_assert!(used <= framed.len());
            }
        }
    }
}
