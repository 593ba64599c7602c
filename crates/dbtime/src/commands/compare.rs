//! `dbtime compare`: two runs side by side.

use crate::cli::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::screen;
use dbtime_model::record::read_run;

pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let (a, b) = (read_run(&args.a)?, read_run(&args.b)?);
    screen::result(&dbtime_report::compare::side_by_side(&a, &b));
    Ok(Exit::Fine)
}
