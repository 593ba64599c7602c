//! Where everything goes that a script prints, and sysbench's log.

use dbtime_model::plain_text::plain_lines;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// How much a line of the log matters. Those above `--verbosity` are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogPriority {
    /// What ends a run.
    Fatal,
    /// A call that makes no sense.
    Alert,
    /// What is probably not meant.
    Warning,
    /// Reports, and what a run is at.
    Notice,
}

impl LogPriority {
    /// By the number that scripts use.
    pub(super) fn numbered(number: u32) -> Self {
        match number {
            0 => Self::Fatal,
            1 => Self::Alert,
            2 => Self::Warning,
            _ => Self::Notice,
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Fatal => "FATAL: ",
            Self::Alert => "ALERT: ",
            Self::Warning => "WARNING: ",
            Self::Notice => "",
        }
    }
}

/// Takes texts, from any thread.
type TextWriter = Arc<dyn Fn(&str) + Send + Sync>;

/// Where everything goes that a script prints, and what is logged about it. What is printed may
/// come in pieces of lines, and from any thread.
#[derive(Clone)]
pub struct ScriptOutput {
    write: TextWriter,
    /// Where that goes which sysbench does not show; `None`: nowhere.
    remark: Option<TextWriter>,
    /// Most that a line of the log may matter.
    verbosity: u32,
    last: Arc<Mutex<RepeatedMessage>>,
}

/// The last message of the log, and how often it came again.
#[derive(Default)]
struct RepeatedMessage {
    text: String,
    count: u32,
}

impl ScriptOutput {
    /// Hands texts to a function; of the log everything up to reports.
    pub fn new(write: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { write: Arc::new(write), remark: None, verbosity: 3, last: Arc::default() }
    }

    /// The same with the log that a `--verbosity` from 0 to 5 asks for.
    #[must_use]
    pub fn with_verbosity(self, verbosity: u32) -> Self {
        Self { verbosity, ..self }
    }

    /// The same with a function for what sysbench does not show, such as tracebacks.
    #[must_use]
    pub fn with_remarks(self, remark: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { remark: Some(Arc::new(remark)), ..self }
    }

    /// Tells what sysbench does not show.
    pub(super) fn remark(&self, text: &str) {
        if let Some(remark) = &self.remark {
            remark(text);
        }
    }

    /// Hands it a text that a script prints.
    pub fn write(&self, text: &str) {
        (self.write)(text);
    }

    /// Whether a line that matters so much is shown.
    pub(crate) fn shows(&self, priority: LogPriority) -> bool {
        priority as u32 <= self.verbosity
    }

    /// Logs a message, without its line's end. One that comes again and again is shown once, and
    /// then how often it came.
    pub(crate) fn log(&self, priority: LogPriority, text: &str) {
        if !self.shows(priority) {
            return;
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.text == text {
            last.count += 1;
            return;
        }
        self.forget(&mut last);
        text.clone_into(&mut last.text);
        // It may hold what a server said.
        self.write(&format!("{}{}\n", priority.prefix(), plain_lines(text)));
    }

    /// Shows a report, as it is.
    pub fn report(&self, text: &str) {
        if self.shows(LogPriority::Notice) {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            self.forget(&mut last);
            self.write(text);
        }
    }

    fn forget(&self, last: &mut RepeatedMessage) {
        if last.count > 0 {
            self.write(&format!("(last message repeated {} times)\n", last.count));
        }
        *last = RepeatedMessage::default();
    }
}

impl fmt::Debug for ScriptOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Output")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_comes_again_is_counted_and_what_matters_too_little_is_left_out() {
        let written = Arc::<Mutex<String>>::default();
        let to = Arc::clone(&written);
        let output = ScriptOutput::new(move |text| to.lock().expect("no panic").push_str(text));
        let output = output.with_verbosity(1);
        for _ in 0..3 {
            output.log(LogPriority::Alert, "closed");
        }
        output.log(LogPriority::Warning, "old");
        output.report("figures\n");
        output.write("mine\n");
        output.log(LogPriority::Fatal, "over");
        assert_eq!(
            *written.lock().expect("no panic"),
            "ALERT: closed\nmine\n(last message repeated 2 times)\nFATAL: over\n"
        );
    }
}
