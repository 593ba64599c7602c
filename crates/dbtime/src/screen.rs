//! The only place that prints: results to stdout, everything else to stderr.

use crate::given_secrets;
use dbtime_model::plain_text::plain_lines;
use dbtime_report::plain_json;
use dbtime_report::terminal::{Charset, PageStyle};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Serialize;
use std::fs::File;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why results are printed no more: the first write to stdout that failed.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// What was stdout before it became stderr's.
static SAVED: OnceLock<File> = OnceLock::new();

/// Whether the present line on stderr is one that [`status`] writes over.
static HAS_STATUS: AtomicBool = AtomicBool::new(false);

/// Goes back to the first column, and erases what was written there.
const ERASE: &str = "\r\x1b[K";

/// Prints a result. Where that fails, nothing more is printed: what came later would stand behind
/// a hole. [`loss`] tells of it at the end.
pub(crate) fn result(text: &str) {
    if !is_lost() {
        printed(io::stdout().lock().write_all(text.as_bytes()));
    }
}

/// Prints a result in JSON, of which no text drives a terminal.
pub(crate) fn json(text: &str) {
    let text = plain_json(text);
    match SAVED.get() {
        Some(saved) if !is_lost() => printed((&*saved).write_all(text.as_bytes())),
        Some(_) => {}
        None => result(&text),
    }
}

/// Prints a value as [`json`] does, without all of the text in memory.
pub(crate) fn json_of(value: &impl Serialize) {
    if !is_lost() {
        printed(match SAVED.get() {
            Some(saved) => write_json(saved, value),
            None => write_json(io::stdout().lock(), value),
        });
    }
}

fn write_json(target: impl Write, value: &impl Serialize) -> io::Result<()> {
    let mut writer = PlainWriter(BufWriter::new(target));
    serde_json::to_writer_pretty(&mut writer, value)?;
    writer.0.write_all(b"\n")?;
    writer.0.flush()
}

/// Writes JSON that comes in pieces of whole characters.
struct PlainWriter<W>(W);

impl<W: Write> Write for PlainWriter<W> {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        let text = str::from_utf8(piece).map_err(io::Error::other)?;
        self.0.write_all(plain_json(text).as_bytes())?;
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Keeps stdout for JSON documents alone: whatever scripts and the programs that they start write
/// there goes to stderr.
pub(crate) fn keep_for_json() -> io::Result<()> {
    let saved = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(io::stderr())?;
    // It is asked for once.
    let _ = SAVED.set(File::from(saved));
    Ok(())
}

/// What stdout was before it was kept for JSON; `None`: it was not.
pub(crate) fn kept_stdout() -> Option<BorrowedFd<'static>> {
    SAVED.get().map(AsFd::as_fd)
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

/// Notes where stdout has lost whoever read it: a pipe or a terminal that is closed. Somebody who
/// prints next to nothing would learn of it late.
pub(crate) fn look_after_reader() {
    let stdout = io::stdout();
    if events_of(stdout.as_fd(), PollFlags::empty()).intersects(PollFlags::ERR | PollFlags::HUP) {
        // The first reason is the one that counts.
        let _ = LOST.set(io::ErrorKind::BrokenPipe.into());
    }
}

/// Whether a stream can be written to now. A terminal that somebody has stopped cannot, nor can a
/// pipe that is full.
pub(crate) fn takes_output(stream: impl AsFd) -> bool {
    !events_of(stream.as_fd(), PollFlags::OUT).is_empty()
}

/// What there is of these events in this instant, and whether the other end has gone.
fn events_of(stream: BorrowedFd<'_>, events: PollFlags) -> PollFlags {
    let mut ends = [PollFd::from_borrowed_fd(stream, events)];
    match poll(&mut ends, Some(&Timespec::default())) {
        Ok(1) => ends[0].revents(),
        _ => PollFlags::empty(),
    }
}

/// Why results are missing on stdout. A reader that has gone away (`| head`) misses nothing.
pub(crate) fn loss() -> Option<&'static io::Error> {
    LOST.get().filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
}

/// Prints an error.
pub(crate) fn error(text: &str) {
    note(&format!("dbtime: {text}"));
}

/// Prints a note that is not part of the result. That nobody reads it is no failure either. What
/// servers and files put into it does not drive the terminal, and secrets of the command line are
/// not repeated.
pub(crate) fn note(text: &str) {
    let mut err = io::stderr().lock();
    // In the place of what is written over anyway.
    let erase = if HAS_STATUS.swap(false, Ordering::Relaxed) { ERASE } else { "" };
    let _ = writeln!(err, "{erase}{}", plain_lines(&given_secrets::hidden(text)));
}

/// Columns of two lines, which is what a note takes of a terminal that goes on with others.
const NOTE_COLUMNS: usize = 200;

/// Prints a note of what the result has in full, in two lines at most.
pub(crate) fn brief_note(text: &str) {
    // Of a secret that is cut the rest would not be known for one.
    let text = dbtime_report::one_line(&given_secrets::hidden(text));
    note(&dbtime_report::fit(&text, NOTE_COLUMNS));
}

/// Prints a line of progress where it cannot be written over. One that nobody takes is left out:
/// the next one says more, and what is measured waits for none.
pub(crate) fn progress(text: &str) {
    if !takes_output(io::stderr()) {
        return;
    }
    note(&format!("progress: {}", charset().spelled(text)));
}

/// Prints a report beside the output of a command, which has stdout to itself, or what another
/// tool's command says, as it is but for secrets of the command line.
pub(crate) fn to_stderr(text: &str) {
    let text = given_secrets::hidden(text);
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

/// How a report is to look that is printed beside a command's output.
pub(crate) fn style_beside() -> PageStyle {
    style_of(io::stderr().is_terminal(), columns_of(io::stderr()))
}

/// Replaces the present line on stderr, a terminal. What does not fit into the line is cut off. A
/// terminal that stands still is left alone, as by [`progress`].
pub(crate) fn status(text: &str) {
    if !takes_output(io::stderr()) {
        return;
    }
    let mut err = io::stderr().lock();
    let columns = columns_of(&err).unwrap_or(usize::MAX);
    // The last column stays free: behind it some terminals begin a line.
    let text = charset().spelled(text);
    let text: String = plain_lines(&text).chars().take(columns.saturating_sub(1)).collect();
    let is_shown = !text.is_empty();
    if HAS_STATUS.swap(is_shown, Ordering::Relaxed) || is_shown {
        let _ = write!(err, "{ERASE}{text}").and_then(|()| err.flush());
    }
}

/// Whether progress has somebody to look at it.
pub(crate) fn has_audience() -> bool {
    io::stderr().is_terminal()
}

/// How many columns the terminal has to which results go; `None` where they go elsewhere.
pub(crate) fn columns() -> Option<usize> {
    columns_of(io::stdout())
}

/// What has no columns is no terminal.
fn columns_of(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream);
    // A terminal that does not know says zero.
    size.ok().map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// How a report is to look that is printed as a result.
pub(crate) fn style() -> PageStyle {
    style_of(io::stdout().is_terminal(), columns())
}

fn style_of(is_terminal: bool, columns: Option<usize>) -> PageStyle {
    let color = is_terminal && std::env::var_os("NO_COLOR").is_none();
    let style = PageStyle { color, charset: charset(), ..PageStyle::default() };
    // What somebody has set counts for more than what a terminal says of itself.
    let set = variable("COLUMNS").and_then(|columns| columns.parse().ok());
    set.filter(|columns| *columns > 0).or(columns).map_or(style, |columns| style.within(columns))
}

/// The signs that the locale can show: the first of its variables that is set says it.
fn charset() -> Charset {
    let mut names = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter();
    Charset::of_locale(names.find_map(variable).as_deref())
}

/// A variable that is set to something.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Whether somebody sits at a terminal, to see and to type.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal()
}

/// Whether results go to a terminal and colour is welcome.
pub(crate) fn has_color() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_in_pieces_is_the_same_as_in_one() {
        let value = vec!["plain", "a \"quote\"\u{1b}[2J", "\u{9b}2J\u{202e}\u{7f}", "größe 表"];
        let mut written = Vec::new();
        write_json(&mut written, &value).expect("in memory");
        let whole = serde_json::to_string_pretty(&value).expect("JSON") + "\n";
        assert_eq!(String::from_utf8(written).expect("text"), plain_json(&whole));
        assert!(!plain_json(&whole).contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7f}']));
    }
}
