//! Values of options: their types, how they are written, and what scripts see of them.
//!
//! Texts are read as sysbench reads them, except that what is no value of the type is an error
//! where sysbench would take it for 0.

/// What a script finds in `sysbench.opt`.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum OptionValue {
    /// Nothing: nil.
    #[default]
    None,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(String),
    /// A list of texts.
    List(Vec<String>),
}

/// The types of `sysbench.cmdline.ARG_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionType {
    /// An option that cannot be given.
    Null,
    /// `on`, `off`; alone it is `on`.
    Bool,
    /// A whole number.
    Int,
    /// A whole number of bytes, with K, M, G or T behind it.
    Size,
    /// A number.
    Double,
    /// A text.
    Text,
    /// Texts with commas between them.
    List,
    /// The name of a file. Scripts see nothing of it.
    File,
}

impl OptionType {
    /// The type of an option that was declared without one, by its default.
    #[cfg(test)]
    pub(crate) fn of(default: &OptionValue) -> Self {
        match default {
            OptionValue::None | OptionValue::Text(_) => Self::Text,
            OptionValue::Bool(_) => Self::Bool,
            OptionValue::Number(_) => Self::Double,
            OptionValue::List(_) => Self::List,
        }
    }

    /// How a help text shows the value, behind the name.
    pub(crate) fn form(self) -> &'static str {
        match self {
            Self::Null => "",
            Self::Bool => "[=on|off]",
            Self::Int | Self::Double => "=N",
            Self::Size => "=SIZE",
            Self::Text => "=STRING",
            Self::List => "=[LIST,...]",
            Self::File => "=FILENAME",
        }
    }

    /// Reads a value; `None` where the option stood alone.
    ///
    /// # Errors
    /// What the option takes.
    pub(crate) fn read(self, text: Option<&str>) -> Result<OptionValue, &'static str> {
        let value_text = text.unwrap_or("");
        match self {
            Self::Null => Err("nothing: its declaration has no usable type"),
            Self::Bool => boolean(text).map(OptionValue::Bool).ok_or("on or off"),
            Self::Int => integer(value_text)
                .map(|number| OptionValue::Number(number as f64))
                .ok_or("a whole number, such as 8"),
            Self::Size => size(value_text)
                .map(|bytes| OptionValue::Number(bytes as f64))
                .ok_or("a whole number of bytes, with K, M, G or T behind it, such as 64K"),
            Self::Double => {
                double(value_text).map(OptionValue::Number).ok_or("a number, such as 0.5")
            }
            Self::Text => Ok(OptionValue::Text(value_text.to_owned())),
            Self::List => Ok(OptionValue::List(list(value_text))),
            Self::File => Ok(OptionValue::None),
        }
    }
}

pub(super) fn boolean(text: Option<&str>) -> Option<bool> {
    match text {
        None | Some("on" | "true" | "1") => Some(true),
        Some("off" | "false" | "0") => Some(false),
        Some(_) => None,
    }
}

/// A whole number; an empty text is 0, as when a variable of a shell was not set.
pub(super) fn integer(text: &str) -> Option<i64> {
    if text.is_empty() { Some(0) } else { text.trim_start().parse().ok() }
}

pub(super) fn size(text: &str) -> Option<u64> {
    let Some(last) = text.chars().last() else { return Some(0) };
    let shift = match last.to_ascii_uppercase() {
        'K' => 10,
        'M' => 20,
        'G' => 30,
        'T' => 40,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    digits.trim_start().parse::<u64>().ok()?.checked_mul(1 << shift)
}

pub(super) fn double(text: &str) -> Option<f64> {
    if text.is_empty() { Some(0.0) } else { text.trim().parse().ok() }
}

pub(super) fn list(text: &str) -> Vec<String> {
    text.split(',').filter(|item| !item.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(kind: OptionType, text: &str) -> Option<f64> {
        match kind.read(Some(text)) {
            Ok(OptionValue::Number(number)) => Some(number),
            _ => None,
        }
    }

    #[test]
    fn numbers_are_read_as_sysbench_reads_them() {
        let read = |text| number(OptionType::Int, text);
        assert_eq!([" 3", "+5", "-1", ""].map(read), [3.0, 5.0, -1.0, 0.0].map(Some));
        assert_eq!(["4x", "0x10", "5.5", "1e1", "abc"].map(read), [None; 5]);
        let read = |text| number(OptionType::Double, text);
        assert_eq!(["1e3", "0.2", ""].map(read), [1000.0, 0.2, 0.0].map(Some));
        assert_eq!(read("10K"), None);
    }

    #[test]
    fn sizes_have_suffixes() {
        let read = |text| number(OptionType::Size, text);
        assert_eq!(
            ["64K", "10k", "2G", "7"].map(read),
            [65536.0, 10240.0, 2147483648.0, 7.0].map(Some)
        );
        assert_eq!(read("1T"), Some(1099511627776.0));
        assert_eq!(["1.5M", "64Q", "K", "99999999T", "7é"].map(read), [None; 5]);
    }

    #[test]
    fn a_boolean_alone_is_on() {
        let read = |text| OptionType::Bool.read(text);
        assert_eq!(read(None), Ok(OptionValue::Bool(true)));
        assert_eq!(read(Some("0")), Ok(OptionValue::Bool(false)));
        assert_eq!(read(Some("yes")), Err("on or off"));
        assert_eq!(read(Some("ON")), Err("on or off"));
    }

    #[test]
    fn lists_leave_out_what_is_empty() {
        let read = |text: &str| OptionType::List.read(Some(text));
        let expected = ["a", " b"].map(str::to_owned).to_vec();
        assert_eq!(read("a,, b"), Ok(OptionValue::List(expected)));
        assert_eq!(read(""), Ok(OptionValue::List(Vec::new())));
    }

    #[test]
    fn files_and_options_without_a_type_are_nothing() {
        assert_eq!(OptionType::File.read(Some("x")), Ok(OptionValue::None));
        assert!(OptionType::Null.read(Some("3")).is_err());
        assert_eq!(OptionType::of(&OptionValue::None), OptionType::Text);
    }
}
