//! Targets as they may be shown: in messages with a mask in the place of a password, in records
//! without it.

use super::{ServerUrl, is_keywords, is_torn, keywords};
use dbtime_model::secret_text::{MASK, is_secret_name, without_secrets};

/// A text with its password, if it has one, replaced: for messages.
pub fn without_password(text: &str) -> String {
    if let Some(shown) = keywords::masked(text) {
        return shown;
    }
    without_secrets(&rewritten(text, Some(MASK))).into_owned()
}

/// A target without its password, to be given again by whoever has that: for records. A connection
/// string becomes a URL.
pub fn without_login_secret(text: &str) -> String {
    if !is_keywords(text) {
        return rewritten(text, None);
    }
    match ServerUrl::read(text) {
        Ok(url) => ServerUrl { password: None, ..url }.written(),
        Err(_) => without_password(text),
    }
}

/// A text with something in the place of its password, or without it.
pub(super) fn rewritten(text: &str, mask: Option<&str>) -> String {
    let shown = without_login(text, mask);
    let Some((place, query)) = shown.split_once('?') else { return shown };
    let kept = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if is_secret_name(name) => mask.map(|mask| format!("{name}={mask}")),
        _ => Some(pair.to_owned()),
    };
    let pairs: Vec<String> = query.split('&').filter_map(kept).collect();
    match pairs.is_empty() {
        true => place.to_owned(),
        false => format!("{place}?{}", pairs.join("&")),
    }
}

fn without_login(text: &str, mask: Option<&str>) -> String {
    let mask = mask.map_or(String::new(), |mask| format!(":{mask}"));
    let Some((scheme, rest)) = text.split_once("://") else {
        // No target, but perhaps meant as one.
        return match (text.split_once(':'), text.rsplit_once('@')) {
            (Some((scheme, rest)), Some((_, place))) if !is_path(scheme, rest) => {
                format!("{scheme}{mask}@{place}")
            }
            _ => text.to_owned(),
        };
    };
    let end = rest.find(['/', '?']).unwrap_or(rest.len());
    // A password may itself contain / or ?: then the last @ of all ends it, but for those in the
    // values of parameters.
    let last = match rest.split_once('?') {
        Some((before, query)) if !query.split('&').any(is_torn) => before.rfind('@'),
        _ => rest.rfind('@'),
    };
    let (authority, after) = rest.split_at(last.map_or(end, |at| at.max(end)));
    let (login, place) = match (authority.rsplit_once('@'), after.strip_prefix('@')) {
        (_, Some(after)) => (authority, after.to_owned()),
        (Some((login, place)), None) => (login, format!("{place}{after}")),
        (None, None) => return text.to_owned(),
    };
    match login.split_once(':') {
        Some((user, _)) => format!("{scheme}://{user}{mask}@{place}"),
        None => text.to_owned(),
    }
}

/// Whether what stands behind a scheme names a file or a folder: an SQLite database, or the prefix
/// of an installation.
fn is_path(scheme: &str, rest: &str) -> bool {
    scheme == "sqlite" || rest.starts_with('/') && !rest.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_taken_out() {
        let cases = [
            ("mysql://u:p@h/d", "mysql://u:***@h/d"),
            ("mysql://u@h/d", "mysql://u@h/d"),
            ("mysql://h/d", "mysql://h/d"),
            ("mysql://u:p@q@h/d?x=y", "mysql://u:***@h/d?x=y"),
            ("mysql://u:p/q@h/d", "mysql://u:***@h/d"),
            ("sqlite:x.db", "sqlite:x.db"),
            ("postgres://h/d?password=x&port=1", "postgres://h/d?password=***&port=1"),
            ("mysql:u:p@h", "mysql:***@h"),
            ("mysql:/u:p@h", "mysql:***@h"),
            ("postgres:/opt/postgresql@16", "postgres:/opt/postgresql@16"),
            ("sqlite:/srv/a@b/x.db", "sqlite:/srv/a@b/x.db"),
            ("postgres://u:p@h/d?options=a@b", "postgres://u:***@h/d?options=a@b"),
            ("postgres://h:5433/d?options=a@b", "postgres://h:5433/d?options=a@b"),
            ("mysql://u:p@a?q@h/d", "mysql://u:***@h/d"),
            ("postgres://h/d?p%61ssword=x&port=1", "postgres://h/d?p%61ssword=***&port=1"),
            ("host=h password='x y' user=u", "host=h password=*** user=u"),
        ];
        for (text, shown) in cases {
            assert_eq!(without_password(text), shown);
        }
    }

    #[test]
    fn a_record_has_targets_that_can_be_given_again() {
        for (text, kept) in [
            ("mysql://u:p%40w@h:33/d?ssl-mode=disabled", "mysql://u@h:33/d?ssl-mode=disabled"),
            ("postgres://:secret@/d?host=/x", "postgres://@/d?host=/x"),
            ("postgres://u:p@h/d?password=x", "postgres://u@h/d"),
            ("postgres://h/d?p%61ssword=x&port=1", "postgres://h/d?port=1"),
            ("pg:secret@h", "pg@h"),
            ("mysql://h/d?", "mysql://h/d?"),
            ("host=h password='x y' dbname=d", "postgres:///?host=h&dbname=d"),
            ("host=h password='x", "host=h password=***"),
        ] {
            assert_eq!(without_login_secret(text), kept);
        }
    }
}
