//! Labels with little room that stay apart: what all of them begin with is left out before what
//! tells them from each other.

use crate::format::{clean, fit, width};
use std::collections::HashMap;

/// These texts in so many columns each, in their order: different ones differ, as far as there is
/// room. What fits is whole.
pub(crate) fn distinct_labels<T: AsRef<str>>(texts: &[T], columns: usize) -> Vec<String> {
    let texts: Vec<String> = texts.iter().map(|text| clean(text.as_ref())).collect();
    let shared = shared_start(&texts);
    let all = |shorten: &dyn Fn(&str) -> String| {
        let label = |text: &String| match width(text) <= columns {
            true => text.clone(),
            false => shorten(text),
        };
        texts.iter().map(label).collect::<Vec<String>>()
    };
    let without_start = |text: &str| match text.get(shared..) {
        Some(rest) if shared > 0 => fit(&format!("…{rest}"), columns),
        _ => fit(text, columns),
    };
    let ways: [&dyn Fn(&str) -> String; 3] =
        [&|text: &str| fit(text, columns), &without_start, &|text: &str| ends(text, columns)];
    let apart = ways.iter().map(|way| all(*way)).find(|labels| are_apart(&texts, labels));
    apart.unwrap_or_else(|| numbered(&texts, columns))
}

/// Whether different texts have different labels.
fn are_apart(texts: &[String], labels: &[String]) -> bool {
    let mut labelled: HashMap<&String, &String> = HashMap::new();
    texts.iter().zip(labels).all(|(text, label)| *labelled.entry(label).or_insert(text) == text)
}

/// How many bytes all texts begin with, up to the last sign that is of no word.
fn shared_start(texts: &[String]) -> usize {
    let Some((first, others)) = texts.split_first() else { return 0 };
    let is_shared = |(at, sign): &(usize, char)| {
        others.iter().all(|other| other.get(*at..).is_some_and(|rest| rest.starts_with(*sign)))
    };
    let shared = first.char_indices().take_while(is_shared);
    let boundary = shared.filter(|(_, sign)| !sign.is_alphanumeric()).last();
    boundary.map_or(0, |(at, sign)| at + sign.len_utf8())
}

/// A text without its middle.
fn ends(text: &str, columns: usize) -> String {
    let signs: Vec<char> = text.chars().collect();
    let room = columns.saturating_sub(1);
    let (begin, end) = (room / 2, room - room / 2);
    let begin: String = signs.iter().take(begin).collect();
    let end: String = signs[signs.len().saturating_sub(end)..].iter().collect();
    fit(&format!("{begin}…{end}"), columns)
}

/// Labels with the number of the text before them, which no room can take away.
fn numbered(texts: &[String], columns: usize) -> Vec<String> {
    let mut numbers: HashMap<&String, usize> = HashMap::new();
    let labels = texts.iter().enumerate().map(|(at, text)| {
        let number = numbers.entry(text).or_insert(at + 1);
        fit(&format!("{number} {text}"), columns)
    });
    labels.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_labels_share_is_left_out_before_what_differs() {
        let settings = ["innodb_flush_method=fsync", "innodb_flush_neighbors=0"];
        assert_eq!(distinct_labels(&settings, 14), ["…method=fsync", "…neighbors=0"]);
        let values = ["innodb_flush_log=1", "innodb_flush_log=2", "on"];
        assert_eq!(distinct_labels(&values, 12), ["innod…_log=1", "innod…_log=2", "on"]);
        assert_eq!(distinct_labels(&["abcdefgh1x", "abcdefgh2x"], 6), ["ab…h1x", "ab…h2x"]);
    }

    #[test]
    fn what_fits_is_whole_and_equal_texts_have_equal_labels() {
        assert_eq!(distinct_labels(&["on", "off"], 3), ["on", "off"]);
        assert_eq!(distinct_labels(&["rows=1000", "rows=2000"], 9), ["rows=1000", "rows=2000"]);
        assert_eq!(distinct_labels(&["one long name", "one long name"], 6), ["one l…", "one l…"]);
        assert_eq!(distinct_labels::<&str>(&[], 6), Vec::<String>::new());
    }

    #[test]
    fn where_only_the_middle_differs_a_number_does() {
        let alike = ["aaaaaaaaaa1bbbbbbbbbb", "aaaaaaaaaa2bbbbbbbbbb"];
        assert_eq!(distinct_labels(&alike, 8), ["1 aaaaa…", "2 aaaaa…"]);
    }
}
