//! Titles of PostgreSQL's processes: `postgres: USER DATABASE CLIENT ACTIVITY`, behind the name of
//! a cluster where it has one. Names are their clients' choice, and may be made to look like the
//! rest.

/// What a process that serves a client says of itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BackendTitle<'a> {
    /// User and database, where they can be told apart.
    pub(super) names: Option<(&'a str, &'a str)>,
    pub(super) activity: TitleActivity<'a>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum TitleActivity<'a> {
    Idle,
    InTransaction,
    /// With its command.
    AtWork(&'a str),
    /// For a lock, likewise.
    Waiting(&'a str),
    /// It says nothing, or what is nobody's request.
    Unknown,
}

/// What a title means; `None`: its process serves no client.
pub(super) fn backend_title(title: &str) -> Option<BackendTitle<'_>> {
    let title = title.strip_prefix("postgres: ")?.trim_end();
    // What stands behind the last place that may be a client's is the server's own.
    let words = title.split(' ').scan(0, |at, word| {
        let from = *at;
        *at += word.len() + 1;
        Some((from, word))
    });
    let (at, client) = words.filter(|(_, word)| is_client(word)).last()?;
    let before = title[..at].trim_end();
    if is_sender(before) {
        return None;
    }
    let activity = activity(title[at + client.len()..].trim_start());
    Some(BackendTitle { names: names(before), activity })
}

/// Whether what it serves is a standby, which asks for nothing more. Old versions call it by
/// another name.
fn is_sender(before: &str) -> bool {
    let own = before.split_once(": ").map_or(before, |(_, own)| own);
    own.starts_with("walsender ") || own.starts_with("wal sender ")
}

/// `[local]`, or an address or a host with a port in parentheses.
fn is_client(word: &str) -> bool {
    let port = word.strip_suffix(')').and_then(|word| word.rsplit_once('('));
    word == "[local]"
        || port.is_some_and(|(host, port)| {
            !host.is_empty() && !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())
        })
}

fn names(before: &str) -> Option<(&str, &str)> {
    let words: Vec<&str> = before.split(' ').collect();
    match words[..] {
        [user, database] => Some((user, database)),
        [cluster, user, database] if cluster.ends_with(':') => Some((user, database)),
        _ => None,
    }
}

fn activity(text: &str) -> TitleActivity<'_> {
    let is_command = |text: &str| {
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b' ')
    };
    match text {
        "idle" => TitleActivity::Idle,
        "idle in transaction" | "idle in transaction (aborted)" => TitleActivity::InTransaction,
        _ => match text.strip_suffix(" waiting") {
            Some(command) if is_command(command) => TitleActivity::Waiting(command),
            None if is_command(text) => TitleActivity::AtWork(text),
            _ => TitleActivity::Unknown,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(title: &str) -> Option<(Option<(&str, &str)>, TitleActivity<'_>)> {
        backend_title(title).map(|title| (title.names, title.activity))
    }

    #[test]
    fn titles_say_what_their_sessions_are_at() {
        use TitleActivity::{AtWork, Idle, InTransaction, Unknown, Waiting};
        let app = Some(("app", "shop"));
        for (title, means) in [
            ("postgres: app shop [local] idle", Some((app, Idle))),
            (
                "postgres: app shop 10.0.0.7(40312) idle in transaction   ",
                Some((app, InTransaction)),
            ),
            (
                "postgres: app shop [local] idle in transaction (aborted)",
                Some((app, InTransaction)),
            ),
            ("postgres: main: app shop ::1(5) UPDATE waiting", Some((app, Waiting("UPDATE")))),
            ("postgres: app shop web.example(5) ALTER TABLE", Some((app, AtWork("ALTER TABLE")))),
            ("postgres: app shop [local] authentication", Some((app, Unknown))),
            ("postgres: app shop [local] ", Some((app, Unknown))),
            ("postgres: an app shop [local] SELECT", Some((None, AtWork("SELECT")))),
            ("postgres: walsender app [local] START_REPLICATION", None),
            ("postgres: 15/main: walsender app 10.0.0.7(5) START_REPLICATION", None),
            ("postgres: wal sender process app 10.0.0.7(5) streaming 0/3000148", None),
            ("postgres: checkpointer ", None),
            ("postgres: autovacuum worker shop", None),
            ("/usr/lib/postgresql/15/bin/postgres -D /data", None),
        ] {
            assert_eq!(read(title), means, "{title}");
        }
    }

    #[test]
    fn names_that_look_like_the_rest_make_nobody_busy() {
        let title = "postgres: x [local] UPDATE waiting shop [local] idle";
        assert_eq!(read(title), Some((None, TitleActivity::Idle)));
    }

    proptest::proptest! {
        #[test]
        fn no_title_is_too_odd(title in ".{0,300}") {
            backend_title(&format!("postgres: {title}"));
        }
    }
}
