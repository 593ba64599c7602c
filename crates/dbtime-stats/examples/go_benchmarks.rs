//! Holds verdicts against benchstat's test on files of `go test -bench -count=N`.
//!
//! `cargo run --release -p dbtime-stats --example go_benchmarks -- OLD.txt NEW.txt …`
//!
//! Each file is compared with the next one, by benchmark (A/B), and halves of each series, drawn at
//! random, with each other (A/A). A line of the table is a number of runs a side: how many
//! comparisons, in how many the exact Mann-Whitney test at 0.05 finds a difference, as benchstat
//! does, in how many the verdict is one, and in how many it has two states beside it.
#![allow(clippy::print_stdout, reason = "a developer's tool that prints what it found")]

use dbtime_stats::{GroupVerdict, RunValues, VerdictRule};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;

/// Runs a side.
const RUNS: [usize; 5] = [6, 10, 15, 20, 25];

/// How often each series is halved.
const HALVINGS: usize = 20;

/// The values of a file by benchmark. Unit: nanoseconds an operation.
type BenchmarkSeries = BTreeMap<String, Vec<f64>>;

/// What was found in comparisons of so many runs a side.
#[derive(Clone, Copy, Debug, Default)]
struct FoundCounts {
    comparisons: usize,
    benchstat: usize,
    verdicts: usize,
    both: usize,
    states: usize,
}

impl FoundCounts {
    fn add(&mut self, a: &[f64], b: &[f64]) {
        let by_ranks = mann_whitney_p(a, b) <= 0.05;
        let values = RunValues::Unpaired(a.to_vec(), b.to_vec());
        let Some(found) = VerdictRule::new(0.01).finding(&values) else { return };
        let differs =
            matches!(found.verdict, GroupVerdict::Different(..) | GroupVerdict::Small(..));
        self.comparisons += 1;
        self.benchstat += usize::from(by_ranks);
        self.verdicts += usize::from(differs);
        self.both += usize::from(by_ranks && differs);
        self.states += usize::from(found.states.is_some());
    }

    fn print(&self, name: &str, runs: usize) {
        let Self { comparisons, benchstat, verdicts, both, states } = self;
        println!("{name} {runs:5} {comparisons:8} {benchstat:9} {verdicts:8} {both:6} {states:6}");
    }
}

fn main() -> std::io::Result<()> {
    let mut files = Vec::new();
    for path in std::env::args().skip(1) {
        files.push(series(&std::fs::read_to_string(path)?));
    }
    println!("     runs compared benchstat verdicts   both states");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for runs in RUNS {
        let (mut different, mut same) = (FoundCounts::default(), FoundCounts::default());
        for two in files.windows(2) {
            for (name, old) in &two[0] {
                let new = two[1].get(name).map_or(&[][..], Vec::as_slice);
                if old.len() >= runs && new.len() >= runs {
                    different.add(&old[..runs], &new[..runs]);
                }
            }
        }
        let long = files.iter().flat_map(BTreeMap::values).filter(|all| all.len() >= 2 * runs);
        for all in long {
            for _ in 0..HALVINGS {
                let drawn = shuffled(all, &mut random);
                same.add(&drawn[..runs], &drawn[runs..2 * runs]);
            }
        }
        different.print("A/B", runs);
        same.print("A/A", runs);
    }
    Ok(())
}

/// The values in `BenchmarkName-8  1000  123.4 ns/op`, by the name without the number of CPUs.
fn series(text: &str) -> BenchmarkSeries {
    let mut series = BenchmarkSeries::new();
    for line in text.lines().filter(|line| line.starts_with("Benchmark")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let Some(unit) = words.iter().position(|word| *word == "ns/op") else { continue };
        let name = words[0].rsplit_once('-').filter(|(_, cpus)| cpus.parse::<u32>().is_ok());
        let name = name.map_or(words[0], |(name, _)| name);
        if let Some(value) = unit.checked_sub(1).and_then(|at| words[at].parse().ok()) {
            series.entry(name.to_owned()).or_default().push(value);
        }
    }
    series
}

fn shuffled(values: &[f64], random: &mut Xoshiro256PlusPlus) -> Vec<f64> {
    let mut drawn = values.to_vec();
    for at in (1..drawn.len()).rev() {
        drawn.swap(at, (random.next_u64() % (at as u64 + 1)) as usize);
    }
    drawn
}

/// The exact two-sided probability of the Mann-Whitney test, by all ways in which the ranks of all
/// values, those that are equal with the mean of theirs, fall to both sides.
fn mann_whitney_p(a: &[f64], b: &[f64]) -> f64 {
    let all = [a, b].concat();
    // Twice the rank, which is a whole number.
    let rank = |value: &f64| {
        let below = all.iter().filter(|other| *other < value).count();
        below + all.iter().filter(|other| *other <= value).count() + 1
    };
    let most = 2 * all.len() * a.len();
    let mut ways = vec![vec![0.0; most + 1]; a.len() + 1];
    ways[0][0] = 1.0;
    for rank in all.iter().map(rank) {
        for taken in (1..=a.len()).rev() {
            for sum in (rank..=most).rev() {
                ways[taken][sum] += ways[taken - 1][sum - rank];
            }
        }
    }
    let found: usize = a.iter().map(rank).sum();
    let ways = &ways[a.len()];
    let (below, above): (f64, f64) = (ways[..=found].iter().sum(), ways[found..].iter().sum());
    let tail = below.min(above) / ways.iter().sum::<f64>();
    (2.0 * tail).min(1.0)
}
