//! Values in rows.

use crate::bytes::ByteCursor;

/// A column as its description tells.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MysqlColumn {
    /// As the answer heads it: the alias, where the statement gives one.
    pub name: String,
    /// MySQL's number for its type.
    pub kind: u8,
    /// Whether its integers have no sign.
    pub unsigned: bool,
    /// Whether its texts have no character set: they are bytes.
    pub is_binary: bool,
}

/// The number of the character set of what is no text (`binary`).
const NO_CHARACTER_SET: u16 = 63;

/// A value of a row.
#[derive(Clone, Debug, PartialEq)]
pub enum MysqlCell<'a> {
    /// NULL.
    Null,
    /// An integer.
    Integer(i64),
    /// An integer beyond that.
    Unsigned(u64),
    /// A number with a fraction.
    Real(f64),
    /// Everything else, as the server wrote it.
    Bytes(&'a [u8]),
    /// Date or time of the binary protocol, written out.
    Text(String),
}

/// Reads the description of a column (ColumnDefinition41).
pub fn column(payload: &[u8]) -> Option<MysqlColumn> {
    let mut bytes = ByteCursor(payload);
    let mut name = &[][..];
    for field in 0..6 {
        let length = bytes.lenenc()?;
        let text = bytes.take(usize::try_from(length).ok()?)?;
        if field == 4 {
            name = text;
        }
    }
    bytes.lenenc()?;
    let is_binary = bytes.u16_le()? == NO_CHARACTER_SET;
    bytes.take(4)?; // length
    let kind = bytes.u8()?;
    let flags = bytes.u16_le()?;
    let name = String::from_utf8_lossy(name).into_owned();
    Some(MysqlColumn { name, kind, unsigned: flags & 0x20 != 0, is_binary })
}

/// The values of a row of the text protocol; ends early where the row is malformed.
pub fn text_cells(payload: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    let mut bytes = ByteCursor(payload);
    std::iter::from_fn(move || {
        if bytes.0.first() == Some(&0xfb) {
            bytes.take(1)?;
            return Some(None);
        }
        let length = usize::try_from(bytes.lenenc()?).ok()?;
        Some(Some(bytes.take(length)?))
    })
}

/// The values of a row of the binary protocol; `None` where it does not fit its columns.
pub fn binary_cells<'a>(payload: &'a [u8], columns: &[MysqlColumn]) -> Option<Vec<MysqlCell<'a>>> {
    let mut bytes = ByteCursor(payload);
    bytes.take(1)?;
    let nulls = bytes.take((columns.len() + 9) / 8)?;
    let is_null = |index: usize| nulls[(index + 2) / 8] & 1 << ((index + 2) % 8) != 0;
    let cell = |(index, column): (usize, &MysqlColumn)| match is_null(index) {
        true => Some(MysqlCell::Null),
        false => binary_cell(&mut bytes, column),
    };
    columns.iter().enumerate().map(cell).collect()
}

fn binary_cell<'a>(bytes: &mut ByteCursor<'a>, column: &MysqlColumn) -> Option<MysqlCell<'a>> {
    let integer = |signed: i64, unsigned: u64| match column.unsigned {
        true => i64::try_from(unsigned).map_or(MysqlCell::Unsigned(unsigned), MysqlCell::Integer),
        false => MysqlCell::Integer(signed),
    };
    Some(match column.kind {
        1 => bytes.array().map(|b| integer(i8::from_le_bytes(b).into(), b[0].into()))?,
        2 | 13 => bytes
            .array()
            .map(|b| integer(i16::from_le_bytes(b).into(), u16::from_le_bytes(b).into()))?,
        3 | 9 => bytes
            .array()
            .map(|b| integer(i32::from_le_bytes(b).into(), u32::from_le_bytes(b).into()))?,
        8 => bytes.array().map(|b| integer(i64::from_le_bytes(b), u64::from_le_bytes(b)))?,
        4 => MysqlCell::Real(f32::from_le_bytes(bytes.array()?).into()),
        5 => MysqlCell::Real(f64::from_le_bytes(bytes.array()?)),
        7 | 10 | 12 => MysqlCell::Text(date(bytes)?),
        11 => MysqlCell::Text(time(bytes)?),
        _ => {
            let length = usize::try_from(bytes.lenenc()?).ok()?;
            MysqlCell::Bytes(bytes.take(length)?)
        }
    })
}

fn date(bytes: &mut ByteCursor<'_>) -> Option<String> {
    let length = bytes.u8()?;
    let mut bytes = ByteCursor(bytes.take(length.into())?);
    let (year, month, day) = match length {
        0 => (0, 0, 0),
        _ => (bytes.u16_le()?, bytes.u8()?, bytes.u8()?),
    };
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if length >= 7 {
        text += &format!(" {:02}:{:02}:{:02}", bytes.u8()?, bytes.u8()?, bytes.u8()?);
    }
    if length >= 11 {
        text += &format!(".{:06}", bytes.u32_le()?);
    }
    Some(text)
}

fn time(bytes: &mut ByteCursor<'_>) -> Option<String> {
    let length = bytes.u8()?;
    let mut bytes = ByteCursor(bytes.take(length.into())?);
    if length < 8 {
        return Some("00:00:00".to_owned());
    }
    let sign = if bytes.u8()? == 1 { "-" } else { "" };
    let days = u64::from(bytes.u32_le()?);
    let hours = 24 * days + u64::from(bytes.u8()?);
    let mut text = format!("{sign}{hours:02}:{:02}:{:02}", bytes.u8()?, bytes.u8()?);
    if length >= 12 {
        text += &format!(".{:06}", bytes.u32_le()?);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(kind: u8) -> MysqlColumn {
        MysqlColumn { kind, ..MysqlColumn::default() }
    }

    #[test]
    fn text_rows_are_cells() {
        let cells: Vec<_> = text_cells(b"\x03abc\xfb\x00").collect();
        assert_eq!(cells, [Some(&b"abc"[..]), None, Some(&b""[..])]);
    }

    #[test]
    fn binary_rows_are_cells() {
        let columns = [of(3), of(253), of(5), of(8), of(12), of(11)];
        let mut row = vec![0, 0b0010_0000];
        row.extend((-5i32).to_le_bytes());
        row.extend(b"\x02hi");
        row.extend(1.5f64.to_le_bytes());
        row.extend([7, 0xe8, 0x07, 2, 29, 23, 5, 1]);
        row.extend([8, 1, 1, 0, 0, 0, 2, 3, 4]);
        let cells = binary_cells(&row, &columns).expect("a row");
        let text = |text: &str| MysqlCell::Text(text.to_owned());
        assert_eq!(
            cells,
            [
                MysqlCell::Integer(-5),
                MysqlCell::Bytes(b"hi"),
                MysqlCell::Real(1.5),
                MysqlCell::Null,
                text("2024-02-29 23:05:01"),
                text("-26:03:04")
            ]
        );
    }

    #[test]
    fn numbers_without_a_sign_are_whole() {
        let columns = [8, 1].map(|kind| MysqlColumn { unsigned: true, ..of(kind) });
        let row = [&[0u8, 0][..], &u64::MAX.to_le_bytes(), &[0xff]].concat();
        let cells = binary_cells(&row, &columns).expect("a row");
        assert_eq!(cells, [MysqlCell::Unsigned(u64::MAX), MysqlCell::Integer(255)]);
    }

    #[test]
    fn columns_tell_texts_from_bytes() {
        let described = |set: u8| {
            let head = b"\x03def\0\0\0\x01c\0\x0c";
            column(&[&head[..], &[set, 0, 0x10, 0, 0, 0, 0xfd, 0x20, 0, 0, 0, 0]].concat())
        };
        let text = MysqlColumn { name: "c".to_owned(), unsigned: true, ..of(0xfd) };
        assert_eq!(described(45), Some(text.clone()));
        assert_eq!(described(63), Some(MysqlColumn { is_binary: true, ..text }));
    }

    proptest! {
        #[test]
        fn no_row_makes_it_panic(
            bytes in proptest::collection::vec(any::<u8>(), 0..100),
            kinds in proptest::collection::vec(any::<u8>(), 0..8),
        ) {
            let columns: Vec<MysqlColumn> = kinds.into_iter().map(of).collect();
            let _ = binary_cells(&bytes, &columns);
            prop_assert!(text_cells(&bytes).count() <= bytes.len());
            let _ = column(&bytes);
        }
    }
}
