//! Selects that are the same and follow each other by UNION: the first one stays.
//!
//! Perl tries each SELECT with each UNION behind it, which takes the square of their number, and a
//! comparison each time. Here a text of `n` bytes may take `8 n + 2^19` comparisons, eight equal
//! bytes counted as one more: more than a union of 500 different selects takes. What is behind that
//! point stays as it is.

use super::text_pass::{is_space, is_word_start};
use memchr::memmem;

const SELECT: &[u8] = b"select";
const UNION: &[u8] = b"union";
const ALL: &[u8] = b"all";

/// UNION or UNION ALL before a SELECT.
#[derive(Clone, Copy, Debug)]
struct UnionLink {
    /// The space before it.
    start: usize,
    /// The space behind it.
    end: usize,
}

impl UnionLink {
    /// Where the SELECT behind it begins.
    const fn select(self) -> usize {
        self.end + 1
    }
}

/// A SELECT that is repeated.
struct RepeatedSelect {
    /// Where it ends for the first time.
    first_end: usize,
    /// The last link to one that is the same.
    last: UnionLink,
    /// Where that one ends.
    end: usize,
}

/// The text, its links in their order, and how much may still be compared.
struct UnionSearch<'a> {
    text: &'a [u8],
    links: &'a [UnionLink],
    effort: usize,
}

/// Replaces what is repeated by a comment with the last UNION.
pub(super) fn fold_unions(text: &mut Vec<u8>) {
    let links = links(text);
    if links.is_empty() {
        return;
    }
    // The new text may be longer: it grows behind the old one.
    let length = text.len();
    let mut effort = 8 * length + (1 << 19);
    let mut kept = 0;
    loop {
        let mut search = UnionSearch { text: &text[..length], links: &links, effort };
        let Some(found) = search.next_repeated(kept) else { break };
        effort = search.effort;
        text.extend_from_within(kept..found.first_end);
        text.extend_from_slice(b" /*repeat");
        text.extend_from_within(found.last.start..found.last.end);
        text.extend_from_slice(b"*/");
        kept = found.end;
    }
    if kept > 0 {
        text.extend_from_within(kept..length);
        text.drain(..length);
    }
}

fn links(text: &[u8]) -> Vec<UnionLink> {
    memmem::find_iter(text, UNION).filter_map(|at| link_at(text, at)).collect()
}

/// The link whose UNION is at a byte.
fn link_at(text: &[u8], union: usize) -> Option<UnionLink> {
    let start = union.checked_sub(1).filter(|at| is_space(text[*at]))?;
    let behind = union + UNION.len();
    let second = text[behind..].split_first().filter(|(space, _)| is_space(**space));
    let has_all = second.is_some_and(|(_, rest)| rest.starts_with(ALL));
    let end = if has_all { behind + 1 + ALL.len() } else { behind };
    let is_link = text.get(end).is_some_and(|byte| is_space(*byte)) && is_select(text, end + 1);
    is_link.then_some(UnionLink { start, end })
}

/// Whether SELECT and space stand at a byte.
fn is_select(text: &[u8], at: usize) -> bool {
    let behind = text.get(at..).and_then(|rest| rest.strip_prefix(SELECT));
    behind.is_some_and(|rest| rest.first().is_some_and(|byte| is_space(*byte)))
}

impl UnionSearch<'_> {
    /// The first SELECT behind a byte that is repeated.
    fn next_repeated(&mut self, from: usize) -> Option<RepeatedSelect> {
        let text = self.text;
        for select in memmem::find_iter(&text[from..], SELECT).map(|at| from + at) {
            if !is_word_start(text, select) || !is_select(text, select) {
                continue;
            }
            let found = self.repeated(select);
            if found.is_some() || self.effort == 0 {
                return found;
            }
        }
        None
    }

    /// How the SELECT at a byte is repeated: the shortest text from there on that is.
    fn repeated(&mut self, select: usize) -> Option<RepeatedSelect> {
        let (text, links) = (self.text, self.links);
        let link = self.shortest(select)?;
        let whole = &text[select..link.start];
        let (mut last, mut end) = (link, link.select() + whole.len());
        while let Ok(next) = links.binary_search_by_key(&end, |link| link.start) {
            let next = links[next];
            if !text[next.select()..].starts_with(whole) {
                break;
            }
            (last, end) = (next, next.select() + whole.len());
        }
        Some(RepeatedSelect { first_end: link.start, last, end })
    }

    /// The first link behind a SELECT that has the same text on both sides, as far as may be
    /// compared.
    fn shortest(&mut self, select: usize) -> Option<UnionLink> {
        let (text, links) = (self.text, self.links);
        let first = links.partition_point(|link| link.start <= select + SELECT.len());
        for link in &links[first..] {
            let before = &text[select..link.start];
            // Where there is no room for it, there is none behind a later link.
            let behind = text.get(link.select()..link.select() + before.len())?;
            let pairs = before.iter().zip(behind);
            let common = pairs.take_while(|(one, other)| one == other).count();
            self.effort = self.effort.saturating_sub(1 + common / 8);
            if common == before.len() {
                return Some(*link);
            }
            if self.effort == 0 {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(sql: &str) -> String {
        let mut text = sql.as_bytes().to_vec();
        fold_unions(&mut text);
        String::from_utf8(text).expect("a text in UTF-8")
    }

    #[test]
    fn what_is_repeated_is_left_out() {
        for (sql, left) in [
            ("select ? union select ?", "select ? /*repeat union*/"),
            ("select ? union select ? union all select ?", "select ? /*repeat union all*/"),
            ("(select a from b union select a from b)", "(select a from b /*repeat union*/)"),
            (
                "select a union select b union select a union select b x",
                "select a union select b /*repeat union*/ x",
            ),
            (
                "select a union select a union select b union all select b",
                "select a /*repeat union*/ union select b /*repeat union all*/",
            ),
            ("select a union select ab", "select a /*repeat union*/b"),
            ("in (select a from t) union select a", "in (select a from t) union select a"),
            ("xselect a union select a", "xselect a union select a"),
            ("select a union allselect a", "select a union allselect a"),
            ("select union select ", "select union select "),
        ] {
            assert_eq!(folded(sql), left, "{sql}");
        }
    }

    #[test]
    fn hundreds_of_different_selects_are_compared() {
        let all: Vec<String> = (0..500).map(|n| format!("select a from t where b = {n}")).collect();
        let sql = format!("{} union select z union select z", all.join(" union "));
        assert!(folded(&sql).ends_with("b = 499 union select z /*repeat union*/"));
    }

    #[test]
    fn tens_of_thousands_of_them_come_to_an_end() {
        let sql: String = (0..20_000).map(|n| format!("select {n} union ")).collect();
        assert_eq!(folded(&sql), sql);
    }
}
