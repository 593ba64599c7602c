//! Texts with a number in them, written as printf does: `user%05d`, `%08x`, `%-6u|`.

use std::fmt::Write as _;

/// A template with exactly one conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct TextTemplate {
    before: String,
    after: String,
    width: usize,
    zeros: bool,
    left: bool,
    base: NumberBase,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum NumberBase {
    Decimal,
    Hex,
    HexUpper,
}

impl TextTemplate {
    /// The widest conversion.
    pub(crate) const WIDTH_MAX: usize = 1000;
    /// The longest template, in bytes.
    pub(crate) const LENGTH_MAX: usize = 10_000;

    /// Reads a template: `%[-][0][width](d|i|u|x|X)` once, and `%%` for a percent sign.
    ///
    /// # Errors
    /// What was found instead.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.len() > Self::LENGTH_MAX {
            return Err(format!("a template of {} bytes", text.len()));
        }
        let mut parts = [String::new(), String::new()];
        let mut conversion = None;
        let mut rest = text;
        while let Some(at) = rest.find('%') {
            let part = &mut parts[usize::from(conversion.is_some())];
            part.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('%') {
                part.push('%');
                rest = after;
                continue;
            }
            let (found, after) = Self::conversion(rest)?;
            rest = after;
            if conversion.replace(found).is_some() {
                return Err("a second conversion in a template".to_owned());
            }
        }
        parts[usize::from(conversion.is_some())].push_str(rest);
        let mut template = conversion.ok_or("a template without `%d`")?;
        [template.before, template.after] = parts;
        Ok(template)
    }

    fn conversion(text: &str) -> Result<(Self, &str), String> {
        let flags_end = text.find(|c| c != '-' && c != '0').unwrap_or(text.len());
        let (flags, rest) = text.split_at(flags_end);
        let width_end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, rest) = rest.split_at(width_end);
        let width = if digits.is_empty() { Some(0) } else { digits.parse().ok() };
        let width: usize = width
            .filter(|w| *w <= Self::WIDTH_MAX)
            .ok_or_else(|| format!("width {digits} in a template"))?;
        let letter = rest.chars().next();
        let base = match letter {
            Some('d' | 'i' | 'u') => NumberBase::Decimal,
            Some('x') => NumberBase::Hex,
            Some('X') => NumberBase::HexUpper,
            Some(c) => return Err(format!("`%…{}` in a template", c.escape_debug())),
            None => return Err("`%` at the end of a template".to_owned()),
        };
        let left = flags.contains('-');
        let zeros = flags.contains('0') && !left;
        let template =
            Self { before: String::new(), after: String::new(), width, zeros, left, base };
        Ok((template, &rest[1..]))
    }

    /// Replaces `out` by the text of a number.
    pub fn write(&self, number: u64, out: &mut String) {
        out.clear();
        out.push_str(&self.before);
        let width = self.width;
        // Writing to a String cannot fail.
        let _ = match (self.base, self.zeros, self.left) {
            (NumberBase::Decimal, true, _) => write!(out, "{number:0width$}"),
            (NumberBase::Decimal, _, true) => write!(out, "{number:<width$}"),
            (NumberBase::Decimal, _, _) => write!(out, "{number:width$}"),
            (NumberBase::Hex, true, _) => write!(out, "{number:0width$x}"),
            (NumberBase::Hex, _, true) => write!(out, "{number:<width$x}"),
            (NumberBase::Hex, _, _) => write!(out, "{number:width$x}"),
            (NumberBase::HexUpper, true, _) => write!(out, "{number:0width$X}"),
            (NumberBase::HexUpper, _, true) => write!(out, "{number:<width$X}"),
            (NumberBase::HexUpper, _, _) => write!(out, "{number:width$X}"),
        };
        out.push_str(&self.after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(template: &str, number: u64) -> String {
        let mut out = "rest of the last one".to_owned();
        TextTemplate::parse(template).expect(template).write(number, &mut out);
        out
    }

    #[test]
    fn numbers_are_written_as_printf_does() {
        assert_eq!(written("user%05d", 42), "user00042");
        assert_eq!(written("user%d@example.org", 123_456), "user123456@example.org");
        assert_eq!(written("%5u|", 42), "   42|");
        assert_eq!(written("%-5d|", 42), "42   |");
        assert_eq!(written("%-05d|", 42), "42   |");
        assert_eq!(written("100%% of %08x", 48_879), "100% of 0000beef");
        assert_eq!(written("%X%%", 255), "FF%");
        assert_eq!(written("%03d", 12_345), "12345");
    }

    #[test]
    fn bad_templates_are_refused() {
        for bad in ["", "user", "%", "%d%d", "%s", "%5", "%1001d", "%99999999999999999999d", "%é"]
        {
            assert!(TextTemplate::parse(bad).is_err(), "{bad}");
        }
    }
}
