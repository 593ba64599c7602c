//! Changing a text in place, from its beginning to its end, by passes that never make it longer;
//! and what bytes are to Perl's patterns.

/// One pass: what is read is kept, left out, or replaced.
pub(super) struct TextPass<'a> {
    text: &'a mut Vec<u8>,
    read: usize,
    /// Never more than was read.
    written: usize,
}

impl<'a> TextPass<'a> {
    pub(super) fn new(text: &'a mut Vec<u8>) -> Self {
        Self { text, read: 0, written: 0 }
    }

    /// What was not read yet, as it was before the pass.
    pub(super) fn rest(&self) -> &[u8] {
        &self.text[self.read..]
    }

    /// Keeps so many bytes.
    pub(super) fn keep(&mut self, length: usize) {
        let end = self.read + length;
        if self.written < self.read {
            self.text.copy_within(self.read..end, self.written);
        }
        self.read = end;
        self.written += length;
    }

    /// Leaves so many bytes out.
    pub(super) fn skip(&mut self, length: usize) {
        self.read += length;
    }

    /// Puts one `?` for so many bytes, which are one at least.
    pub(super) fn replace(&mut self, length: usize) {
        self.text[self.written] = b'?';
        self.written += 1;
        self.read += length;
    }

    /// Keeps the rest.
    pub(super) fn end(mut self) {
        let length = self.rest().len();
        self.keep(length);
        self.text.truncate(self.written);
    }
}

/// `\w`.
pub(super) fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// `\s`.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Whether no word goes on at a byte: `\b` before the first letter of one.
pub(super) fn is_word_start(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| !is_word(text[before]))
}

/// How many bytes of this kind a text begins with.
pub(super) fn run(text: &[u8], is_kind: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|byte| !is_kind(*byte)).unwrap_or(text.len())
}

/// How many bytes of space a text begins with.
pub(super) fn spaces(text: &[u8]) -> usize {
    run(text, is_space)
}

/// What stands behind a prefix in any case.
pub(super) fn behind<'a>(text: &'a [u8], prefix: &[u8]) -> Option<&'a [u8]> {
    let (head, rest) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(rest)
}

/// What a pass makes of a text.
#[cfg(test)]
pub(super) fn changed(sql: &str, change: impl Fn(&mut Vec<u8>)) -> String {
    let mut text = sql.as_bytes().to_vec();
    change(&mut text);
    String::from_utf8(text).expect("a text in UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_keeps_leaves_out_and_replaces() {
        let mut text = b"abcdefgh".to_vec();
        let mut pass = TextPass::new(&mut text);
        pass.keep(1);
        pass.skip(2);
        pass.replace(3);
        assert_eq!(pass.rest(), b"gh");
        pass.end();
        assert_eq!(text, b"a?gh");
    }

    #[test]
    fn words_and_space_are_those_of_perl() {
        assert!(is_space(0x0b) && !is_space(0xa0) && !is_word(0xe4) && is_word(b'_'));
        assert!(is_word_start(b"a", 0) && is_word_start(b"-a", 1) && !is_word_start(b"ba", 1));
        assert_eq!(behind(b"SeLect 1", b"select"), Some(&b" 1"[..]));
        assert_eq!(behind(b"sel", b"select"), None);
        assert_eq!((spaces(b" \t\x0bx"), spaces(b"  ")), (3, 2));
    }
}
