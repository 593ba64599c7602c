//! Finds the offset between the clock of a recording and that of the driver, from order and
//! durations alone.
//!
//! A request belongs to the exchange of its connection that contains it. If a request `r` is that
//! of an exchange `e`, the offset lies between `r.start - e.read` and `r.arrival - e.sent`. One
//! exchange is tried with every request of its connection: with the right one the exchanges that
//! follow, of all connections, fit too, one by one, and each narrows the offset down; with a wrong
//! one the next few do not.
//!
//! Where statements follow one another without a pause and most of an exchange is wire, those next
//! to them would fit as well. Then durations tell: a long exchange is that of a long request, so
//! that what is left as wire differs least with the right offset.

use super::clock_mapping::{ClockMapping, OffsetBound, drifted};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// So many exchanges tell a wrong offset from one that may be right.
const PROBE_LENGTH: usize = 64;

/// So many tell which of those is right.
const TRIAL_LENGTH: usize = 4_096;

/// A spread of `n` wires is chance up to one and so many over the root of `n` times another: two
/// and a half standard errors of a difference.
///
/// Source: Rousseeuw, Croux (1993): on normal data the median distance from the median has an
/// efficiency of 37 %, a standard error of 1.17 over the root.
const SPREAD_CHANCE: f64 = 4.0;

/// Of so many exchanges at most one finds no request, or leaves one over, with the right offset.
const FITTING: usize = 16;

/// With an offset that is to be compared with it one of so many, on the way.
const COMPARABLE: usize = 6;

/// So many exchanges are tried at one place.
const TRIED: usize = 3;

/// Where in the run an exchange is tried: the recording may have begun later.
const ANCHORS: usize = 16;

/// Statements that were under way together on a connection: nearly always one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DrivenSpan {
    /// The index of its connection.
    pub(super) connection: usize,
    /// When the first was sent, on the driver's clock. Unit: nanoseconds.
    pub(super) sent: i64,
    /// When the last answer was read.
    pub(super) read: i64,
}

/// A request that executes something, on the recording's clock. Unit: nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServedInstants {
    /// When it came to the server's socket; where that is not known, when it was read.
    pub(super) arrival: i64,
    /// When it was read.
    pub(super) start: i64,
    /// From its arrival until its answer had been sent.
    pub(super) took: i64,
}

/// Both sides of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct TwoSides {
    /// In the order in which they were sent.
    pub(super) spans: Vec<DrivenSpan>,
    /// By connection, each in the order of their starts.
    pub(super) requests: Vec<Vec<ServedInstants>>,
}

/// Why there is no offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoOffset {
    /// With none do both sides fit.
    Nowhere,
    /// With several they fit as well.
    Several,
}

/// The offset lies within, at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OffsetRange {
    low: i64,
    high: i64,
}

/// The last of some exchanges that fit with an offset: a wrong one may have come to be the right
/// one on the way to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SideAlignment {
    span: usize,
    range: OffsetRange,
    /// The exchanges up to it that found no request, and requests that are in none.
    misfits: usize,
    /// Those that found one.
    matched: usize,
    /// How much the wire differs: the median distance from its own median. Unit: nanoseconds.
    spread: i64,
}

impl SideAlignment {
    /// Whether it is another one that may as well be right.
    fn is_rival_of(&self, best: &Self) -> bool {
        let is_other = self.range.low > best.range.high || best.range.low > self.range.high;
        // More misfits than chance adds to those of one or takes from them.
        let chance = 2 + 3 * (self.misfits + best.misfits).isqrt();
        let is_better = self.misfits + chance < best.misfits;
        let is_worse = self.misfits > best.misfits + chance
            || self.spread as f64 > best.spread as f64 * best.clear_ratio();
        is_other && (is_better || !is_worse)
    }

    /// A spread so many times as large is no chance.
    fn clear_ratio(&self) -> f64 {
        1.0 + SPREAD_CHANCE / (self.matched.max(1) as f64).sqrt()
    }
}

impl TwoSides {
    /// The mapping of the recording's clock.
    pub(super) fn mapping(&self) -> Result<ClockMapping, NoOffset> {
        let alignment = self.alignment()?;
        let first = ClockMapping::new(self.bounds(alignment.span, alignment.range));
        // With what is known of all, none is taken for another any more.
        let anchor = &self.spans[alignment.span];
        let known = first.bound(anchor.sent.saturating_add(alignment.range.low));
        let range = OffsetRange { low: known.low, high: known.high };
        let range = if range.low <= range.high { range } else { alignment.range };
        Ok(ClockMapping::new(self.bounds(alignment.span, range)))
    }

    /// What the exchanges before and behind one say of the offset, which was within a range there.
    fn bounds(&self, span: usize, range: OffsetRange) -> Vec<OffsetBound> {
        let mut forward = OffsetWalk::new(self, range);
        self.spans[span..].iter().for_each(|span| forward.step(span));
        let mut bounds = forward.bounds;
        let before = self.before(span);
        let mut backward =
            OffsetWalk::new(&before, OffsetRange { low: -range.high, high: -range.low });
        before.spans.iter().for_each(|span| backward.step(span));
        let mirrored =
            |bound: OffsetBound| OffsetBound { at: -bound.at, low: -bound.high, high: -bound.low };
        bounds.extend(backward.bounds.into_iter().map(mirrored));
        bounds
    }

    /// What came before a span, with time running backwards: what was read first is sent last.
    fn before(&self, span: usize) -> Self {
        let mut spans: Vec<DrivenSpan> = self.spans[..span]
            .iter()
            .map(|span| DrivenSpan { sent: -span.read, read: -span.sent, ..*span })
            .collect();
        spans.sort_by_key(|span| span.sent);
        let mirrored = |one: &ServedInstants| ServedInstants {
            arrival: -one.start,
            start: -one.arrival,
            ..*one
        };
        let mirrored = |all: &Vec<ServedInstants>| {
            let mut requests: Vec<_> = all.iter().rev().map(mirrored).collect();
            requests.sort_by_key(|one| one.start);
            requests
        };
        Self { spans, requests: self.requests.iter().map(mirrored).collect() }
    }

    fn alignment(&self) -> Result<SideAlignment, NoOffset> {
        let aligned = |anchor: usize| self.aligned(anchor * self.spans.len() / ANCHORS);
        let first = (0..ANCHORS).find(|anchor| aligned(*anchor) != Err(NoOffset::Nowhere));
        let first = first.ok_or(NoOffset::Nowhere)?;
        // The first ones may not have been recorded, and fit with the requests behind theirs.
        match aligned((first + 1).min(ANCHORS - 1)) {
            Err(NoOffset::Nowhere) => aligned(first),
            found => found,
        }
    }

    /// The alignment with which the exchanges from `from` on fit.
    fn aligned(&self, from: usize) -> Result<SideAlignment, NoOffset> {
        let fitting = self.fitting(from);
        let is_fit = |one: &&SideAlignment| {
            4 * one.matched >= self.spans.len().min(TRIAL_LENGTH / 2)
                && one.misfits <= 2 + one.matched / FITTING
        };
        let best = fitting.iter().filter(is_fit).min_by_key(|one| (one.spread, one.misfits));
        let best = best.ok_or(NoOffset::Nowhere)?;
        match fitting.iter().any(|one| one.is_rival_of(best)) {
            true => Err(NoOffset::Several),
            false => Ok(*best),
        }
    }

    /// The alignments of some of the exchanges from `from` on with which those behind them fit.
    fn fitting(&self, from: usize) -> Vec<SideAlignment> {
        let until = (from + PROBE_LENGTH).min(self.spans.len());
        // The shorter one was the less it leaves open.
        let length = |index: &usize| self.spans[*index].read - self.spans[*index].sent;
        let mut anchors: Vec<usize> = (from..until).collect();
        anchors.sort_by_key(length);
        // The request of one may have been lost.
        anchors.truncate(TRIED);
        let end = (from + TRIAL_LENGTH).min(self.spans.len());
        let tried = anchors.iter().flat_map(|&anchor| {
            let span = self.spans[anchor];
            self.requests[span.connection].iter().filter_map(move |request| {
                let (low, high) = (request.start - span.read, request.arrival - span.sent);
                let range = OffsetRange { low, high };
                self.tried(anchor..end.min(anchor + PROBE_LENGTH), range)?;
                self.tried(anchor..end, range)
            })
        });
        tried.collect()
    }

    /// An alignment, if so many spans fit; its range is that which they leave.
    fn tried(&self, spans: Range<usize>, range: OffsetRange) -> Option<SideAlignment> {
        if range.low > range.high {
            return None;
        }
        let mut walk = OffsetWalk::new(self, range);
        let last = spans.end - 1;
        for one in &self.spans[spans] {
            walk.step(one);
            if walk.misfits > 2 + walk.bounds.len() / COMPARABLE {
                return None;
            }
        }
        // A single one says nothing.
        let is_enough = walk.bounds.len() > 1 + 2 * walk.misfits;
        is_enough.then(|| SideAlignment {
            span: last,
            range: walk.range,
            misfits: walk.misfits,
            matched: walk.bounds.len(),
            spread: spread(&mut walk.wires),
        })
    }
}

/// The median distance of numbers from their median.
fn spread(numbers: &mut [i64]) -> i64 {
    let middle = numbers.len() / 2;
    if numbers.is_empty() {
        return 0;
    }
    let median = *numbers.select_nth_unstable(middle).1;
    numbers.iter_mut().for_each(|number| *number = (*number - median).abs());
    *numbers.select_nth_unstable(middle).1
}

/// Goes over exchanges in the order of time, and finds the request of each.
struct OffsetWalk<'a> {
    requests: &'a [Vec<ServedInstants>],
    /// The next request of each connection that was met.
    next: FxHashMap<usize, usize>,
    range: OffsetRange,
    from: Option<i64>,
    until: i64,
    misfits: usize,
    bounds: Vec<OffsetBound>,
    /// What is left of each exchange beside its request. Unit: nanoseconds.
    wires: Vec<i64>,
}

impl<'a> OffsetWalk<'a> {
    fn new(sides: &'a TwoSides, range: OffsetRange) -> Self {
        let (next, bounds, wires) = (FxHashMap::default(), Vec::new(), Vec::new());
        let requests = &sides.requests;
        Self { requests, next, range, from: None, until: 0, misfits: 0, bounds, wires }
    }

    fn step(&mut self, span: &DrivenSpan) {
        let drift = match self.from {
            Some(_) => drifted(span.sent - self.until),
            None => 0,
        };
        self.range.low -= drift;
        self.range.high += drift;
        self.from.get_or_insert(span.sent);
        self.until = span.sent;
        let requests = &self.requests[span.connection];
        let first = span.sent + self.range.low;
        let next = self
            .next
            .entry(span.connection)
            .or_insert_with(|| requests.partition_point(|request| request.start < first));
        let fits = |request: &ServedInstants| request.arrival - span.sent >= self.range.low;
        while requests.get(*next).is_some_and(|request| !fits(request)) {
            // It had arrived before.
            *next += 1;
            self.misfits += 1;
        }
        let possible = |request: &&ServedInstants| request.start - span.read <= self.range.high;
        let mut its = requests[*next..].iter().take_while(possible);
        let Some(request) = its.next() else {
            self.misfits += 1;
            return;
        };
        // Where it may be another one too, both decide together.
        let last = its.last().unwrap_or(request);
        let (low, high) = (request.start - span.read, last.arrival - span.sent);
        *next += 1;
        if low > high {
            // It lay there for longer than the exchange took.
            self.misfits += 1;
            return;
        }
        self.range.low = self.range.low.max(low);
        self.range.high = self.range.high.min(high);
        self.bounds.push(OffsetBound { at: request.start, low, high });
        self.wires.push(span.read - span.sent - request.took);
        // What was certainly read before the answer belongs to the same exchange.
        let certain = span.read + self.range.low;
        while requests.get(*next).is_some_and(|other| other.start < certain) {
            *next += 1;
        }
    }
}
