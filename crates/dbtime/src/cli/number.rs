//! Whole numbers on the command line, and what is said where a word is none.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// A reader of whole numbers within these bounds; `example` is one of them.
pub(super) fn whole<T>(
    bounds: impl RangeBounds<T> + Clone + Send + Sync + 'static,
    example: T,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text: &str| match text.parse::<T>() {
        Ok(number) if bounds.contains(&number) => Ok(number),
        _ => Err(format!("it takes a whole number{}, such as {example}", span(&bounds))),
    }
}

/// The bounds in words. The largest number of a type is left out: it helps no reader.
fn span<T: Display>(bounds: &impl RangeBounds<T>) -> String {
    match (bounds.start_bound(), bounds.end_bound()) {
        (Bound::Included(least), Bound::Included(most)) => format!(" from {least} to {most}"),
        (Bound::Included(least), _) => format!(" from {least} up"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::parse::{command, complaint, parse};
    use clap::{Arg, Command};

    /// The flags of a command and of those below it that take a number, with what leads to them.
    fn numeric(command: &Command, words: &str, found: &mut Vec<String>) {
        let takes_number = |arg: &&Arg| {
            let is_named = |names: &[clap::builder::Str]| {
                names.iter().any(|name| matches!(name.as_str(), "N" | "W" | "PORT" | "KIB"))
            };
            !arg.is_positional() && arg.get_value_names().is_some_and(is_named)
        };
        let flags = command.get_arguments().filter(takes_number).filter_map(Arg::get_long);
        found.extend(flags.map(|flag| format!("{words} --{flag}")));
        for below in command.get_subcommands() {
            numeric(below, &format!("{words} {}", below.get_name()), found);
        }
    }

    #[test]
    fn every_number_on_the_command_line_is_told_with_an_example() {
        let mut lines = Vec::new();
        numeric(&command(), "dbtime", &mut lines);
        assert!(lines.len() > 20 && lines.iter().any(|line| line == "dbtime init --scale"));
        for line in lines {
            for word in ["x", "1.5", "99999999999999999999"] {
                let error = parse(format!("{line} {word}").split(' ')).expect_err(&line);
                let text = complaint(&error).expect("an error");
                assert!(text.contains("it takes a") && text.contains(", such as "), "{text}");
            }
        }
    }

    #[test]
    fn a_number_is_within_its_bounds() {
        let read = whole::<u32>(2..=20, 3);
        assert_eq!([read("2"), read("20")], [Ok(2), Ok(20)]);
        let told = "it takes a whole number from 2 to 20, such as 3";
        for bad in ["1", "21", "-3", "3x", ""] {
            assert_eq!(read(bad), Err(told.to_owned()), "{bad}");
        }
        let told = "it takes a whole number from 1 up, such as 10";
        assert_eq!(whole::<u64>(1.., 10)("0"), Err(told.to_owned()));
        assert_eq!(whole::<u64>(0.., 42)("18446744073709551615"), Ok(u64::MAX));
    }
}
