//! Under which heading each flag of a command with many flags stands in its help.

/// What every command has.
pub(super) const GENERAL: &str = "General";

/// A heading and its flags.
type FlagGroup = (&'static str, &'static [&'static str]);

const RUN: [FlagGroup; 8] = [
    (
        "Workload",
        &[
            "query",
            "script",
            "script_set",
            "scale",
            "seed",
            "data_seed",
            "snapshots",
            "spec",
            "print_spec",
        ],
    ),
    (
        "Target",
        &[
            "target",
            "password_file",
            "protocol",
            "pipeline",
            "reconnect",
            "statement_timeout",
            "network_delay",
            "network_rate",
        ],
    ),
    (
        "Load",
        &[
            "rate",
            "arrivals",
            "jitter",
            "connections",
            "workers",
            "think",
            "on_backlog",
            "shards",
            "client_cpus",
            "time",
            "transactions",
            "warmup",
        ],
    ),
    ("Private server", &["server_set", "server_env", "server_cpus", "server_data"]),
    ("Many runs", &["sweep", "find_rate", "repeat"]),
    ("Requirements", &["limits", "strict"]),
    ("Measuring", &["budget_every", "no_budget", "trace", "stacks", "statements"]),
    (
        "Output",
        &[
            "out",
            "no_record",
            "json",
            "events",
            "flat_out_rate",
            "parent",
            "histogram",
            "server_threads",
            "quiet",
        ],
    ),
];

const TRACE: [FlagGroup; 5] = [
    ("Servers", &["processes", "server_kind", "ports", "cgroup"]),
    ("Lock holders", &["login", "login_after"]),
    ("Requests", &["user", "database", "slow", "commands", "matching", "errors"]),
    ("View", &["summary", "histogram", "step", "every", "raw_sql", "json"]),
    ("Recording and cost", &["record", "time", "requests", "buffer", "max_cost", "strict"]),
];

fn groups(command: &str) -> &'static [FlagGroup] {
    match command {
        // `study ab` takes the flags of a run.
        "run" | "ab" => &RUN,
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
