//! Bytes of a statement have a fingerprint by any rules.
#![cfg_attr(feature = "link", no_main)]

use dbtime_model::SqlDialect;
use dbtime_sql::{LexicalRules, PerconaRules, fingerprint, percona_fingerprint};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &[u8]| {
    let dialects = [SqlDialect::Mysql, SqlDialect::Postgres, SqlDialect::Sqlite];
    let all = dialects
        .into_iter()
        .flat_map(|dialect| [LexicalRules::defaults(dialect), LexicalRules::unknown(dialect)]);
    let mut out = String::new();
    for rules in all.chain([LexicalRules::of_protocol(None)]) {
        fingerprint(text, &rules, &mut out);
    }
    let mut out = Vec::new();
    for rules in [PerconaRules::Current, PerconaRules::Old] {
        percona_fingerprint(text, rules, &mut out);
    }
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
