//! Bytes of a statement have a fingerprint by any rules, and a text has other forms or none.
#![cfg_attr(feature = "link", no_main)]

use dbtime_model::SqlDialect;
use dbtime_sql::{
    LexicalRules, PerconaRules, fingerprint, percona_fingerprint, rewrites, table_columns,
    text_findings,
};
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
    let text = String::from_utf8_lossy(text);
    for dialect in dialects {
        rewrites(&text, dialect);
        text_findings(&text, dialect);
        table_columns(&text, dialect);
    }
});

/// Where it is only checked.
#[cfg(not(feature = "link"))]
fn main() {}
