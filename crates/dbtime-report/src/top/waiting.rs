//! Who waits for locks in this instant: as the server has it, with who holds them, or as the kernel
//! sees it, which knows no holder before it lets go.

use super::blockers::BlockerRow;
use super::prior;
use super::rows::{left, one_line, right};
use super::scene::TopScene;
use super::state::TopState;
use crate::format::{count, us};
use crate::lock_tree::{lock_summary, lock_tree};
use crate::terminal::connection_name;
use dbtime_model::lock_picture::ServerSession;
use dbtime_model::traced_live::{ConnectionActivity, LiveConnection};
use dbtime_model::traced_prior::PriorSession;
use std::cmp::Reverse;

/// Lines of a tree, and of those that nobody holds up as far as is known.
const MAX_LINES: usize = 500;

/// Rows with a heading; none where nobody waits and there is nothing to know.
pub(super) fn rows(scene: &TopScene, state: &TopState) -> Vec<BlockerRow> {
    let matches = |line: &String| state.matches_filter(&[line]);
    let login = &scene.login;
    let mut rows = Vec::new();
    if let Some(picture) = &login.picture {
        rows.push(BlockerRow::Heading(format!("Now: {}", lock_summary(picture))));
        rows.extend(
            lock_tree(picture, MAX_LINES).into_iter().filter(matches).map(BlockerRow::Line),
        );
    }
    let others = others(scene);
    let prior = prior::waiting(scene).filter(|one| !prior::is_pictured(one, login));
    let prior: Vec<&PriorSession> = prior.collect();
    if !others.is_empty() || !prior.is_empty() {
        rows.push(BlockerRow::Heading(head(scene, others.len() + prior.len())));
        let prior = prior.into_iter().take(MAX_LINES).map(|one| prior_line(one, scene));
        let lines = prior.chain(others.into_iter().map(|one| line(one, scene)));
        rows.extend(lines.filter(matches).map(BlockerRow::Line));
    }
    let clients = scene.prior.clients.iter().filter(|clients| clients.at_work != Some(0));
    let clients: Vec<String> = clients.map(|one| prior::clients(scene, one)).collect();
    if rows.is_empty() && !clients.is_empty() {
        rows.push(BlockerRow::Heading("Now: not all waiting sessions are known".to_owned()));
    }
    rows.extend(clients.into_iter().filter(matches).map(BlockerRow::Line));
    let notes = login.notes.iter().map(|note| one_line(note));
    if rows.is_empty() && !login.notes.is_empty() {
        rows.push(BlockerRow::Heading("Now: no session waits for long".to_owned()));
    }
    rows.extend(notes.map(BlockerRow::Line));
    rows
}

/// Those that the picture of a login does not have: it is a second old, or of another server. A
/// connection is known by its server and the number that it has there, or by its thread.
fn others(scene: &TopScene) -> Vec<&LiveConnection> {
    let sessions: Vec<&ServerSession> =
        scene.login.picture.iter().flat_map(|picture| &picture.sessions).collect();
    // Each server has a session of that number; threads are the machine's.
    let is_its = |one: &LiveConnection| match scene.login.server {
        Some(server) => one.server == Some(server),
        None => scene.servers.len() < 2,
    };
    let is_same = |one: &LiveConnection, session: &ServerSession| {
        let (id, thread) = (one.request.server_id(), one.request.thread);
        (is_its(one) && id == Some(session.id)) || session.thread == Some(thread)
    };
    // Without a word of threads nobody knows who is who: the picture has them all.
    let is_vague = sessions.iter().all(|session| session.thread.is_none());
    let is_vague = scene.login.picture.is_some() && is_vague;
    let is_known = |one: &LiveConnection| {
        (is_vague && is_its(one)) || sessions.iter().any(|session| is_same(one, session))
    };
    let is_other = |one: &&LiveConnection| !scene.login.is_of_it(one) || !is_known(one);
    let waiting = scene.connections.iter().filter(|one| one.waits_for_lock());
    let mut others: Vec<&LiveConnection> = waiting.filter(is_other).collect();
    others.sort_by_key(|one| Reverse(one.lock_wait()));
    others.truncate(MAX_LINES);
    others
}

fn head(scene: &TopScene, number: usize) -> String {
    let hint = match scene.login.is_there {
        true => "",
        false => "; --login URL would name their holders",
    };
    let verb = if number == 1 { "waits" } else { "wait" };
    format!("Now: {} {verb} for locks{hint}", count(number as u64))
}

fn prior_line(one: &PriorSession, scene: &TopScene) -> String {
    format!(
        "{}{} {} {} {}",
        scene.server_column(Some(one.server)),
        left(&one.id.to_string(), 17),
        right(&prior::length(one, scene.watched_for), 8),
        left(&prior::doing(one), 15),
        prior::statement(one),
    )
}

fn line(one: &LiveConnection, scene: &TopScene) -> String {
    let lock = match &one.activity {
        ConnectionActivity::Waiting(lock) => lock.to_string(),
        _ => "lock".to_owned(),
    };
    let waited = one.lock_wait().unwrap_or_default();
    let name = connection_name(one.request.server_id(), one.request.connection);
    format!(
        "{}{} {} {} {}",
        scene.server_column(one.server),
        left(&name, 17),
        right(&us(waited.as_micros()), 8),
        left(&one_line(&lock), 15),
        one_line(&one.request.text),
    )
}
