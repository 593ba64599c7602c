//! Which logins a server may ask for: `require_auth`, with the meaning that it has for libpq.
//! Source: PostgreSQL 18's manual, "Parameter Key Words".

use std::fmt;

/// All that it may name; some are no login of dbtime's.
const METHODS: [&str; 7] = ["password", "md5", "gss", "sspi", "scram-sha-256", "oauth", "none"];

/// Which logins a server may ask for; by default each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginMethods {
    named: Vec<&'static str>,
    /// Whether these are the only ones it may not ask for.
    is_negated: bool,
}

impl Default for LoginMethods {
    fn default() -> Self {
        Self { named: Vec::new(), is_negated: true }
    }
}

impl LoginMethods {
    pub(super) const WRITTEN: &str = "password, md5, scram-sha-256 or none, or several with commas \
        between them, or each with ! before it to refuse those";

    /// Reads a list; `None`: it is none.
    pub(super) fn read(text: &str) -> Option<Self> {
        let is_negated = text.starts_with('!');
        let mut named = Vec::new();
        for word in text.split(',') {
            let name = if is_negated { word.strip_prefix('!')? } else { word };
            let method = METHODS.into_iter().find(|known| *known == name)?;
            if named.contains(&method) {
                return None;
            }
            named.push(method);
        }
        Some(Self { named, is_negated })
    }

    /// Whether a server may ask for a login by the method of this name; `none`: for none.
    pub(super) fn allow(&self, method: &str) -> bool {
        self.named.contains(&method) != self.is_negated
    }
}

impl fmt::Display for LoginMethods {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_negated { "!" } else { "" };
        for (index, method) in self.named.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{mark}{method}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_that_are_named_are_the_only_ones_or_the_refused_ones() {
        let allowed = |text: &str| {
            let methods = LoginMethods::read(text).expect(text);
            assert_eq!(methods.to_string(), text);
            METHODS.into_iter().filter(|method| methods.allow(method)).collect::<Vec<_>>()
        };
        assert_eq!(allowed("scram-sha-256"), ["scram-sha-256"]);
        assert_eq!(allowed("none,md5"), ["md5", "none"]);
        assert_eq!(allowed("!password,!md5,!gss,!sspi"), ["scram-sha-256", "oauth", "none"]);
        assert!(METHODS.into_iter().all(|method| LoginMethods::default().allow(method)));
    }

    #[test]
    fn what_libpq_does_not_take_is_no_list() {
        for text in ["", "scram", "md5,!none", "!md5,none", "md5,md5", "md5,", "md5, none", "!"] {
            assert_eq!(LoginMethods::read(text), None, "{text}");
        }
    }
}
