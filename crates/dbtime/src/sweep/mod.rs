//! `--sweep` and `--repeat`: many runs, a record each, one table.
//!
//! Repetitions go in rounds, so that a machine that changes changes for every combination. With
//! `--rate auto` all runs are offered the same, or the table would compare loads and not what is
//! swept: the flat-out rate is measured once, before the first.

mod factors;

use crate::cli::{Cli, Command, RunArgs};
use crate::commands::run::{Kept, drive, folder, verdict};
use crate::exit::{Exit, Failure};
use crate::live::Live;
use crate::{interrupt, options, screen, secrets};
use clap::Parser;
use dbtime_engines::plan::Stop;
use dbtime_lab::store::make_folder;
use dbtime_lab::{Finished, RateChoice, RunRequest};
use dbtime_load::arrivals::Rate;
use dbtime_report::terminal::{self, SweepRow};
use factors::Combination;
use std::cmp::Reverse;

/// The flat-out rate is measured with at most so many workers or connections, where there is such
/// a combination: more of them only wait for each other.
const CROWD: u32 = 64;

/// Makes all runs.
pub(crate) fn run(args: &RunArgs, arguments: &[String]) -> Result<Exit, Failure> {
    let out = folder(args)?;
    if let Some(out) = out.as_deref().filter(|out| out.symlink_metadata().is_ok()) {
        return Err(dbtime_lab::LabError::OutExists(out.to_owned()).into());
    }
    // All of them are read before the first is run.
    let combinations = factors::combinations(&args.sweep)?;
    let planned = combinations.into_iter().map(|combination| Planned::new(combination, arguments));
    let mut planned = planned.collect::<Result<Vec<_>, _>>()?;
    let stop = interrupt::install();
    // A place that cannot be written is known before anything is loaded.
    let _made = out.as_deref().map(make_folder).transpose()?;
    hold_rate(&mut planned, &stop)?;
    let rounds = args.repeat.unwrap_or(1) as usize;
    let total = rounds * planned.len();
    let mut done = Done { rows: Vec::new(), exit: Exit::Fine, trouble: None };
    let mut numbers = 0..total;
    let outcome = numbers.try_for_each(|index| {
        if stop.is_set() || done.trouble.is_some() {
            return Ok(());
        }
        let (round, place) = (index / planned.len(), index % planned.len());
        let Planned { combination, request } = &planned[place];
        if screen::has_audience() {
            let shown = shown(combination);
            screen::note(&format!("run {} of {total}, round {}: {shown}", index + 1, round + 1));
        }
        let out = out.as_ref().map(|out| out.join(format!("{:03}", index + 1)));
        let request = RunRequest { out, ..request.clone() };
        done.add(args, drive(&request, &stop)?, (place, combination))
    });
    // What was measured before an end is shown all the same.
    if !args.json && !done.rows.is_empty() {
        let mut text = terminal::sweep_table(&done.rows());
        if let Some(out) = out {
            text += &format!("\nRecords: {}\n", out.display());
        }
        screen::result(&text);
    }
    match (outcome, done.trouble) {
        (Err(failure), _) if !stop.is_set() || done.rows.is_empty() => Err(failure),
        (_, Some(trouble)) => Err(trouble),
        _ => Ok(done.exit),
    }
}

/// One combination, ready to be run.
struct Planned {
    combination: Combination,
    /// Without a place for its record.
    request: RunRequest,
}

impl Planned {
    fn new(combination: Combination, arguments: &[String]) -> Result<Self, Failure> {
        let arguments = factors::arguments(arguments, &combination);
        let Command::Run(args) = Cli::try_parse_from(&arguments)?.command else {
            return Err(Failure::usage("--sweep and --repeat belong to run"));
        };
        let request = options::request(&args, secrets::command_line(&arguments), None)?;
        Ok(Self { combination, request })
    }

    fn servers(&self) -> u32 {
        self.request.load.workers.unwrap_or(self.request.load.connections)
    }
}

/// Where all are asked for a share of the flat-out rate, and the rate itself is not swept: measures
/// it once, and has all offer the same.
fn hold_rate(planned: &mut [Planned], stop: &Stop) -> Result<(), Failure> {
    let is_auto = |planned: &Planned| {
        let is_swept = planned.combination.iter().any(|(name, _)| name == "rate");
        !is_swept && matches!(planned.request.load.rate, Some(RateChoice::Auto(_)))
    };
    if !planned.iter().all(is_auto) {
        return Ok(());
    }
    let from = &planned[reference(&planned.iter().map(Planned::servers).collect::<Vec<_>>())];
    if screen::has_audience() {
        screen::note(&format!("the rate of all, found by {}", shown(&from.combination)));
    }
    let live = Live::new();
    let found = dbtime_lab::find_rate(&from.request, &|progress| live.show(&progress), stop);
    live.finish();
    let Some(found) = found? else { return Ok(()) };
    let rate = Rate::Constant(found.offered_tps());
    for Planned { request, .. } in planned {
        // Repeated alone it is to be the same run.
        request.command += &format!(" --rate={rate}");
        request.load.rate = Some(RateChoice::Found(found.clone()));
    }
    Ok(())
}

/// Which of the runs, by their numbers of workers or connections, is to tell what is carried flat
/// out: the largest that is no crowd, else the smallest; the first of equals.
fn reference(servers: &[u32]) -> usize {
    let fitness = |index: &usize| {
        let servers = servers[*index];
        let is_crowd = servers > CROWD;
        let size = if is_crowd { -i64::from(servers) } else { i64::from(servers) };
        (!is_crowd, size, Reverse(*index))
    };
    (0..servers.len()).max_by_key(fitness).unwrap_or(0)
}

/// The runs so far.
struct Done {
    /// With the place of their combination.
    rows: Vec<(usize, SweepRow)>,
    exit: Exit,
    /// What could not be written of the last: there are no more behind it.
    trouble: Option<Failure>,
}

impl Done {
    fn add(
        &mut self,
        args: &RunArgs,
        finished: Finished,
        (place, combination): (usize, &Combination),
    ) -> Result<(), Failure> {
        self.exit = self.exit.max(verdict(args, &finished));
        let row = SweepRow::from_record(&finished.run.record);
        let named = combination.iter();
        let row = named
            .fold(row, |row, (name, value)| row.with_factor(name, &secrets::shown(name, value)));
        self.rows.push((place, row));
        if args.json {
            let line = serde_json::to_string(&finished.run.record).map_err(Failure::environment)?;
            screen::json(&(line + "\n"));
        }
        self.trouble = Kept::of(&finished).trouble;
        Ok(())
    }

    /// The lines of the table: repetitions stand together.
    fn rows(&mut self) -> Vec<SweepRow> {
        self.rows.sort_by_key(|(place, _)| *place);
        self.rows.iter().map(|(_, row)| row.clone()).collect()
    }
}

fn shown(combination: &Combination) -> String {
    let pairs =
        combination.iter().map(|(name, value)| format!("{name}={}", secrets::shown(name, value)));
    match combination.is_empty() {
        true => "as given".to_owned(),
        false => pairs.collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_found_by_the_largest_run_that_is_no_crowd() {
        assert_eq!(reference(&[1, 2, 64, 128, 2048]), 2);
        assert_eq!(reference(&[2048, 128, 512]), 1);
        assert_eq!(reference(&[16, 16]), 0);
        assert_eq!(reference(&[1000, 1]), 1);
    }
}
