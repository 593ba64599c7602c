//! `dbtime init`: create and load a workload's tables on a target.

use crate::cli::InitArgs;
use crate::exit::{Exit, Failure};
use crate::live::{Audience, Live};
use crate::{interrupt, screen};
use dbtime_engines::loaded::Replacing;
use dbtime_lab::{Dataset, Target};
use dbtime_load::workload::Workload;

pub(crate) fn run(args: &InitArgs) -> Result<Exit, Failure> {
    let workload = Workload::find(&args.workload).map_err(Failure::usage)?;
    let target: Target = args.target.parse()?;
    let stop = interrupt::install();
    let live = Live::new(Audience::of(args.quiet));
    let replacing = if args.replace { Replacing::Everything } else { Replacing::Same };
    let data = Dataset { workload: &workload, scale: args.scale, seed: args.seed, replacing };
    let loaded = target.init(&data, &|progress| live.show(&progress), &stop);
    drop(live);
    screen::result(&format!("{}\n", loaded?));
    Ok(Exit::Fine)
}
