//! Connections: what each is at, those that have been at it for longest first.

use super::bars::style_of;
use super::frame::rank;
use super::prior;
use super::rows::{heading, left, one_line, right, table};
use super::scene::TopScene;
use super::state::TopState;
use crate::format::{us, width};
use crate::terminal::connection_name;
use dbtime_model::Part;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_live::{ConnectionActivity, LiveConnection};
use dbtime_model::traced_prior::{PriorActivity, PriorClients, PriorSession};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span as Piece};

/// Columns of what a connection does now.
const DOING_COLUMNS: usize = 14;

/// Columns of a user and of a database, where there are so many in all.
const OWNER_COLUMNS: usize = 12;
const MIN_COLUMNS_FOR_OWNERS: usize = 110;

/// Columns of a client's address and port, likewise; longer ones are cut.
const CLIENT_COLUMNS: usize = 21;
const MIN_COLUMNS_FOR_CLIENTS: usize = 132;

/// A row of the view.
enum ConnectionRow<'a> {
    Live(&'a LiveConnection),
    /// One of which no request was seen.
    Prior(&'a PriorSession),
    /// Those of a server that are not known one by one.
    Clients(&'a PriorClients),
}

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, scene: &TopScene, state: &mut TopState) {
    let rows = rows(scene, state);
    let columns = usize::from(area.width);
    if scene.lacks_connections && rows.is_empty() {
        state.scroll(0, 0);
        let text = format!("not measured: {}", LiveConnection::ACTIVITIES);
        return frame.render_widget(Line::raw(left(&text, columns)), area);
    }
    let owners = match columns >= MIN_COLUMNS_FOR_OWNERS {
        true => format!("{} {} ", left("User", OWNER_COLUMNS), left("Database", OWNER_COLUMNS)),
        false => String::new(),
    };
    let owners = match columns >= MIN_COLUMNS_FOR_CLIENTS {
        true => owners + &left("Client", CLIENT_COLUMNS) + " ",
        false => owners,
    };
    let head = format!(
        "{}{} {owners}{} {} {} {} Statement",
        scene.server_heading(),
        right("Conn", 7),
        right("Thread", 8),
        right("For", 8),
        right("CPU", 8),
        left("Now", DOING_COLUMNS),
    );
    let in_color = state.in_color;
    table(frame, area, state, heading(left(&head, columns)), &rows, |row| match row {
        ConnectionRow::Live(one) => live_line(one, scene, columns, in_color),
        ConnectionRow::Prior(one) => prior_line(one, scene, columns, in_color),
        ConnectionRow::Clients(clients) => {
            Line::raw(left(&prior::clients(scene, clients), columns))
        }
    });
}

/// What has lasted longest first: what was there before the watching, and the rest by its length.
/// Whoever does nothing stands below, those first who may hold locks.
fn rows<'a>(scene: &'a TopScene, state: &TopState) -> Vec<ConnectionRow<'a>> {
    let mut live: Vec<&LiveConnection> = scene.connections.iter().collect();
    live.retain(|one| state.matches_filter(&[&one.request.text, &doing(one)]));
    live.sort_by_key(|one| rank(one));
    let first_idle = live.iter().position(|one| !one.is_at_work()).unwrap_or(live.len());
    let idle = live.split_off(first_idle);
    let shown =
        |one: &&PriorSession| state.matches_filter(&[&prior::statement(one), &prior::doing(one)]);
    let prior = scene.prior.sessions.iter().filter(shown);
    let (resting, at_work): (Vec<_>, Vec<_>) =
        prior.partition(|one| one.activity == PriorActivity::InTransaction);
    let clients = scene.prior.clients.iter();
    let clients = clients.filter(|one| state.matches_filter(&[&prior::clients(scene, one)]));
    let rows = at_work.into_iter().map(ConnectionRow::Prior);
    let rows = rows.chain(clients.map(ConnectionRow::Clients));
    let rows = rows.chain(live.into_iter().map(ConnectionRow::Live));
    let rows = rows.chain(resting.into_iter().map(ConnectionRow::Prior));
    rows.chain(idle.into_iter().map(ConnectionRow::Live)).collect()
}

fn live_line(
    one: &LiveConnection,
    scene: &TopScene,
    columns: usize,
    in_color: bool,
) -> Line<'static> {
    let request = &one.request;
    let (since, cpu) = match one.is_at_work() {
        true => {
            let cpu = request.parts.measured_duration(Part::Cpu);
            (request.start, cpu.map_or(String::new(), |cpu| us(cpu.as_micros())))
        }
        false => (request.end, String::new()),
    };
    let length = us((one.at - since).as_micros());
    let owner = if columns >= MIN_COLUMNS_FOR_OWNERS { owner(request) } else { String::new() };
    let numbers = format!(
        "{}{} {}{} {} {} ",
        scene.server_column(one.server),
        right(&connection_name(request.server_id(), request.connection), 7),
        owner + &client(request, columns),
        right(&request.thread.to_string(), 8),
        right(&length, 8),
        right(&cpu, 8),
    );
    let text = match one.is_at_work() {
        true => one_line(&request.text),
        false => format!("(last: {})", one_line(&request.text)),
    };
    line(numbers, (&doing(one), now_style(one, in_color)), &text, columns)
}

fn prior_line(
    one: &PriorSession,
    scene: &TopScene,
    columns: usize,
    in_color: bool,
) -> Line<'static> {
    let name =
        |name: &str| left(&one_line(if name.is_empty() { "?" } else { name }), OWNER_COLUMNS);
    let owner = match columns >= MIN_COLUMNS_FOR_OWNERS {
        true => format!("{} {} ", name(&one.user), name(&one.database)),
        false => String::new(),
    };
    let client = match columns >= MIN_COLUMNS_FOR_CLIENTS {
        true => left("?", CLIENT_COLUMNS) + " ",
        false => String::new(),
    };
    let thread = one.thread.map_or(String::new(), |thread| thread.to_string());
    let numbers = format!(
        "{}{} {owner}{client}{} {} {} ",
        scene.server_column(Some(one.server)),
        right(&one.id.to_string(), 7),
        right(&thread, 8),
        right(&prior::length(one, scene.watched_for), 8),
        right("", 8),
    );
    let style = match one.activity {
        PriorActivity::Waiting(_) => style_of(Part::Lock, in_color),
        PriorActivity::AtWork(_) | PriorActivity::InTransaction => Style::new(),
    };
    line(numbers, (&prior::doing(one), style), &prior::statement(one), columns)
}

/// A row of numbers, of what a connection does now, and of its statement.
fn line(numbers: String, doing: (&str, Style), text: &str, columns: usize) -> Line<'static> {
    let room = columns.saturating_sub(width(&numbers) + DOING_COLUMNS + 1);
    let (doing, style) = doing;
    Line::from(vec![
        Piece::raw(numbers),
        Piece::styled(left(doing, DOING_COLUMNS), style),
        Piece::raw(" ".to_owned() + &left(text, room)),
    ])
}

/// Whose it is; `?`: the client logged in before that could be seen.
fn owner(request: &TracedRequest) -> String {
    let [user, database] = [request.user(), request.database()]
        .map(|name| left(&one_line(name.unwrap_or("?")), OWNER_COLUMNS));
    format!("{user} {database} ")
}

fn client(request: &TracedRequest, columns: usize) -> String {
    if columns < MIN_COLUMNS_FOR_CLIENTS {
        return String::new();
    }
    let socket = || if request.login.is_some() { "socket" } else { "?" }.to_owned();
    let client = request.client().map_or_else(socket, |client| client.to_string());
    left(&client, CLIENT_COLUMNS) + " "
}

fn doing(one: &LiveConnection) -> String {
    match &one.activity {
        ConnectionActivity::Idle => "idle".to_owned(),
        ConnectionActivity::In(Part::Cpu) => "on a CPU".to_owned(),
        // Whether the limit of its control group is the reason shows once it has a CPU.
        ConnectionActivity::In(Part::RunqPreempted | Part::RunqWoken) => "waits for CPU".to_owned(),
        ConnectionActivity::In(part) => part.name().to_owned(),
        ConnectionActivity::Waiting(lock) => lock.to_string(),
        ConnectionActivity::AtWork => "at work".to_owned(),
    }
}

fn now_style(one: &LiveConnection, in_color: bool) -> Style {
    match &one.activity {
        ConnectionActivity::Idle | ConnectionActivity::AtWork => Style::new(),
        ConnectionActivity::In(part) => style_of(*part, in_color),
        ConnectionActivity::Waiting(_) => style_of(Part::Lock, in_color),
    }
}
