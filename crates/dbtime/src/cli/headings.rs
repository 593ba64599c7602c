//! Under which heading each flag of `dbtime trace`, `dbtime log` and `dbtime query` stands in its
//! help. Those of `dbtime run` have theirs in their own list.

/// What every command has.
pub(super) const GENERAL: &str = "General";

/// A heading and its flags.
type FlagGroup = (&'static str, &'static [&'static str]);

const TRACE: [FlagGroup; 5] = [
    ("Servers", &["processes", "server_kind", "ports", "cgroup"]),
    ("Lock holders", &["login", "login_after"]),
    ("Requests", &["user", "database", "slow", "commands", "matching", "errors"]),
    (
        "View",
        &[
            "summary",
            "details",
            "histogram",
            "step",
            "every",
            "raw_sql",
            "html",
            "markdown",
            "json",
        ],
    ),
    ("Recording and cost", &["record", "time", "requests", "buffer", "max_cost", "strict"]),
];

const LOG: [FlagGroup; 4] = [
    ("Format", &["read_as", "access_format", "prefix", "json_fields"]),
    ("Records", &["since", "until", "since_last", "sample_rate", "threads"]),
    ("Classes", &["group_by", "route", "order_by", "limit"]),
    ("View", &["details", "raw_sql", "show_bad", "format", "html", "markdown", "json", "parquet"]),
];

const QUERY: [FlagGroup; 5] = [
    ("Statements", &["query", "target", "on_copy", "dict", "seed"]),
    ("Measurement", &["time", "row_keys", "margin", "statement_timeout", "commit", "trace"]),
    (
        "Plans and advice",
        &["plan_only", "no_analyze", "against", "tournament", "advice", "no_advice", "lint"],
    ),
    ("Expectations", &["expect_faster", "expect_same_rows"]),
    ("View", &["details", "raw_sql", "out", "html", "markdown", "json"]),
];

fn groups(command: &str) -> &'static [FlagGroup] {
    match command {
        "log" => &LOG,
        "query" => &QUERY,
        "trace" => &TRACE,
        _ => &[],
    }
}

/// The heading of a command's flag; `None` under the common one.
pub(super) fn of(command: &str, flag: &str) -> Option<&'static str> {
    let found = groups(command).iter().find(|(_, flags)| flags.contains(&flag));
    found.map(|(heading, _)| *heading)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_has_one_heading() {
        let grammar = crate::cli::parse::command();
        for command in grammar.get_subcommands().filter(|c| !groups(c.get_name()).is_empty()) {
            let mut listed: Vec<&str> =
                groups(command.get_name()).iter().flat_map(|(_, flags)| *flags).copied().collect();
            let own = command
                .get_arguments()
                .filter(|arg| !arg.is_positional() && arg.get_help_heading() != Some(GENERAL));
            let mut flags: Vec<&str> = own.map(|arg| arg.get_id().as_str()).collect();
            listed.sort_unstable();
            flags.sort_unstable();
            assert_eq!(listed, flags, "flags of dbtime {}", command.get_name());
        }
    }
}
