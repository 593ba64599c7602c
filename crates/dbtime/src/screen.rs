//! The only place that prints: results to stdout, everything else to stderr.

use std::io::{self, IsTerminal, Write};
use std::sync::OnceLock;

/// Why results are printed no more: the first write to stdout that failed.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Prints a result. Where that fails, nothing more is printed: what came later would stand behind
/// a hole. [`loss`] tells of it at the end.
pub(crate) fn result(text: &str) {
    if !is_lost() {
        printed(io::stdout().lock().write_all(text.as_bytes()));
    }
}

/// Prints a result in JSON, of which no text drives a terminal.
pub(crate) fn json(text: &str) {
    result(&dbtime_report::plain_json(text));
}

/// Notes how printing to stdout went, for what is printed without [`result`].
pub(crate) fn printed(outcome: io::Result<()>) {
    // A line that is not whole is written no sooner.
    if let Err(error) = outcome.and_then(|()| io::stdout().lock().flush()) {
        // The first reason is the one that counts.
        let _ = LOST.set(error);
    }
}

/// Whether results reach nobody any more: what is done only to be shown may end.
pub(crate) fn is_lost() -> bool {
    LOST.get().is_some()
}

/// Why results are missing on stdout. A reader that has gone away (`| head`) misses nothing.
pub(crate) fn loss() -> Option<&'static io::Error> {
    LOST.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// Prints an error.
pub(crate) fn error(text: &str) {
    note(&format!("dbtime: {text}"));
}

/// Prints a note that is not part of the result. That nobody reads it is no failure either.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

/// Prints a report beside the output of a command, which has stdout to itself.
pub(crate) fn beside(text: &str) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// Whether what is printed beside a command's output goes to a terminal and colour is welcome.
pub(crate) fn wants_color_beside() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

/// Replaces the present line on stderr.
pub(crate) fn status(text: &str) {
    let mut err = io::stderr().lock();
    // Back to the first column, the text, and whatever was longer before is erased.
    let _ = write!(err, "\r{text}\x1b[K").and_then(|()| err.flush());
}

/// Whether progress has somebody to look at it.
pub(crate) fn has_audience() -> bool {
    io::stderr().is_terminal()
}

/// How many columns the terminal has to which results go; `None` where they go elsewhere.
pub(crate) fn columns() -> Option<usize> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout))?;
    // A terminal that does not know says zero.
    size.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Whether somebody sits at a terminal, to see and to type.
#[cfg(feature = "trace")]
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// Whether results go to a terminal and colour is welcome.
pub(crate) fn wants_color() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}
