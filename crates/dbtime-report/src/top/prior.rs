//! What sessions were at before the watching began: of their requests neither the beginning nor the
//! text was seen.

use super::rows::one_line;
use super::scene::{LoginScene, TopScene};
use crate::format::{count, counted, us};
use dbtime_model::Nanos;
use dbtime_model::lock_picture::LockPicture;
use dbtime_model::traced_prior::{
    PriorActivity, PriorClients, PriorSession, PriorSource, PriorWork,
};

/// What stands in the place of what was not seen.
const FROM_BEFORE: &str = "(before dbtime looked)";

/// What stands behind the number of those at work; nothing where nobody is from before.
pub(super) fn busy(work: &PriorWork) -> String {
    let most = if work.is_vague() { "up to " } else { "" };
    let unknown = work.clients.iter().any(|clients| clients.at_work.is_none());
    match (work.at_work(), unknown) {
        (0, false) => String::new(),
        (0, true) => " + ? from before".to_owned(),
        (number, false) => format!(" + {most}{} from before", count(number as u64)),
        (number, true) => format!(" + {} and ? from before", count(number as u64)),
    }
}

/// Sessions that wait for a lock from before.
pub(super) fn waiting(scene: &TopScene) -> impl Iterator<Item = &PriorSession> {
    let waits = |one: &&PriorSession| matches!(one.activity, PriorActivity::Waiting(_));
    scene.prior.sessions.iter().filter(waits)
}

/// Whether a login's picture has a session already.
pub(super) fn is_pictured(one: &PriorSession, login: &LoginScene) -> bool {
    let has_it = |picture: &LockPicture| picture.session(one.id).is_some();
    login.server == Some(one.server) && login.picture.as_ref().is_some_and(has_it)
}

/// How long it has been at it: longer than it was watched, where that is all that is known.
pub(super) fn length(one: &PriorSession, watched_for: Nanos) -> String {
    let watched_for = || format!(">{}", us(watched_for.as_micros()));
    one.length.map_or_else(watched_for, |length| us(length.as_micros()))
}

pub(super) fn doing(one: &PriorSession) -> String {
    match (&one.activity, one.source) {
        (PriorActivity::InTransaction, _) => "idle in transaction".to_owned(),
        (PriorActivity::Waiting(lock), _) => one_line(lock),
        (PriorActivity::AtWork(_), PriorSource::Title) => "at work".to_owned(),
        (PriorActivity::AtWork(state), PriorSource::List) => one_line(state),
    }
}

/// Its statement, or why there is none.
pub(super) fn statement(one: &PriorSession) -> String {
    match (&one.activity, one.source) {
        _ if !one.statement.is_empty() => {
            format!("{FROM_BEFORE} {}", one_line(&one.statement))
        }
        (PriorActivity::AtWork(command), PriorSource::Title) => {
            format!("{FROM_BEFORE} {}, by its title; its text was not seen", one_line(command))
        }
        (_, PriorSource::Title) => format!("{FROM_BEFORE} by its title; its text was not seen"),
        (_, PriorSource::List) => format!("{FROM_BEFORE} the server lists no text"),
    }
}

/// A server of which no more than numbers is known.
pub(super) fn clients(scene: &TopScene, clients: &PriorClients) -> String {
    let server = one_line(&scene.server_name(clients.server));
    let hint = match scene.login.is_there {
        true => "",
        false => "; --login URL would list them",
    };
    numbers(&server, clients) + hint
}

fn numbers(server: &str, clients: &PriorClients) -> String {
    let connected = counted(clients.connected as u64, "client");
    match clients.at_work {
        Some(most) => format!(
            "{server}: up to {} of {connected} may be busy with a request from before dbtime \
             looked",
            count(most as u64)
        ),
        None => {
            format!("{server}: which of {connected} were at work before dbtime looked is not known")
        }
    }
}

/// What somebody has to know who is shown requests from their beginning on: who was at work before.
/// `name`: what a server is called.
pub fn prior_notes(work: &PriorWork, name: impl Fn(u32) -> String) -> Vec<String> {
    let busy = |one: &&PriorSession| one.activity != PriorActivity::InTransaction;
    let mut servers: Vec<u32> = work.sessions.iter().filter(busy).map(|one| one.server).collect();
    servers.sort_unstable();
    let of_server = |some: &[u32]| {
        let sessions = counted(some.len() as u64, "session");
        let verb = if some.len() == 1 { "was" } else { "were" };
        format!("{}: {sessions} {verb} at work before dbtime looked", one_line(&name(some[0])))
    };
    let known = servers.chunk_by(u32::eq).map(of_server);
    let clients = work.clients.iter().filter(|clients| clients.at_work != Some(0));
    let unknown = clients.map(|clients| numbers(&one_line(&name(clients.server)), clients));
    let seen = "; this work is not shown: each session is seen from its next request on";
    known.chain(unknown).map(|note| note + seen).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_what_they_may_lack() {
        let clients = |at_work| PriorClients { server: 7, connected: 3, at_work };
        let work = |all: &[Option<usize>]| PriorWork {
            clients: all.iter().map(|one| clients(*one)).collect(),
            ..PriorWork::default()
        };
        assert_eq!(busy(&work(&[])), "");
        assert_eq!(busy(&work(&[Some(2)])), " + up to 2 from before");
        assert_eq!(busy(&work(&[None])), " + ? from before");
        assert_eq!(busy(&work(&[Some(2), None])), " + 2 and ? from before");
        let notes = prior_notes(&work(&[Some(2), None, Some(0)]), |_| "mariadbd 7".to_owned());
        assert_eq!(notes.len(), 2, "{notes:?}");
        let told = "mariadbd 7: up to 2 of 3 clients may be busy with a request from before ";
        assert!(notes[0].starts_with(told), "{notes:?}");
        assert!(notes[1].contains("is not known"), "{notes:?}");
    }
}
