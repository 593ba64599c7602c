//! The age of the oldest rows, beyond which the server takes no more transactions.

use super::super::check::{CheckVerdict, RuleResult, ServerCheck};
use super::super::examined::ExaminedServer;
use dbtime_model::doctor::FindingScope;
use dbtime_model::units::count;

pub(super) const CHECKS: &[ServerCheck] = &[ServerCheck {
    id: "wraparound",
    scope: FindingScope::Data,
    expected: "ages below autovacuum_freeze_max_age and autovacuum_multixact_freeze_max_age",
    source: "pg_database.datfrozenxid, pg_database.datminmxid",
    rule: wraparound,
}];

/// The oldest of all databases, in transactions and in multixacts.
pub(super) const AGES: &str = "SELECT max(pg_catalog.age(datfrozenxid)), \
    max(pg_catalog.mxid_age(datminmxid)) FROM pg_catalog.pg_database";

/// From here on vacuum leaves out all that it can (default of `vacuum_failsafe_age`).
const DANGEROUS: u64 = 1_600_000_000;

/// Kinds of numbers that wrap around, with the setting from which on tables are vacuumed for that.
const KINDS: [(&str, &str); 2] = [
    ("transactions", "autovacuum_freeze_max_age"),
    ("multixacts", "autovacuum_multixact_freeze_max_age"),
];

fn wraparound(server: &ExaminedServer) -> RuleResult {
    let ages = [server.figure("oldest rows", 0)?, server.figure("oldest rows", 1)?];
    let limits = [server.amount(KINDS[0].1)?, server.amount(KINDS[1].1)?];
    let value = format!(
        "the oldest rows are {} transactions and {} multixacts old",
        count(ages[0]),
        count(ages[1])
    );
    let costs = "Not measured here. Short of 2,147,483,648 the server takes no more of them \
                 (PostgreSQL manual, \"Preventing Transaction ID Wraparound Failures\")";
    let fix = "VACUUM (FREEZE) the oldest tables of each database, before the run";
    if ages.iter().any(|age| *age >= DANGEROUS) {
        let because = "vacuum does not keep up: the server is near to refusing every change";
        return Ok(CheckVerdict::bad(value, because, costs).mended(fix, "none is needed"));
    }
    let old = KINDS.iter().zip(ages.iter().zip(&limits));
    let old = old.filter(|(_, (age, limit))| age >= limit).map(|((name, _), _)| *name);
    let old = old.collect::<Vec<_>>().join(" and ");
    if old.is_empty() {
        return Ok(CheckVerdict::good(value, "no table has to be vacuumed for its age"));
    }
    let because = format!("tables are vacuumed whole for the age of their {old}, beside the load");
    Ok(CheckVerdict::note(value, because, costs).mended(fix, "none is needed"))
}
