//! What must be known before the figures of PostgreSQL's logs are believed.

use dbtime_model::log_digest::{DigestInput, InputKind, LogDigest};

/// The notes that a digest of such logs needs.
pub(super) fn postgres_notes(digest: &LogDigest) -> Vec<String> {
    let mut notes = Vec::new();
    let kinds = [InputKind::Postgres, InputKind::PostgresCsv, InputKind::PostgresJson];
    let has = |kind: InputKind| {
        let is_of = |input: &DigestInput| input.kind == kind && input.records > 0;
        digest.inputs.iter().any(is_of)
    };
    let formats = kinds.into_iter().filter(|kind| has(*kind)).count();
    if formats > 1 {
        notes.push(format!(
            "files in {formats} formats of PostgreSQL's log: a server that writes several has each \
             statement in each of them, and it counts as often; give those of one format"
        ));
    }
    if formats > 0 && digest.assumed_weight > 1.0 {
        notes.extend(sampling_notes(digest));
    }
    notes
}

/// What `--sample-rate` cannot know of such a log.
fn sampling_notes(digest: &LogDigest) -> Vec<String> {
    let mut notes = Vec::new();
    let has_step = |name: &str| digest.classes.iter().any(|class| class.figures.contains_key(name));
    if has_step("parse_time") || has_step("bind_time") {
        notes.push(
            "log_statement_sample_rate draws the parse, bind and execute steps one by one: more \
             statements are counted than ran, each with some of its steps; totals are not affected"
                .to_owned(),
        );
    }
    if digest.total.errors > 0 {
        notes.push(
            "failed statements are logged whatever the sample is, so that the estimate of their \
             number is too high"
                .to_owned(),
        );
    }
    notes
}
