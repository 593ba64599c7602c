//! Which scripts a run chooses from, and how often it takes each.

use super::error::UsageError;

/// Scripts that pgbench brings along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// Three updates, a query and an insert.
    TpcbLike,
    /// One update, a query and an insert.
    SimpleUpdate,
    /// A query.
    SelectOnly,
}

/// All of them, in the order of their list.
pub const BUILTINS: [Builtin; 3] = [Builtin::TpcbLike, Builtin::SimpleUpdate, Builtin::SelectOnly];

impl Builtin {
    /// The name behind `-b`.
    pub fn name(self) -> &'static str {
        match self {
            Self::TpcbLike => "tpcb-like",
            Self::SimpleUpdate => "simple-update",
            Self::SelectOnly => "select-only",
        }
    }

    /// The name in reports.
    pub fn about(self) -> &'static str {
        match self {
            Self::TpcbLike => "<builtin: TPC-B (sort of)>",
            Self::SimpleUpdate => "<builtin: simple update>",
            Self::SelectOnly => "<builtin: select only>",
        }
    }

    /// The one whose name begins so.
    ///
    /// # Errors
    /// None does, or several do.
    pub fn find(prefix: &str) -> Result<Self, UsageError> {
        let found: Vec<_> = BUILTINS.iter().filter(|one| one.name().starts_with(prefix)).collect();
        match found[..] {
            [one] => Ok(*one),
            [] => {
                let text = format!("no builtin script found for name \"{prefix}\"");
                Err(UsageError::of_builtin(text))
            }
            _ => Err(UsageError::of_builtin(format!(
                "ambiguous builtin name: {} builtin scripts found for prefix \"{prefix}\"",
                found.len()
            ))),
        }
    }
}

/// Where a script is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// It is brought along.
    Builtin(Builtin),
    /// It is in a file.
    File(String),
}

impl Source {
    /// The name in reports.
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin(builtin) => builtin.about(),
            Self::File(path) => path,
        }
    }
}

/// A script of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Where it is.
    pub source: Source,
    /// How often it is taken, against the other scripts' weights.
    pub weight: u32,
}

/// Cuts `NAME@WEIGHT` at its last `@`; without one the weight is 1.
pub(super) fn weighted(text: &str) -> Result<(&str, u32), UsageError> {
    const MOST: i64 = i32::MAX as i64;
    let Some((name, weight)) = text.rsplit_once('@') else { return Ok((text, 1)) };
    let is_number =
        weight.strip_prefix(['-', '+']).unwrap_or(weight).bytes().all(|b| b.is_ascii_digit());
    if weight.is_empty() || !is_number {
        return Err(UsageError::new(format!("invalid weight specification: @{weight}")));
    }
    match weight.parse::<i64>() {
        Ok(number @ 0..=MOST) => Ok((name, number as u32)),
        _ => Err(UsageError::new(format!(
            "weight specification out of range (0 .. {MOST}): {weight}"
        ))),
    }
}
