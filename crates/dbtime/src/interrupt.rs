//! Ctrl-C and SIGTERM: the first ends the run early, the second ends dbtime.

use dbtime_engines::plan::Stop;
use dbtime_model::now;
use std::sync::Arc;

/// What Ctrl-C sets. Installed once per process.
pub(crate) fn install() -> Arc<Stop> {
    let stop = Arc::new(Stop::default());
    let told = Arc::clone(&stop);
    let handler = move || {
        if told.is_set() {
            dbtime_lab::abandon();
            crate::screen::note("\ninterrupted again: nothing was recorded");
            // The handler's thread cannot return through main.
            #[allow(clippy::exit)]
            std::process::exit(i32::from(crate::exit::Exit::Environment.code()));
        }
        told.at(now());
        crate::screen::note("\nending early; once more ends dbtime at once");
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        crate::screen::note(&format!("Ctrl-C will end dbtime without a report: {error}"));
    }
    stop
}

/// The same for a command that has the screen to itself: it says nothing, and ends what it does.
#[cfg(feature = "trace")]
pub(crate) fn quietly() -> Arc<Stop> {
    let stop = Arc::new(Stop::default());
    let told = Arc::clone(&stop);
    // Without it a signal would leave the screen as it is.
    let set = ctrlc::set_handler(move || told.at(now()));
    if let Err(error) = set {
        crate::screen::note(&format!("signals will leave the screen as it is: {error}"));
    }
    stop
}
