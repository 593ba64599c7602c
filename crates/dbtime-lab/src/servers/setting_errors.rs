//! What MariaDB and MySQL say of settings that they do not take, without the values.
//!
//! ```text
//!   unknown variable 'x=hush'                     unknown variable 'x=?'
//!   Error while setting value 'hush' to 'x'       Error while setting value '?' to 'x'
//!   option 'x': boolean value 'hush' wasn't …     option 'x': boolean value '?' wasn't …
//! ```
//!
//! Source: `my_getopt.c`, `sql_plugin.cc`, `charset.c` and `mysqld.cc` of both.

/// What stands before a name with its value.
const BEFORE_NAMES: [&str; 3] = ["unknown variable '", "unknown option '", "ambiguous option '"];

/// What stands before a value.
const BEFORE_VALUES: [&str; 21] = [
    "value '",
    "value: '",
    "signed value ",
    "': value ",
    "Value '",
    "argument '",
    "haracter set '",
    "haracter set: '",
    "ollation: '",
    "locale: '",
    "soname '",
    "shared library '",
    "change dir to '",
    "storage engine: ",
    "d: File '",
    "] File '",
    "Could not use ",
    "ertificate from '",
    "private key from '",
    "CA from '",
    "parse innodb_data_file_path=",
];

/// What stands behind a value that does not end with the last quote.
const BEHIND_VALUES: [&str; 3] = ["' to '", "' wasn't recognized", " for logging (error "];

/// What stands before the letter of a value that is none of a number's.
const BEFORE_SUFFIX: &str = "Unknown suffix '";

/// A message without the value of a setting; `None`: it has none.
pub(super) fn without_setting_value(text: &str) -> Option<String> {
    let behind = |mark: &&str| Some(text.find(*mark)? + mark.len());
    let named = || {
        let begin = BEFORE_NAMES.iter().find_map(behind)?;
        Some(begin + text[begin..].find('=')? + 1)
    };
    let value = || BEFORE_VALUES.iter().filter_map(behind).min();
    let begin = named().or_else(value)?;
    let rest = &text[begin..];
    let end = BEHIND_VALUES.iter().filter_map(|end| rest.rfind(*end)).max();
    let end = end.or_else(|| rest.rfind('\'')).unwrap_or(rest.len());
    Some(without_suffix(format!("{}?{}", &text[..begin], &rest[end..])))
}

fn without_suffix(text: String) -> String {
    let Some((before, behind)) = text.split_once(BEFORE_SUFFIX) else { return text };
    let end = behind.find('\'').unwrap_or(behind.len());
    format!("{before}{BEFORE_SUFFIX}?{}", &behind[end..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out_and_names_stay() {
        for (text, expected) in [
            ("mariadbd: unknown variable 'x=hush'", "mariadbd: unknown variable 'x=?'"),
            ("unknown variable 'x=it's=hush'.", "unknown variable 'x=?'."),
            ("ambiguous option '--x=hush' (x_a, x_b)", "ambiguous option '--x=?' (x_a, x_b)"),
            ("Error while setting value 'hush' to 'x'", "Error while setting value '?' to 'x'"),
            ("setting value 'a' to 'hush' to 'x'", "setting value '?' to 'x'"),
            (
                "option 'x': boolean value 'hush' wasn't recognized. Set to OFF.",
                "option 'x': boolean value '?' wasn't recognized. Set to OFF.",
            ),
            ("option 'x': signed value 4711 adjusted to 5", "option 'x': signed value ?"),
            ("option 'x': value 4.7 adjusted to 5", "option 'x': value ?"),
            (
                "Unknown suffix 'h' used for variable 'x' (value '1hush')",
                "Unknown suffix '?' used for variable 'x' (value '?')",
            ),
            ("Character set 'hush' is not a compiled", "Character set '?' is not a compiled"),
            ("plugin named 'x' with soname 'hush'.", "plugin named 'x' with soname '?'."),
            ("Unknown/unsupported storage engine: hush", "Unknown/unsupported storage engine: ?"),
            ("unknown variable 'x=hush", "unknown variable 'x=?"),
            (
                "SSL error: Unable to get certificate from '/hush'",
                "SSL error: Unable to get certificate from '?'",
            ),
            ("Unable to get private key from '/hush'", "Unable to get private key from '?'"),
            (
                "InnoDB: Unable to parse innodb_data_file_path=hush",
                "InnoDB: Unable to parse innodb_data_file_path=?",
            ),
            (
                "mariadbd: File '/hush' not found (Errcode: 2 \"x\")",
                "mariadbd: File '?' not found (Errcode: 2 \"x\")",
            ),
            (
                "Could not use /it's/hush for logging (error 13). Turning logging off",
                "Could not use ? for logging (error 13). Turning logging off",
            ),
        ] {
            assert_eq!(without_setting_value(text).as_deref(), Some(expected));
        }
        for text in ["unknown variable 'x'", "unknown option '--x'", "InnoDB: File './a'", ""] {
            assert_eq!(without_setting_value(text), None);
        }
    }
}
