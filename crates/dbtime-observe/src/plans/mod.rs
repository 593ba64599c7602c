//! Plans as servers write them, read into one form.

mod json_tree;
mod mariadb_json;
mod mysql_iterators;
mod mysql_json;
mod mysql_steps;
mod mysql_table;

pub use mariadb_json::mariadb_json;
pub use mysql_iterators::{mysql_json_v2, mysql_tree};
pub use mysql_json::mysql_json;
pub use mysql_table::mysql_table;

use dbtime_model::SqlDialect;
use dbtime_sql::{LexicalRules, fingerprint, without_passwords};

/// How deep a tree may be.
const MAX_DEPTH: usize = 200;

/// How many steps a plan may have.
const MAX_NODES: usize = 10_000;

/// Bytes of a text of a plan; the rest is cut off.
const MAX_TEXT: usize = 4096;

/// Why a plan cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the plan cannot be read: {0}")]
pub struct PlanError(pub String);

/// The beginning of a text, which is all of most.
fn cut(text: &str) -> &str {
    let mut end = MAX_TEXT.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A condition as it is shown: its names and operators as the server spells them, with `?` for
/// literals unless `is_raw`.
pub(crate) fn shown(text: &str, dialect: SqlDialect, is_raw: bool) -> String {
    let text = cut(text);
    if is_raw {
        return without_passwords(text).into_owned();
    }
    let mut out = String::new();
    fingerprint(text, &LexicalRules::unknown(dialect), &mut out);
    out
}
