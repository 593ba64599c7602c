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
    let is_mixed = |input: &DigestInput| {
        input.kind == InputKind::Postgres
            && !input.format.starts_with("syslog")
            && !has_escape(&input.format, &['p', 'c'])
    };
    if digest.inputs.iter().any(is_mixed) {
        notes.push(
            "the prefix of the log has neither %p nor %c: messages of all sessions are read as of \
             one, and a duration alone may be another statement's"
                .to_owned(),
        );
    }
    if formats > 0 && digest.assumed_weight > 1.0 {
        notes.extend(sampling_notes(digest));
    }
    notes
}

/// Whether a prefix has one of these escapes, filled up or not.
fn has_escape(prefix: &str, letters: &[char]) -> bool {
    let mut chars = prefix.chars();
    while chars.any(|c| c == '%') {
        let letter = chars.find(|c| *c != '-' && !c.is_ascii_digit());
        if letter.is_some_and(|letter| letters.contains(&letter)) {
            return true;
        }
    }
    false
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
    if digest.total.errors > Some(0) {
        notes.push(
            "failed statements are logged whatever the sample is, so that the estimate of their \
             number is too high"
                .to_owned(),
        );
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::has_escape;

    #[test]
    fn escapes_are_found_with_and_without_a_width() {
        for prefix in ["%m [%p] ", "%-10p", "%5c|", "%%%p"] {
            assert!(has_escape(prefix, &['p', 'c']), "{prefix}");
        }
        for prefix in ["", "%m ", "%%p", "%P %m", "%"] {
            assert!(!has_escape(prefix, &['p', 'c']), "{prefix}");
        }
    }
}
