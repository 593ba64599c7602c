//! SQL as text: what is left of a statement without its literals or its passwords, and of an error
//! without values, how servers divide a text into tokens, and fingerprints and IDs as Percona's
//! tools make them: cut and hostile text is as welcome as any. Only [`rewrites`] and
//! [`text_findings`] want a text that has a grammar.
#![forbid(unsafe_code)]

mod fingerprint;
mod joint_lexer;
mod lexer;
mod lexical_rules;
mod literal_shape;
mod made_up_names;
mod parameter_places;
mod password_places;
mod percona;
mod repeated_values;
mod repeated_words;
mod rewrite;
mod statement_count;
mod statement_outline;
mod table_places;
mod unknown_names;
mod value_lists;

pub use fingerprint::fingerprint;
pub use lexical_rules::LexicalRules;
pub use literal_shape::literal_shape;
pub use parameter_places::{ParameterName, ParameterPlace, StatementPlaces};
pub use password_places::{lacks_password, without_passwords};
pub use percona::{PerconaRules, percona_fingerprint, statement_id};
pub use repeated_values::{
    PostgresWords, internal_query, without_context_values, without_mysql_values,
    without_sqlite_values,
};
pub use repeated_words::{StatementShapes, repeated_statement, without_repeated_passwords};
pub use rewrite::{
    StatementRewrite, TableColumns, TextFinding, rewrites, table_columns, text_findings,
};
pub use statement_count::may_have_several;
pub use statement_outline::{OrderTerm, StatementOutline, StatementVerb};
pub use table_places::{NamedTable, named_tables, with_select_words, with_table_suffix};
