//! `dbtime init`: create and load a workload's tables on a target.

use crate::cli::InitArgs;
use crate::exit::{Exit, Failure};
use crate::live::Live;
use crate::{interrupt, screen};
use dbtime_lab::Target;
use dbtime_load::workload::Workload;

pub(crate) fn run(args: &InitArgs) -> Result<Exit, Failure> {
    let workload = Workload::find(&args.workload).map_err(Failure::usage)?;
    let target: Target = args.target.parse()?;
    let stop = interrupt::install();
    let live = Live::new();
    let loaded =
        target.init(&workload, args.scale, args.seed, &|progress| live.show(&progress), &stop);
    live.finish();
    screen::result(&format!("{}\n", loaded?));
    Ok(Exit::Fine)
}
