//! JSON that does nothing to a terminal but stand there.

use dbtime_model::plain_text::is_treacherous;
use std::borrow::Cow;
use std::fmt::Write;

/// The last sign of ASCII, and the first that JSON passes on as it is though it drives a terminal.
const DELETE: u8 = 0x7f;

/// JSON of the same value in which escapes (`\u009b`) stand for signs that could move the cursor,
/// reorder a line or hide what stands there.
///
/// Shape: any number of documents, with line ends between them; outside of texts JSON has none of
/// these signs. Cost: a look at each byte, 16 at a time; more only behind the first sign that is
/// not plain ASCII.
pub fn plain_json(json: &str) -> Cow<'_, str> {
    // Without a branch for each byte: nearly always there is none.
    if json.bytes().fold(0, u8::max) < DELETE {
        return Cow::Borrowed(json);
    }
    let (mut plain, mut done) = (String::with_capacity(json.len()), 0);
    // Those below are escaped by whoever writes JSON, but for line ends.
    let is_raw = |sign: char| sign >= char::from(DELETE) && is_treacherous(sign);
    for (at, sign) in json.match_indices(is_raw) {
        plain.push_str(&json[done..at]);
        for unit in sign.encode_utf16() {
            // A text takes everything.
            let _ = write!(plain, "\\u{unit:04x}");
        }
        done = at + sign.len();
    }
    plain.push_str(&json[done..]);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_drives_a_terminal_is_escaped_and_nothing_else() {
        let plain = "{\"text\":\"SELECT 'ä', '表', '🦀' \\u001b\"}\n";
        assert_eq!(plain_json(plain), plain);
        assert!(matches!(plain_json("[\n  \"plain\"\n]\n"), Cow::Borrowed(_)));
        for (sign, escaped) in [
            ('\u{7f}', "\\u007f"),
            ('\u{80}', "\\u0080"),
            ('\u{9b}', "\\u009b"),
            ('\u{9f}', "\\u009f"),
            ('\u{61c}', "\\u061c"),
            ('\u{200e}', "\\u200e"),
            ('\u{202e}', "\\u202e"),
            ('\u{2066}', "\\u2066"),
            ('\u{2069}', "\\u2069"),
        ] {
            assert_eq!(
                plain_json(&format!("\"ä{sign}b{sign}\"")),
                format!("\"ä{escaped}b{escaped}\"")
            );
        }
        assert_eq!(plain_json("\"\u{a0}\""), "\"\u{a0}\"");
    }

    proptest! {
        #[test]
        fn the_value_stays_the_same(
            texts in prop::collection::vec("[\\x00-\\u{a1}\\u{600}-\\u{61f}\\u{2000}-\\u{2070}🦀]*", 3)
        ) {
            let json = serde_json::to_string(&texts).expect("texts");
            let plain = plain_json(&json);
            prop_assert!(!plain.contains(is_treacherous), "{}", plain);
            prop_assert_eq!(serde_json::from_str::<Vec<String>>(&plain).expect("JSON"), texts);
        }
    }
}
