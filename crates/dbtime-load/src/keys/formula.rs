//! Small integer formulas over other keys, table sizes and the scale: `low + 99`,
//! `(teller - 1) / 10 + 1`, `min(low + 99, account.rows)`.
//!
//! ```text
//! sum     = product { ("+" | "-") product }
//! product = factor { ("*" | "/" | "%") factor }
//! factor  = number | name | "-" factor | "(" sum ")" | ("min" | "max") "(" sum "," sum ")"
//! ```
//!
//! A formula never fails: it saturates at the ends of 64 bits, `/` truncates as SQL does, and
//! anything divided by zero is 0.

use crate::program::SqlValue;

/// A formula, with its names resolved.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum KeyFormula {
    Number(i64),
    /// The value of another key, by its slot.
    Slot(u16),
    /// The rows of a table, by its position.
    Rows(u16),
    Scale,
    /// Two formulas and what is done with them.
    Binary(FormulaOperator, Box<(KeyFormula, KeyFormula)>),
}

/// What a formula can do with two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FormulaOperator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Least,
    Greatest,
}

/// Why a text is no formula.
#[derive(Debug, PartialEq)]
pub(crate) enum FormulaError {
    /// A name that means nothing here.
    UnknownName(String),
    /// Something else: what was found, and what was expected.
    Syntax(String, &'static str),
}

impl KeyFormula {
    /// Reads a formula; `resolve` says what a name means.
    pub(crate) fn parse(
        text: &str,
        resolve: &mut dyn FnMut(&str) -> Option<KeyFormula>,
    ) -> Result<Self, FormulaError> {
        let mut parser = FormulaParser { rest: text, depth: 0, resolve };
        let formula = parser.sum()?;
        match parser.peek() {
            None => Ok(formula),
            Some(_) => Err(parser.found("an operator or the end of the formula")),
        }
    }

    /// The formula at a scale, with everything computed that is known then.
    pub(crate) fn bind(&self, rows: &[u64], scale: u64) -> Self {
        let number = |n: u64| Self::Number(i64::try_from(n).unwrap_or(i64::MAX));
        match self {
            Self::Rows(table) => number(rows.get(*table as usize).copied().unwrap_or(0)),
            Self::Scale => number(scale),
            Self::Number(_) | Self::Slot(_) => self.clone(),
            Self::Binary(operator, both) => {
                let both = (both.0.bind(rows, scale), both.1.bind(rows, scale));
                match both {
                    (Self::Number(a), Self::Number(b)) => Self::Number(operator.apply(a, b)),
                    both => Self::Binary(*operator, Box::new(both)),
                }
            }
        }
    }

    /// Its value, where it depends on nothing any more.
    pub(crate) fn constant(&self) -> Option<i64> {
        if let Self::Number(number) = self { Some(*number) } else { None }
    }

    /// Its value, with the values of other keys in `slots`.
    #[inline]
    pub(crate) fn value(&self, slots: &[SqlValue]) -> i64 {
        match self {
            Self::Number(number) => *number,
            Self::Slot(slot) => match slots.get(*slot as usize) {
                Some(SqlValue::Integer(number)) => *number,
                _ => 0,
            },
            // Bound formulas have neither; see `bind`.
            Self::Rows(_) | Self::Scale => 0,
            Self::Binary(operator, both) => {
                operator.apply(both.0.value(slots), both.1.value(slots))
            }
        }
    }

    /// Calls `visit` with every slot the formula reads.
    pub(crate) fn slots(&self, visit: &mut dyn FnMut(u16)) {
        match self {
            Self::Slot(slot) => visit(*slot),
            Self::Binary(_, both) => {
                both.0.slots(visit);
                both.1.slots(visit);
            }
            Self::Number(_) | Self::Rows(_) | Self::Scale => {}
        }
    }
}

impl FormulaOperator {
    #[inline]
    fn apply(self, a: i64, b: i64) -> i64 {
        match self {
            Self::Add => a.saturating_add(b),
            Self::Subtract => a.saturating_sub(b),
            Self::Multiply => a.saturating_mul(b),
            Self::Divide if b == 0 => 0,
            Self::Divide => a.saturating_div(b),
            Self::Remainder if b == 0 => 0,
            Self::Remainder => a.wrapping_rem(b),
            Self::Least => a.min(b),
            Self::Greatest => a.max(b),
        }
    }
}

struct FormulaParser<'a> {
    rest: &'a str,
    depth: u32,
    resolve: &'a mut dyn FnMut(&str) -> Option<KeyFormula>,
}

impl FormulaParser<'_> {
    /// Recursion stops here: no reasonable formula is deeper, and hostile ones are.
    const DEPTH_MAX: u32 = 20;
    /// Sums and products nest to the left, so their length is depth when they are computed.
    const TERMS_MAX: usize = 40;

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    fn take(&mut self, expected: char) -> bool {
        let found = self.peek() == Some(expected);
        if found {
            self.rest = &self.rest[expected.len_utf8()..];
        }
        found
    }

    fn found(&mut self, expected: &'static str) -> FormulaError {
        let found = match self.peek() {
            None => "the end of the formula".to_owned(),
            Some(c) => format!("`{}` in a formula", c.escape_debug()),
        };
        FormulaError::Syntax(found, expected)
    }

    fn chain(
        &mut self,
        next: fn(&mut Self) -> Result<KeyFormula, FormulaError>,
        operators: &[(char, FormulaOperator)],
    ) -> Result<KeyFormula, FormulaError> {
        let mut left = next(self)?;
        for _ in 0..Self::TERMS_MAX {
            let Some((_, operator)) = operators.iter().find(|(c, _)| self.take(*c)) else {
                return Ok(left);
            };
            let right = next(self)?;
            left = KeyFormula::Binary(*operator, Box::new((left, right)));
        }
        Err(FormulaError::Syntax("a formula of more than 40 terms".into(), "a shorter one"))
    }

    fn sum(&mut self) -> Result<KeyFormula, FormulaError> {
        self.chain(Self::product, &[('+', FormulaOperator::Add), ('-', FormulaOperator::Subtract)])
    }

    fn product(&mut self) -> Result<KeyFormula, FormulaError> {
        let operators = [
            ('*', FormulaOperator::Multiply),
            ('/', FormulaOperator::Divide),
            ('%', FormulaOperator::Remainder),
        ];
        self.chain(Self::factor, &operators)
    }

    fn factor(&mut self) -> Result<KeyFormula, FormulaError> {
        if self.depth == Self::DEPTH_MAX {
            return Err(FormulaError::Syntax("a formula nested 20 deep".into(), "a flatter one"));
        }
        self.depth += 1;
        let formula = self.deeper();
        self.depth -= 1;
        formula
    }

    fn deeper(&mut self) -> Result<KeyFormula, FormulaError> {
        if self.take('(') {
            let formula = self.sum()?;
            return self.close(formula);
        }
        if self.take('-') {
            let negated = (KeyFormula::Number(0), self.factor()?);
            return Ok(KeyFormula::Binary(FormulaOperator::Subtract, Box::new(negated)));
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.found("a number, a name or `(`")),
        }
    }

    fn close(&mut self, formula: KeyFormula) -> Result<KeyFormula, FormulaError> {
        if self.take(')') { Ok(formula) } else { Err(self.found("`)`")) }
    }

    fn word(&mut self, belongs: fn(char) -> bool) -> String {
        let end = self.rest.find(|c| !belongs(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn number(&mut self) -> Result<KeyFormula, FormulaError> {
        let digits = self.word(|c| c.is_ascii_digit() || c == '_').replace('_', "");
        let number = digits.parse().map(KeyFormula::Number);
        number.map_err(|_| FormulaError::Syntax(digits, "a number of 64 bits"))
    }

    fn name(&mut self) -> Result<KeyFormula, FormulaError> {
        let name = self.word(|c| c.is_alphanumeric() || c == '_' || c == '.');
        let operator = match name.as_str() {
            "min" => FormulaOperator::Least,
            "max" => FormulaOperator::Greatest,
            _ => return (self.resolve)(&name).ok_or(FormulaError::UnknownName(name)),
        };
        if !self.take('(') {
            return Err(self.found("`(` after min or max"));
        }
        let left = self.sum()?;
        if !self.take(',') {
            return Err(self.found("`,`"));
        }
        let right = self.sum()?;
        self.close(KeyFormula::Binary(operator, Box::new((left, right))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<KeyFormula, FormulaError> {
        KeyFormula::parse(text, &mut |name| match name {
            "low" => Some(KeyFormula::Slot(0)),
            "account.rows" => Some(KeyFormula::Rows(0)),
            "scale" => Some(KeyFormula::Scale),
            _ => None,
        })
    }

    fn value(text: &str) -> i64 {
        let formula = parse(text).expect(text).bind(&[1000], 3);
        formula.value(&[SqlValue::Integer(7)])
    }

    #[test]
    fn formulas_compute() {
        let cases = [
            ("1 + 2 * 3", 7),
            ("(1 + 2) * 3", 9),
            ("10 - 3 - 2", 5),
            ("low + 99", 106),
            ("-low", -7),
            ("account.rows / scale", 333),
            ("7 % 4 - -1", 4),
            ("min(low, 3) + max(low, 3)", 10),
            ("1 / 0 + 1 % 0", 0),
            ("9223372036854775807 + 1", i64::MAX),
            ("-9223372036854775807 - 5", i64::MIN),
            ("1_000", 1000),
        ];
        for (text, expected) in cases {
            assert_eq!(value(text), expected, "{text}");
        }
        assert_eq!(parse("account.rows * 2").map(|f| f.bind(&[5], 1).constant()), Ok(Some(10)));
    }

    #[test]
    fn bad_formulas_are_refused() {
        for bad in ["", "1 +", "(1", "1 2", "low low", "min 1", "min(1)", "99999999999999999999"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(parse("1 + lwo"), Err(FormulaError::UnknownName("lwo".into())));
        assert!(parse(&"(".repeat(10_000)).is_err());
        assert!(parse(&"-".repeat(10_000)).is_err());
        assert!(parse(&"1+".repeat(10_000)).is_err());
    }
}
