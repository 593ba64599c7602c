//! The files of the kernel below a root, read with a bound.

use super::MachineWindow;
use dbtime_model::bounded_file::recorded_file;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

/// The most that is read of a file; `/proc/stat` of a thousand CPUs has a quarter of it.
const MOST_BYTES: u64 = 1 << 20;

/// The most entries of a folder that are looked at.
const MOST_ENTRIES: usize = 8_192;

/// The longest name of a setting: of a governor, a clock, a scheduler.
const MOST_WORD_BYTES: usize = 64;

/// `/proc` and `/sys` below a root, and what was watched of the machine for a moment.
#[derive(Clone, Debug)]
pub struct MachineTree {
    root: PathBuf,
    window: Option<MachineWindow>,
}

impl MachineTree {
    /// This machine's.
    pub fn of_machine() -> Self {
        Self::at(PathBuf::from("/"))
    }

    /// What lies below this folder.
    pub fn at(root: PathBuf) -> Self {
        Self { root, window: None }
    }

    /// The same with what was watched.
    #[must_use]
    pub fn watched(self, window: MachineWindow) -> Self {
        Self { window: Some(window), ..self }
    }

    /// What was watched; without it the reason why a check knows nothing.
    pub(super) fn window(&self) -> Result<&MachineWindow, String> {
        self.window.as_ref().ok_or_else(|| "the machine was not watched".to_owned())
    }

    /// Where a path lies: `proc/stat`.
    pub(super) fn place(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// Whether there is such a file, as far as this user sees.
    pub(super) fn has(&self, path: &str) -> bool {
        self.place(path).exists()
    }

    /// The text of a file, without blanks at its ends.
    ///
    /// Errors: why it cannot be read, in a sentence without a full stop.
    pub(super) fn text(&self, path: &str) -> Result<String, String> {
        let file = recorded_file(&self.place(path)).map_err(|error| refusal(path, &error))?;
        let mut bytes = Vec::new();
        file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refusal(path, &error))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(format!("/{path} is larger than any file of its kind"));
        }
        let text = String::from_utf8(bytes).map_err(|_| format!("/{path} is not text"))?;
        Ok(text.trim().to_owned())
    }

    /// The number that a file holds.
    pub(super) fn number(&self, path: &str) -> Result<u64, String> {
        self.text(path)?.parse().map_err(|_| format!("/{path} does not hold a number"))
    }

    /// A figure of `/proc/meminfo`. Unit: KiB.
    pub(super) fn memory_kib(&self, name: &str) -> Result<u64, String> {
        let text = self.text("proc/meminfo")?;
        let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kib = value.and_then(|value| value.trim().trim_end_matches(" kB").parse().ok());
        kib.ok_or_else(|| format!("/proc/meminfo has no {name}"))
    }

    /// The one word that a file holds: the name of a setting. Shape: a small letter, then letters,
    /// digits, `-`, `_`, `.` and `+`, so that it may stand in a command.
    pub(super) fn word(&self, path: &str) -> Result<String, String> {
        word_of(&self.text(path)?, path)
    }

    /// The present one of several: `madvise` of `always [madvise] never`.
    pub(super) fn chosen(&self, path: &str) -> Result<String, String> {
        let text = self.text(path)?;
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        word_of(chosen.map_or("", |(chosen, _)| chosen), path)
    }

    /// The numbers behind a prefix among the names in a folder, in ascending order: of `cpu0`,
    /// `cpu1` and `cpufreq` 0 and 1.
    pub(super) fn numbered(&self, path: &str, prefix: &str) -> Result<Vec<u32>, String> {
        let entries = self.place(path).read_dir().map_err(|error| refusal(path, &error))?;
        let number = |name: String| name.strip_prefix(prefix)?.parse().ok();
        let names = entries.take(MOST_ENTRIES).flatten().map(|entry| entry.file_name());
        let mut numbers: Vec<u32> =
            names.filter_map(|name| number(name.into_string().ok()?)).collect();
        numbers.sort_unstable();
        match numbers.is_empty() {
            true => Err(format!("/{path} has no {prefix}0")),
            false => Ok(numbers),
        }
    }
}

fn word_of(text: &str, path: &str) -> Result<String, String> {
    // `defer+madvise` is a way to compact memory.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
    let begins_well = text.starts_with(|c: char| c.is_ascii_lowercase());
    let is_word = begins_well && text.len() <= MOST_WORD_BYTES && text.chars().all(is_plain);
    match is_word {
        true => Ok(text.to_owned()),
        false => Err(format!("/{path} does not hold the name of a setting")),
    }
}

fn refusal(path: &str, error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => format!("there is no /{path} here"),
        ErrorKind::PermissionDenied => format!("this user may not read /{path}"),
        _ => format!("cannot read /{path}: {error}"),
    }
}
