//! Connections: what each is at, those that have been at it for longest first.

use super::bars::style_of;
use super::frame::rank;
use super::rows::{heading, left, one_line, right, table};
use super::scene::TopScene;
use super::state::TopState;
use crate::format::us;
use crate::terminal::connection_name;
use dbtime_model::Part;
use dbtime_model::traced::TracedRequest;
use dbtime_model::traced_live::{ConnectionActivity, LiveConnection};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span as Piece};

/// Columns of what a connection does now.
const DOING_COLUMNS: usize = 14;

/// Columns of a user and of a database, where there are so many in all.
const OWNER_COLUMNS: usize = 12;
const MIN_COLUMNS_FOR_OWNERS: usize = 110;

/// Columns of a client's address and port, likewise; longer ones are cut.
const CLIENT_COLUMNS: usize = 21;
const MIN_COLUMNS_FOR_CLIENTS: usize = 132;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, scene: &TopScene, state: &mut TopState) {
    let mut rows: Vec<&LiveConnection> = scene.connections.iter().collect();
    rows.retain(|one| state.matches_filter(&[&one.request.text, &doing(one)]));
    rows.sort_by_key(|one| rank(one));
    let columns = usize::from(area.width);
    let has_owners = columns >= MIN_COLUMNS_FOR_OWNERS;
    let owners = match has_owners {
        true => format!("{} {} ", left("User", OWNER_COLUMNS), left("Database", OWNER_COLUMNS)),
        false => String::new(),
    };
    let owners = match columns >= MIN_COLUMNS_FOR_CLIENTS {
        true => owners + &left("Client", CLIENT_COLUMNS) + " ",
        false => owners,
    };
    let head = format!(
        "{} {owners}{} {} {} {} Statement",
        right("Conn", 7),
        right("Thread", 8),
        right("For", 8),
        right("CPU", 8),
        left("Now", DOING_COLUMNS),
    );
    let in_color = state.in_color;
    table(frame, area, state, heading(left(&head, columns)), &rows, |one| {
        let request = &one.request;
        let (since, cpu) = match one.is_at_work() {
            true => {
                let cpu = request.parts.measured_duration(Part::Cpu);
                (request.start, cpu.map_or(String::new(), |cpu| us(cpu.as_micros())))
            }
            false => (request.end, String::new()),
        };
        let length = us((one.at - since).as_micros());
        let numbers = format!(
            "{} {}{} {} {} ",
            right(&connection_name(request.server_id(), request.connection), 7),
            if has_owners { owner(request) } else { String::new() } + &client(request, columns),
            right(&request.thread.to_string(), 8),
            right(&length, 8),
            right(&cpu, 8),
        );
        let text = match one.is_at_work() {
            true => one_line(&request.text),
            false => format!("(last: {})", one_line(&request.text)),
        };
        let room = columns.saturating_sub(numbers.chars().count() + DOING_COLUMNS + 1);
        Line::from(vec![
            Piece::raw(numbers),
            Piece::styled(left(&doing(one), DOING_COLUMNS), now_style(one, in_color)),
            Piece::raw(" ".to_owned() + &left(&text, room)),
        ])
    });
}

/// Whose it is; `?`: the client logged in before that could be seen.
fn owner(request: &TracedRequest) -> String {
    let [user, database] = [request.user(), request.database()]
        .map(|name| left(&one_line(name.unwrap_or("?")), OWNER_COLUMNS));
    format!("{user} {database} ")
}

/// Where its client is.
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
        ConnectionActivity::In(Part::RunqPreempted) => "pre-empted".to_owned(),
        ConnectionActivity::In(Part::RunqWoken) => "waits for CPU".to_owned(),
        ConnectionActivity::In(part) => part.name().to_owned(),
        ConnectionActivity::Waiting(lock) => lock.to_string(),
        ConnectionActivity::AtWork => "at work".to_owned(),
    }
}

fn now_style(one: &LiveConnection, in_color: bool) -> ratatui::style::Style {
    match &one.activity {
        ConnectionActivity::Idle | ConnectionActivity::AtWork => ratatui::style::Style::new(),
        ConnectionActivity::In(part) => style_of(*part, in_color),
        ConnectionActivity::Waiting(_) => style_of(Part::Lock, in_color),
    }
}
