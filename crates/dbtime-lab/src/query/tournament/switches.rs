//! The planner's switches of each product.

use crate::query::form_text::PlanSwitch;
use dbtime_observe::counters::ServerVersion;

/// PostgreSQL's, with the version that has them first.
const POSTGRES: [(&str, u32); 13] = [
    ("enable_nestloop", 9),
    ("enable_hashjoin", 9),
    ("enable_mergejoin", 9),
    ("enable_seqscan", 9),
    ("enable_indexscan", 9),
    ("enable_indexonlyscan", 9),
    ("enable_bitmapscan", 9),
    ("enable_sort", 9),
    ("enable_hashagg", 9),
    ("enable_material", 9),
    ("enable_incremental_sort", 13),
    ("enable_memoize", 14),
    ("jit", 11),
];

/// Switches of MySQL and MariaDB that change what may be used rather than how it is.
const NO_PLANS: [&str; 4] = [
    "use_invisible_indexes",
    "hypergraph_optimizer",
    "engine_condition_pushdown",
    "favor_range_scan",
];

/// Each switch of PostgreSQL turned off; parallel workers, too. What is turned off and used all
/// the same costs 10¹⁰ more, for which the server would compile a plan. Where the choice is not
/// `is_compiled`, no other plan is: plans are compared, not compilers.
pub(super) fn postgres_switches(version: ServerVersion, is_compiled: bool) -> Vec<PlanSwitch> {
    let known = POSTGRES.iter().filter(|(_, since)| version.major >= *since);
    let compiles = version.major >= 11 && !is_compiled;
    let off = |(name, _): &(&str, u32)| {
        let names = [Some(*name), Some("jit").filter(|jit| compiles && name != jit)];
        let names = || names.into_iter().flatten();
        PlanSwitch {
            before: names().map(|name| format!("SET {name} = off")).collect(),
            after: names().map(|name| format!("RESET {name}")).collect(),
        }
    };
    let parallel = "max_parallel_workers_per_gather";
    let serial = PlanSwitch {
        before: vec![format!("SET {parallel} = 0")],
        after: vec![format!("RESET {parallel}")],
    };
    known.map(off).chain([serial]).collect()
}

/// Each switch of `@@optimizer_switch` the other way round.
pub(super) fn mysql_switches(current: &str) -> Vec<PlanSwitch> {
    let set = |name: &str, value: &str| format!("SET SESSION optimizer_switch = '{name}={value}'");
    let turned = |entry: &str| {
        let (name, value) = entry.split_once('=')?;
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let (value, other) = match value {
            "on" => ("on", "off"),
            "off" => ("off", "on"),
            _ => return None,
        };
        let is_tried = is_name && !NO_PLANS.contains(&name);
        is_tried
            .then(|| PlanSwitch { before: vec![set(name, other)], after: vec![set(name, value)] })
    };
    current.split(',').filter_map(turned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_turned_and_turned_back() {
        let found = mysql_switches("semijoin=on,mrr=off,use_invisible_indexes=off,x'=on,y=maybe");
        let texts: Vec<_> = found.iter().map(|switch| switch.before[0].as_str()).collect();
        assert_eq!(
            texts,
            [
                "SET SESSION optimizer_switch = 'semijoin=off'",
                "SET SESSION optimizer_switch = 'mrr=on'"
            ]
        );
        assert_eq!(found[0].after, ["SET SESSION optimizer_switch = 'semijoin=on'"]);
    }

    #[test]
    fn older_servers_have_fewer_switches() {
        let of =
            |major, is_compiled| postgres_switches(ServerVersion { major, minor: 0 }, is_compiled);
        assert_eq!((of(9, false).len(), of(15, false).len()), (11, 14));
        assert_eq!(of(9, false)[0].before, ["SET enable_nestloop = off"]);
        assert_eq!(of(15, true)[0].before, ["SET enable_nestloop = off"]);
        assert_eq!(of(15, false)[0].before, ["SET enable_nestloop = off", "SET jit = off"]);
        assert_eq!(of(15, false)[0].after, ["RESET enable_nestloop", "RESET jit"]);
        assert_eq!(of(15, false)[12].before, ["SET jit = off"]);
    }
}
