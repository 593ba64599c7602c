//! What is wrong with a format, a mapping of keys or a route that a user gives.

use super::presets;

/// Why a format string, a mapping of keys or a route cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogFormatError {
    /// It is neither a format string nor a name.
    #[error(
        "`{0}` has no field: give the format string of Apache's LogFormat (`%h %l …`) or of \
         nginx's log_format (`$remote_addr …`), or one of {names}",
        names = preset_names()
    )]
    NoField(String),
    /// Apache has no such directive.
    #[error(
        "`{directive}` at byte {at} of the format is no directive of Apache's LogFormat: write \
         `%%` for a percent sign"
    )]
    UnknownDirective {
        /// What stands there.
        directive: String,
        /// Where. Unit: bytes from the beginning.
        at: usize,
    },
    /// It ends within a directive.
    #[error("the directive at byte {at} of the format is not finished: close its brace")]
    Unfinished {
        /// Where it begins. Unit: bytes from the beginning.
        at: usize,
    },
    /// Nothing shows where one field ends and the next begins.
    #[error(
        "nothing stands before the field at byte {at} of the format, so the end of the one before \
         it cannot be found: put a blank between them, in the server's configuration too"
    )]
    NoBorder {
        /// Where the second one begins. Unit: bytes from the beginning.
        at: usize,
    },
    /// A part of a time that is not read.
    #[error(
        "`%{part}` in the time at byte {at} of the format cannot be read: use %Y %m %d %e %b %y \
         %H %M %S %T %F %D %R %z %s %a"
    )]
    TimePart {
        /// Its letter.
        part: char,
        /// Where the time begins. Unit: bytes from the beginning.
        at: usize,
    },
    /// It has no request, so there is nothing to sum up by.
    #[error(
        "the format has no request: it needs `%r`, `%U`, `$request` or `$uri`, in the server's \
         configuration too"
    )]
    NoRequest,
    /// The fields of W3C stand in the file.
    #[error("the fields of w3c are in its line `#Fields: …`: give that line as the format")]
    NeedsFields,
    /// A part of a mapping has no such form.
    #[error(
        "`{0}` is no field of JSON lines: write NAME=KEY with commas between, where NAME is time, \
         start, duration, method, path, request, status, user, host or session, and a duration \
         may end in its unit: `duration=took:ms` (s, ms, us, ns)"
    )]
    JsonField(String),
    /// A route has no such form.
    #[error("`{0}` is no route: write REGEX=NAME, such as `^GET /shop/=GET the shop`")]
    RouteForm(String),
    /// Its regular expression is none.
    #[error("the route `{regex}` is no regular expression: {why}")]
    RouteRegex {
        /// The expression.
        regex: String,
        /// What is wrong with it.
        why: String,
    },
}

/// The names that a format may be given by.
fn preset_names() -> String {
    presets::names().collect::<Vec<_>>().join(", ")
}
