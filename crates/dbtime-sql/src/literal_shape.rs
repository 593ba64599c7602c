//! A statement without its plainest literals, at a fraction of the cost of its fingerprint: texts
//! of one shape have one fingerprint, so that what is known of one holds for all.

/// Writes a text into `out` with `'` in the place of each string and `0` in that of each number,
/// and returns whether that is its shape: two texts of one shape differ in nothing that a
/// fingerprint has. Texts whose literals are not plain in every dialect have none: those with
/// escapes, comments, double quotes, dollar signs, or bytes beyond ASCII.
pub fn literal_shape(sql: &[u8], out: &mut Vec<u8>) -> bool {
    out.clear();
    let mut at = 0;
    // Of a word, digits are kept: names have them.
    let mut is_in_word = false;
    while let Some(&byte) = sql.get(at) {
        match byte {
            b'\'' => {
                let Some(end) = string_end(sql, at) else { return false };
                out.push(b'\'');
                at = end;
                is_in_word = false;
            }
            b'0'..=b'9' if !is_in_word => {
                out.push(b'0');
                at = number_end(sql, at);
                // A name may begin with digits, and a number may have letters.
                if sql.get(at).is_some_and(|next| is_of_word(*next)) {
                    return false;
                }
            }
            _ if has_other_meanings(sql, at) => return false,
            _ => {
                // Behind a dot digits may be of a name.
                is_in_word = is_of_word(byte);
                out.push(byte);
                at += 1;
            }
        }
    }
    true
}

/// Whether a byte may be of a name, or join two parts of one.
fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.')
}

/// Where a string ends that begins there; `None`: not at its next quote alone.
fn string_end(sql: &[u8], at: usize) -> Option<usize> {
    let inside = &sql[at + 1..];
    let length = memchr::memchr(b'\'', inside)?;
    let is_plain = inside[..length].iter().all(|byte| byte.is_ascii() && *byte != b'\\');
    let is_doubled = inside.get(length + 1) == Some(&b'\'');
    (is_plain && !is_doubled).then_some(at + length + 2)
}

/// Where the digits end that begin there, with one fraction.
fn number_end(sql: &[u8], at: usize) -> usize {
    let digits = |from: usize| {
        let rest = &sql[from..];
        from + rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len())
    };
    let end = digits(at);
    let has_fraction =
        sql.get(end) == Some(&b'.') && sql.get(end + 1).is_some_and(u8::is_ascii_digit);
    if has_fraction { digits(end + 1) } else { end }
}

/// Whether a byte may begin what dialects read in other ways, or what has no literals in it.
fn has_other_meanings(sql: &[u8], at: usize) -> bool {
    match sql[at] {
        b'\\' | b'"' | b'`' | b'$' | b'#' | b'[' | b'@' | b'{' | 0x80.. => true,
        b'-' | b'/' => matches!(sql.get(at + 1), Some(b'-' | b'*')),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LexicalRules, fingerprint};
    use dbtime_model::SqlDialect;
    use proptest::prelude::*;

    fn shape(sql: &str) -> Option<String> {
        let mut out = Vec::new();
        let is_shape = literal_shape(sql.as_bytes(), &mut out);
        is_shape.then(|| String::from_utf8(out).expect("ASCII"))
    }

    #[test]
    fn plain_literals_are_left_out_and_names_are_not() {
        let of = |sql: &str| shape(sql).expect("a shape");
        assert_eq!(
            of("SELECT c FROM t1 WHERE id=42 AND s='x'"),
            "SELECT c FROM t1 WHERE id=0 AND s='"
        );
        assert_eq!(of("VALUES (1.5, -2,'')"), "VALUES (0, -0,')");
        assert_eq!(of("a.1b, c_2"), "a.1b, c_2");
        for open in [
            "'a''b'", "'a\\'b'", "\"a\"", "/* 1 */", "-- 1", "# 1", "$1", "'ä'", "'open", "0x1F",
            "1e5",
        ] {
            assert_eq!(shape(open), None, "{open}");
        }
    }

    /// What may stand in a statement, with literals at every place.
    fn pieces() -> impl Strategy<Value = Vec<(usize, u16)>> {
        prop::collection::vec((0usize..40, any::<u16>()), 0..24)
    }

    /// A text of these pieces, whose literals depend on `salt`.
    fn text_of(pieces: &[(usize, u16)], salt: u16) -> String {
        const WORDS: [&str; 30] = [
            "select ",
            "from ",
            "t",
            "t1",
            " where ",
            "id",
            "=",
            " in (",
            ",",
            ")",
            "(",
            " values ",
            "set password = ",
            "identified by ",
            "savepoint s",
            ".",
            "-",
            "+",
            " ",
            "\n",
            "limit ",
            "e",
            "x",
            "_",
            "n",
            "b",
            "0x",
            "/",
            "*",
            ";",
        ];
        let mut text = String::new();
        for (piece, value) in pieces {
            let value = value.wrapping_mul(salt);
            match WORDS.get(*piece) {
                Some(word) => text.push_str(word),
                None if piece % 2 == 0 => text.push_str(&format!("{value}")),
                None => text.push_str(&format!("'{value} it-- /* # \"'")),
            }
        }
        text
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn texts_of_one_shape_have_one_fingerprint(pieces in pieces(), salt in any::<u16>()) {
            let (one, other) = (text_of(&pieces, 1), text_of(&pieces, salt));
            if let (Some(shape_one), Some(shape_other)) = (shape(&one), shape(&other))
                && shape_one == shape_other
            {
                for dialect in [SqlDialect::Mysql, SqlDialect::Postgres, SqlDialect::Sqlite] {
                    let rules = LexicalRules::unknown(dialect);
                    let (mut first, mut second) = (String::new(), String::new());
                    fingerprint(&one, &rules, &mut first);
                    fingerprint(&other, &rules, &mut second);
                    prop_assert_eq!(&first, &second, "{} / {}", one, other);
                }
            }
        }
    }
}
