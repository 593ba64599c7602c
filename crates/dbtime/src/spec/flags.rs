//! From flags to the written form of a run.

use super::RunSecrets;
use crate::cli::RunArgs;
use crate::exit::CommandFailure;
use dbtime_model::spec::RunSpec;
use std::path::Path;

/// The written form of what the flags say, and the passwords that it leaves out.
///
/// Errors: a path that is no text, and a password file that cannot be read.
pub(crate) fn of_flags(args: &RunArgs) -> Result<(RunSpec, RunSecrets), CommandFailure> {
    let mut secrets = RunSecrets::of_surroundings(args.password_file.as_deref())?;
    let mut spec = RunSpec::default();
    for (name, value) in &args.described {
        let text = value.to_str().ok_or_else(|| {
            let shown = Path::new(value).display();
            CommandFailure::usage(format!("--{name}: `{shown}` is no text in UTF-8"))
        })?;
        let set = spec.set(name, text);
        set.map_err(|error| CommandFailure::usage(format!("--{name}: {error}")))?;
    }
    // What a flag has as its default is written down; of what is left out, the run says it later.
    spec.load.on_backlog.get_or_insert_default();
    secrets.take_from_spec(&mut spec);
    Ok((spec, secrets))
}
