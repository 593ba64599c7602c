//! Whole numbers on the command line.

pub(super) use dbtime_model::spec::whole;

#[cfg(test)]
mod tests {
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
}
