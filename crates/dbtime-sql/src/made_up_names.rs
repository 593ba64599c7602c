//! Names that clients make up anew each time, of savepoints, cursors and prepared statements: they
//! say no more of a statement than its literals do.

/// Statements of which all names are made up, but for these words.
const VERBS: [(&str, &[&str]); 7] = [
    ("savepoint", &[]),
    ("release", &["savepoint"]),
    (
        "rollback",
        &["work", "transaction", "to", "savepoint", "and", "no", "chain", "release", "prepared"],
    ),
    ("close", &["all"]),
    ("deallocate", &["prepare", "all"]),
    ("fetch", DIRECTIONS),
    ("move", DIRECTIONS),
];

/// What may stand between FETCH and the name of a cursor.
const DIRECTIONS: &[&str] = &[
    "next", "prior", "first", "last", "absolute", "relative", "forward", "backward", "all", "from",
    "in", "into",
];

/// Finds them, word by word.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum MadeUpNames {
    /// The next word is the first of a statement.
    #[default]
    Begin,
    /// All are made up but these.
    AllBut(&'static [&'static str]),
    /// The next one is: DECLARE, or CURRENT OF.
    Next,
    /// OF may follow: CURRENT.
    Current,
    /// None is.
    Nothing,
}

impl MadeUpNames {
    /// A value stands where a name was to come.
    pub(crate) fn pass_value(&mut self) {
        if matches!(self, Self::Next) {
            *self = Self::Nothing;
        }
    }

    /// Whether this word, or name in quotes, is made up.
    #[inline]
    pub(crate) fn is_made_up(&mut self, word: &[u8]) -> bool {
        let is = |other: &str| word.eq_ignore_ascii_case(other.as_bytes());
        match self {
            Self::Nothing if word.len() != 7 || !is("current") => return false,
            Self::Nothing => *self = Self::Current,
            Self::AllBut(words) => return !words.iter().any(|one| is(one)),
            Self::Next => {
                *self = Self::Nothing;
                return true;
            }
            Self::Current => *self = if is("of") { Self::Next } else { Self::Nothing },
            Self::Begin if is("declare") => *self = Self::Next,
            Self::Begin => {
                let verb = VERBS.iter().find(|(verb, _)| is(verb));
                *self = verb.map_or(Self::Nothing, |(_, words)| Self::AllBut(words));
            }
        }
        false
    }
}
