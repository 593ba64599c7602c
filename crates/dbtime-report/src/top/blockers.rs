//! Who waits for locks now (`waiting`), and who waited for whose: the one that let go, below it
//! those that had waited, and below them those that waited for these.

use super::rows::{heading, left, one_line, right, table};
use super::scene::{LockWait, TopScene};
use super::state::TopState;
use super::waiting;
use crate::format::{count, us};
use crate::reports::NO_PARTS;
use crate::terminal::connection_name;
use dbtime_model::Nanos;
use dbtime_model::record::MAX_CHAIN_DEPTH;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Who has waited itself stands above others where they have waited for it so many times as long.
const ROOT: u64 = 10;

/// A connection in a chain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct BlockerLink {
    depth: usize,
    /// `None`: a thread that served nobody, or nobody at all.
    connection: Option<u64>,
    /// What the server calls it, and which one that is.
    server_id: Option<u64>,
    server: Option<u32>,
    /// What it waited for the one above.
    waits: BlockerWaits,
    text: String,
}

/// What waits of one connection for another come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct BlockerWaits {
    times: u64,
    length: Nanos,
    longest: Nanos,
    lock: String,
    /// The statement of the longest, and the one that it waited for.
    waiter: String,
    holder: String,
    /// What the server calls both, and which one that is.
    ids: (Option<u64>, Option<u64>),
    server: Option<u32>,
}

type BlockerEdges = BTreeMap<Option<u64>, BTreeMap<u64, BlockerWaits>>;

pub(super) fn draw(frame: &mut Frame<'_>, area: Rect, scene: &TopScene, state: &mut TopState) {
    let links = links(&scene.lock_waits);
    let links = links.iter().filter(|link| state.matches_filter(&[&link.text]));
    let columns = usize::from(area.width);
    let tree = if columns >= 100 { 30 } else { 18 };
    let line = |link: &BlockerLink| scene.server_column(link.server) + &text_of(link, tree);
    let unmeasured = scene.whole.all.lack_parts().then(|| BlockerRow::Line(NO_PARTS.to_owned()));
    let over = links.map(|link| BlockerRow::Line(line(link))).chain(unmeasured);
    let (mut now, head) = (waiting::rows(scene, state), scene.server_heading() + &head(tree));
    if now.is_empty() {
        return draw_rows(frame, area, state, &head, &over.collect::<Vec<_>>());
    }
    let first = now.remove(0);
    now.extend([BlockerRow::Line(String::new()), BlockerRow::Heading(head)]);
    now.extend(over);
    draw_rows(frame, area, state, first.text(), &now);
}

/// A line of the view.
pub(super) enum BlockerRow {
    /// What stands above others.
    Heading(String),
    /// Anything else.
    Line(String),
}

impl BlockerRow {
    fn text(&self) -> &str {
        let (Self::Heading(text) | Self::Line(text)) = self;
        text
    }
}

fn draw_rows(
    frame: &mut Frame<'_>,
    area: Rect,
    state: &mut TopState,
    head: &str,
    rows: &[BlockerRow],
) {
    let columns = usize::from(area.width);
    table(frame, area, state, heading(left(head, columns)), rows, |row| match row {
        BlockerRow::Heading(text) => heading(left(text, columns)),
        BlockerRow::Line(text) => Line::raw(left(text, columns)),
    });
}

/// What stands above waits that are over.
fn head(tree: usize) -> String {
    format!(
        "{} {} {} {} {} Statement",
        left("Connection", tree),
        right("Times", 6),
        right("In all", 8),
        right("Longest", 8),
        left("Lock", 13),
    )
}

fn text_of(link: &BlockerLink, columns: usize) -> String {
    let name = link.connection.map_or_else(
        || "(not known)".to_owned(),
        |own| format!("connection {}", connection_name(link.server_id, own)),
    );
    let tree = match link.depth {
        0 => name,
        depth => format!("{}└ {name}", "  ".repeat(depth - 1)),
    };
    let figures = match link.depth {
        0 => ["", "", "", "released"].map(str::to_owned),
        _ => [
            count(link.waits.times),
            us(link.waits.length.as_micros()),
            us(link.waits.longest.as_micros()),
            link.waits.lock.clone(),
        ],
    };
    format!(
        "{} {} {} {} {} {}",
        left(&tree, columns),
        right(&figures[0], 6),
        right(&figures[1], 8),
        right(&figures[2], 8),
        left(&figures[3], 13),
        one_line(&link.text),
    )
}

/// The chains, those first below which the most was waited.
pub(super) fn links(waits: &[LockWait]) -> Vec<BlockerLink> {
    let edges = edges(waits);
    let length =
        |holder: &Option<u64>| edges[holder].values().map(|waits| waits.length).sum::<Nanos>();
    let own = waited(&edges);
    let is_root = |holder: &Option<u64>| {
        let own = holder.and_then(|holder| own.get(&holder));
        own.is_none_or(|own| own.0.saturating_mul(ROOT) <= length(holder).0)
    };
    let mut holders: Vec<&Option<u64>> = edges.keys().collect();
    // Of those that waited for each other one has to stand above.
    holders.sort_by_key(|holder| (!is_root(holder), std::cmp::Reverse(length(holder))));
    let (mut links, mut seen) = (Vec::new(), HashSet::new());
    for holder in holders {
        if !seen.contains(holder) {
            let below = edges[holder].values().max_by_key(|waits| waits.longest);
            let text = below.map(|waits| waits.holder.clone()).unwrap_or_default();
            let server_id = below.and_then(|waits| waits.ids.1);
            let server = below.and_then(|waits| waits.server);
            links.push(BlockerLink {
                connection: *holder,
                server_id,
                server,
                text,
                ..BlockerLink::default()
            });
            descend(*holder, 1, &edges, &mut seen, &mut links);
        }
    }
    links
}

/// How long each has waited for all others.
fn waited(edges: &BlockerEdges) -> HashMap<u64, Nanos> {
    let mut own = HashMap::<u64, Nanos>::new();
    for (waiter, waits) in edges.values().flatten() {
        *own.entry(*waiter).or_default() += waits.length;
    }
    own
}

fn descend(
    holder: Option<u64>,
    depth: usize,
    edges: &BlockerEdges,
    seen: &mut HashSet<Option<u64>>,
    links: &mut Vec<BlockerLink>,
) {
    let Some(below) =
        edges.get(&holder).filter(|_| depth <= MAX_CHAIN_DEPTH && seen.insert(holder))
    else {
        return;
    };
    let mut below: Vec<(&u64, &BlockerWaits)> = below.iter().collect();
    below.sort_by_key(|(_, waits)| std::cmp::Reverse(waits.length));
    for (waiter, waits) in below {
        let (text, server_id, waits) = (waits.waiter.clone(), waits.ids.0, waits.clone());
        let (connection, server) = (Some(*waiter), waits.server);
        links.push(BlockerLink { depth, connection, server_id, server, waits, text });
        descend(Some(*waiter), depth + 1, edges, seen, links);
    }
}

fn edges(waits: &[LockWait]) -> BlockerEdges {
    let mut edges = BlockerEdges::new();
    for wait in waits {
        let holder = wait.holder.as_ref();
        let below = edges.entry(holder.map(|holder| holder.connection)).or_default();
        let sums = below.entry(wait.waiter.connection).or_default();
        sums.times += 1;
        sums.length += wait.length;
        if wait.length >= sums.longest {
            sums.longest = wait.length;
            sums.lock.clone_from(&wait.lock);
            sums.waiter.clone_from(&wait.waiter.statement);
            sums.holder = holder.map(|holder| holder.statement.clone()).unwrap_or_default();
            sums.ids = (wait.waiter.server_id, holder.and_then(|holder| holder.server_id));
            sums.server = wait.server;
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::super::scene::LockParty;
    use super::*;

    fn party(connection: u64, verb: &str) -> LockParty {
        LockParty { connection, server_id: None, statement: format!("{verb} {connection}") }
    }

    fn wait(waiter: u64, holder: Option<u64>, millis: u64) -> LockWait {
        LockWait {
            server: None,
            waiter: party(waiter, "UPDATE"),
            holder: holder.map(|holder| party(holder, "COMMIT")),
            lock: "row lock".to_owned(),
            length: Nanos(millis * 1_000_000),
        }
    }

    #[test]
    fn who_has_waited_a_moment_itself_still_stands_above() {
        let waits = [wait(1, None, 1), wait(2, Some(1), 250), wait(1, Some(2), 1)];
        let links = links(&waits);
        let shape: Vec<_> = links.iter().map(|link| (link.depth, link.connection)).collect();
        let below = [(0, Some(1)), (1, Some(2)), (2, Some(1))];
        assert_eq!(shape, [&below[..], &[(0, None), (1, Some(1))]].concat());
    }

    #[test]
    fn chains_hang_below_who_let_go() {
        let waits = [
            wait(2, Some(1), 10),
            wait(2, Some(1), 30),
            wait(3, Some(2), 5),
            wait(4, Some(1), 100),
            wait(5, None, 1),
        ];
        let links = links(&waits);
        let shape: Vec<_> = links.iter().map(|link| (link.depth, link.connection)).collect();
        let expected =
            [(0, Some(1)), (1, Some(4)), (1, Some(2)), (2, Some(3)), (0, None), (1, Some(5))];
        assert_eq!(shape, expected);
        assert_eq!((links[2].waits.times, links[2].waits.longest), (2, Nanos(30_000_000)));
        assert_eq!((links[0].text.as_str(), links[3].text.as_str()), ("COMMIT 1", "UPDATE 3"));
    }

    #[test]
    fn a_holder_that_is_not_known_has_a_line() {
        let links = links(&[wait(1, None, 5), wait(2, Some(3), 1)]);
        let lines: Vec<String> = links.iter().map(|link| text_of(link, 18)).collect();
        let begins = ["(not known) ", "└ connection #1 ", "connection #3 ", "└ connection #2 "];
        let as_expected = |(line, begin): (&String, &str)| line.starts_with(begin);
        assert!(lines.iter().zip(begins).all(as_expected), "{lines:?}");
        assert_eq!(lines.len(), begins.len(), "{lines:?}");
    }

    #[test]
    fn those_that_wait_for_each_other_are_told_of_once() {
        let links = links(&[wait(1, Some(2), 10), wait(2, Some(1), 20), wait(3, Some(3), 1)]);
        let shape: Vec<_> = links.iter().map(|link| (link.depth, link.connection)).collect();
        let expected = [(0, Some(1)), (1, Some(2)), (2, Some(1)), (0, Some(3)), (1, Some(3))];
        assert_eq!(shape, expected);
    }
}
