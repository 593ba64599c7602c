//! `dbtime init`: create and load a workload's tables on a target.

use crate::cli::InitArgs;
use crate::exit::{CommandFailure, ProcessExit};
use crate::live::{LiveProgress, ProgressAudience};
use crate::{interrupt, pipes, screen};
use dbtime_engines::load_marker::ReplaceScope;
use dbtime_lab::{Dataset, Target};
use dbtime_load::workload::Workload;
use dbtime_model::plain_text::plain_lines;
use std::path::Path;

pub(crate) fn run(args: &InitArgs) -> Result<ProcessExit, CommandFailure> {
    let name = &args.workload;
    let workload = pipes::awaited(Path::new(name), || Workload::find(name));
    let workload = workload.map_err(CommandFailure::usage)?;
    let target: Target = args.target.parse()?;
    let stop = interrupt::install();
    let live = LiveProgress::new(ProgressAudience::of(args.quiet));
    let replacing = if args.replace { ReplaceScope::Everything } else { ReplaceScope::Same };
    let data = Dataset { workload: &workload, scale: args.scale, seed: args.seed, replacing };
    let loaded = target.init(&data, &|progress| live.show(&progress), &stop);
    drop(live);
    screen::result(&format!("{}\n", plain_lines(&loaded?)));
    Ok(ProcessExit::Fine)
}
