//! `dbtime study ab`: two settings compared in one line, without a file.

use super::report::write_whole;
use super::study::{make, refuse_taken, stop};
use crate::cli::{RunArgs, StudyAbArgs, StudyShownArgs, run_flags};
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::ProgressAudience;
use crate::screen;
use crate::study::{PlanOverrides, PlannedStudy, limits_table, pilot_runs, plan};
use dbtime_model::shell::quoted;
use dbtime_model::spec::RunSpec;
use std::fmt::Write as _;
use std::path::Path;

/// Runs from which the noise is known before the blocks are.
const PILOT_RUNS: u32 = 3;

/// Fewer blocks have no verdict.
const FEWEST_BLOCKS: u32 = 3;

/// More are not made: what they would find is smaller than anybody cares for.
const MOST_BLOCKS: u32 = 100;

/// Names that are longer are cut in tables.
const LONGEST_NAME: usize = 16;

/// The share of the time that is planned: some blocks have to be repeated.
const PLANNED_SHARE: f64 = 0.85;

/// The window of a run when nobody says: more runs tell more than longer ones.
const WINDOW: [&str; 2] = ["--time=10s", "--warmup=3s"];

/// Flags of the whole command that it has beside those of a run.
const OWN_FLAGS: [&str; 4] = ["out", "json", "quiet", "no-record"];

/// The seed is that of the study.
const SEED: &str = "seed";

pub(crate) fn run(args: &StudyAbArgs) -> Result<ProcessExit, CommandFailure> {
    if args.run.json {
        screen::keep_for_json().map_err(CommandFailure::environment)?;
    }
    if args.run.no_record {
        return Err(CommandFailure::usage(
            "a study lives from its records: leave out --no-record, or name a place with --out",
        ));
    }
    let name = Path::new("ab.toml");
    let mut text = document(args, FEWEST_BLOCKS)?;
    // Everything that can be refused is refused before the first run.
    let mut study = plan(&text, name, PlanOverrides::default())?;
    refuse_taken(args.run.out.as_deref())?;
    let stop = stop();
    let audience = ProgressAudience::of(args.run.quiet);
    let pilot = pilot_runs(&study, PILOT_RUNS, audience, &stop)?;
    let block_s = pilot.seconds_a_run * study.plan.cells.len() as f64;
    let left_s = args.length.as_secs() - pilot.seconds_a_run * f64::from(PILOT_RUNS);
    let blocks = (PLANNED_SHARE * left_s / block_s).floor();
    if blocks < f64::from(FEWEST_BLOCKS) {
        let needed = block_s * f64::from(FEWEST_BLOCKS) / PLANNED_SHARE
            + pilot.seconds_a_run * f64::from(PILOT_RUNS);
        return Err(CommandFailure::usage(format!(
            "--for {}: a run takes {:.0} s here, and the fewest blocks that give a verdict \
             {:.0} min: allow that, or shorten the runs with --time and --warmup",
            args.length,
            pilot.seconds_a_run,
            (needed / 60.0).ceil()
        )));
    }
    text = document(args, (blocks as u32).min(MOST_BLOCKS))?;
    study = PlannedStudy { source: text.clone(), ..plan(&text, name, PlanOverrides::default())? };
    study.plan.pilot = Some(pilot);
    if let Some(path) = &args.save {
        write_whole(path, &text)?;
    }
    let shown = StudyShownArgs { json: args.run.json, quiet: args.run.quiet };
    make(&study, args.run.out.clone(), &shown, &stop)
}

/// The file of the study that the flags describe.
fn document(args: &StudyAbArgs, blocks: u32) -> Result<String, CommandFailure> {
    let mut words = run_words(&args.run);
    if !args.run.has("time") && !args.run.has("transactions") {
        words.push(WINDOW[0].to_owned());
        if !args.run.has("warmup") {
            words.push(WINDOW[1].to_owned());
        }
    }
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    let names = cell_names([&args.a, &args.b]);
    let mut text = String::new();
    let mut line = |key: &str, value: &str| {
        // Writing into a `String` cannot fail.
        let _ = writeln!(text, "{key} = {}", toml::Value::from(value));
    };
    line("name", "ab");
    line("question", &format!("A: {}; B: {}", args.a, args.b));
    line("margin", &format!("{}%", 100.0 * args.margin));
    if let Some(primary) = args.primary {
        line("primary", &primary.key());
    }
    line("run", &words.join(" "));
    let _ = writeln!(text, "\n[design]\nblocks = {blocks}\nseed = {}", seed(&args.run)?);
    let _ = writeln!(text, "\n[gate]\n{}", limits_table(&args.allow));
    for (name, flags) in names.iter().zip([&args.a, &args.b]) {
        let [name, flags] = [name.as_str(), flags.as_str()].map(toml::Value::from);
        let _ = writeln!(text, "\n[[cell]]\nname = {name}\nflags = {flags}");
    }
    Ok(text)
}

/// What of the command line is the run's. What neither a run nor this command has stays there, and
/// is refused with what a study's file says.
fn run_words(args: &RunArgs) -> Vec<String> {
    let mut words = Vec::new();
    for (name, value) in args.described.iter().filter(|(name, _)| *name != SEED) {
        let value = value.to_string_lossy();
        words.push(match run_flags::find(name) {
            Some(flag) if flag.is_switch() => format!("--{name}"),
            Some(flag) if flag.can_vary() => format!("--{name}={value}"),
            _ => value.into_owned(),
        });
    }
    let foreign = args.others.iter().filter(|name| !OWN_FLAGS.contains(name));
    words.extend(foreign.map(|name| format!("--{name}")));
    words
}

fn seed(args: &RunArgs) -> Result<u64, CommandFailure> {
    let mut spec = RunSpec::default();
    for (name, value) in args.described.iter().filter(|(name, _)| *name == SEED) {
        spec.set(name, &value.to_string_lossy()).map_err(CommandFailure::usage)?;
    }
    Ok(spec.seed)
}

/// What the configurations are called: their flags, or letters where those are too long for a
/// table.
fn cell_names(flags: [&str; 2]) -> [String; 2] {
    let name = |flags: &str| match flags.trim() {
        "" => "as given".to_owned(),
        flags => flags.replace("--", ""),
    };
    let names = flags.map(name);
    match names.iter().all(|name| name.len() <= LONGEST_NAME) {
        true => names,
        false => ["A".to_owned(), "B".to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{self, CliCommand, StudyArgs, StudyCommand};

    #[test]
    fn the_run_has_everything_but_what_is_the_studys() {
        let line = "dbtime study ab tpcb --target mariadb --a x=1 --b=x=2 --for 5min --json \
                    --connections 16 --out dir --margin=2% --pipeline --seed 7 --strict";
        let ab = |line: &str| match cli::parse(line.split_whitespace()).expect(line).command {
            CliCommand::Study(StudyArgs { command: StudyCommand::Ab(args) }) => args,
            other => panic!("{line}: {other:?}"),
        };
        let args = ab(line);
        let words = ["tpcb", "--target=mariadb", "--connections=16", "--pipeline", "--strict"];
        assert_eq!(run_words(&args.run), words);
        assert_eq!(seed(&args.run).expect("a number"), 7);
        let error = document(&args, 3).and_then(|text| {
            plan(&text, Path::new("ab.toml"), PlanOverrides::default()).map(|_| ())
        });
        let error = error.expect_err("a flag of the whole command").words();
        assert!(error.contains("`strict` is no flag of a configuration"), "{error}");
        assert_eq!(cell_names(["", "--connections=3"]), ["as given", "connections=3"]);
        let long = "server-set=innodb_flush_log_at_trx_commit=1";
        assert_eq!(cell_names(["connections=3", long]), ["A", "B"]);
    }
}
