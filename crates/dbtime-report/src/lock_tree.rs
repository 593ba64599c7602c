//! Who waits for whom now, as lines: each holder that waits for nobody, below it those that wait
//! for it, and below them those that wait for these.

use crate::format::{count, counted, fit, one_line, us};
use dbtime_model::Nanos;
use dbtime_model::lock_picture::{LockClaim, LockPicture, ServerSession};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// How far lines are moved to the right; those that stand deeper stand there.
const MAX_DEPTH: usize = 8;

/// Columns of a statement.
const MAX_STATEMENT_CHARS: usize = 200;

/// How many wait, for how long, and what ends a session.
pub fn lock_summary(picture: &LockPicture) -> String {
    let waiting: BTreeSet<u64> = picture.claims.iter().map(|claim| claim.waiter).collect();
    let verb = if waiting.len() == 1 { "waits" } else { "wait" };
    let longest = picture.claims.iter().filter_map(|claim| claim.length).max();
    let longest = longest.map_or(String::new(), |l| format!(", for up to {}", length(l)));
    let ends = match picture.ends_with {
        "" => String::new(),
        statement => format!("; {statement} ends a session"),
    };
    format!("{} {verb} for locks{longest}{ends}", count(waiting.len() as u64))
}

/// The tree, in at most so many lines and one that tells that there are more.
pub fn lock_tree(picture: &LockPicture, most: usize) -> Vec<String> {
    let mut tree = LockTree::new(picture);
    let roots = tree.roots();
    // Whoever waits for several that wait for nobody stands below each: all of them have to let go.
    let direct = roots.iter().flat_map(|root| &tree.waiters[root]).map(|claim| claim.waiter);
    tree.placed = direct.collect();
    for root in &roots {
        tree.root(*root, "");
        let first = tree.waiters[root].clone();
        tree.below(first);
    }
    // What is left waits in a circle, or behind one.
    while let Some(next) = tree.most_waited_for() {
        tree.root(Some(next), " (waits in a circle)");
        tree.placed.insert(next);
        tree.expanded.insert(next);
        let first = tree.new_below(next);
        tree.below(first);
    }
    let mut lines = tree.lines;
    if lines.len() > most {
        let left = lines.len() - most;
        lines.truncate(most);
        lines.push(format!("… and {}", counted(left as u64, "more line")));
    }
    lines
}

/// A tree that is being made.
struct LockTree<'a> {
    picture: &'a LockPicture,
    /// Who waits for each, a session once; `None`: for one whom the server does not know.
    waiters: BTreeMap<Option<u64>, Vec<&'a LockClaim>>,
    /// Who has got a line, or will get one.
    placed: HashSet<u64>,
    /// Below whom stands who waits for it.
    expanded: HashSet<u64>,
    lines: Vec<String>,
}

impl<'a> LockTree<'a> {
    fn new(picture: &'a LockPicture) -> Self {
        let mut waiters = BTreeMap::<_, Vec<&LockClaim>>::new();
        let mut seen = HashSet::new();
        for claim in picture.claims.iter().filter(|claim| claim.holder != Some(claim.waiter)) {
            if seen.insert((claim.holder, claim.waiter)) {
                waiters.entry(claim.holder).or_default().push(claim);
            }
        }
        // The last of them is taken first.
        waiters.values_mut().for_each(|claims| claims.sort_by_key(|claim| claim.length));
        let (placed, expanded) = Default::default();
        Self { picture, waiters, placed, expanded, lines: Vec::new() }
    }

    /// Holders that wait for nobody, those first for whom somebody has waited longest.
    fn roots(&self) -> Vec<Option<u64>> {
        let waiting: HashSet<u64> = self.waiting().collect();
        let is_root = |holder: &Option<u64>| holder.is_none_or(|id| !waiting.contains(&id));
        let mut roots: Vec<Option<u64>> = self.waiters.keys().copied().filter(is_root).collect();
        let longest = |root: &Option<u64>| self.waiters[root].last().and_then(|one| one.length);
        roots.sort_by_key(|root| Reverse(longest(root)));
        roots
    }

    fn waiting(&self) -> impl Iterator<Item = u64> {
        self.waiters.values().flatten().map(|claim| claim.waiter)
    }

    /// Of those without a line the one for whom most wait.
    fn most_waited_for(&self) -> Option<u64> {
        let left = self.waiting().filter(|waiter| !self.placed.contains(waiter));
        left.max_by_key(|waiter| self.waiters.get(&Some(*waiter)).map_or(0, Vec::len))
    }

    /// Those that wait for somebody and have no line yet.
    fn new_below(&mut self, holder: u64) -> Vec<&'a LockClaim> {
        let mut below = self.waiters.get(&Some(holder)).cloned().unwrap_or_default();
        below.retain(|claim| self.placed.insert(claim.waiter));
        below
    }

    fn root(&mut self, id: Option<u64>, mark: &str) {
        let Some(id) = id else {
            return self.lines.push("a session that is not known".to_owned());
        };
        let Some(session) = self.picture.session(id) else {
            let what =
                if id == 0 { "a prepared transaction, see pg_prepared_xacts" } else { "ended" };
            return self.lines.push(format!("{id} {what}{mark}"));
        };
        self.lines.push(format!("{id} {}{}{mark}", place(session), doing(session)));
        let when = if session.state.starts_with("idle") { "last" } else { "now" };
        self.lines.push(format!("  {when}: {}", statement(session)));
    }

    /// Lines for these and for all that wait for them. No recursion: chains may be long.
    fn below(&mut self, first: Vec<&'a LockClaim>) {
        let mut stack: Vec<_> = first.into_iter().map(|claim| (claim, 1)).collect();
        while let Some((claim, depth)) = stack.pop() {
            self.lines.push(self.waiter(claim, depth));
            if self.expanded.insert(claim.waiter) {
                let below = self.new_below(claim.waiter);
                stack.extend(below.into_iter().map(|claim| (claim, depth + 1)));
            }
        }
    }

    fn waiter(&self, claim: &LockClaim, depth: usize) -> String {
        let waited = claim.length.map_or(String::new(), |l| format!("{} for ", length(l)));
        let (lock, object) = (one_line(&claim.lock), one_line(&claim.object));
        let on = if object.is_empty() { "" } else { " on " };
        let session = self.picture.session(claim.waiter);
        let session = session.map_or(String::new(), |session| {
            format!(": {} ({})", statement(session), place(session))
        });
        let indent = "  ".repeat(depth.min(MAX_DEPTH) - 1);
        format!("{indent}└ {} {waited}{lock}{on}{object}{session}", claim.waiter)
    }
}

/// Whose it is and where.
fn place(session: &ServerSession) -> String {
    let [user, address, database] =
        [&session.user, &session.address, &session.database].map(|text| one_line(text));
    let at = if address.is_empty() { "" } else { "@" };
    format!("{user}{at}{address} {database}").trim_end().to_owned()
}

/// What it executes, or has executed last.
fn statement(session: &ServerSession) -> String {
    match session.statement.is_empty() {
        true => "not known".to_owned(),
        false => fit(&one_line(&session.statement), MAX_STATEMENT_CHARS),
    }
}

fn doing(session: &ServerSession) -> String {
    if session.state.is_empty() {
        return String::new();
    }
    let since = |prefix: &str, time: Option<Nanos>| {
        time.map_or(String::new(), |time| format!("{prefix}{}", length(time)))
    };
    format!(
        ": {}{}{}",
        one_line(&session.state),
        since(" for ", session.in_state),
        since(", transaction open for ", session.in_transaction),
    )
}

fn length(length: Nanos) -> String {
    us(length.as_micros())
}

#[cfg(test)]
mod tests;
