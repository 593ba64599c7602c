//! Collapsed stacks, as tools for flame graphs write and read them: a line each, frames from the
//! outermost to the innermost with `;` between them, and behind the last space what it comes to.

use super::ReadError;
use std::fmt::Write;
use std::path::Path;

/// Collapsed stacks of a traced run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldedStacks {
    /// On a CPU, in samples; `None`: nothing was sampled.
    pub on_cpu: Option<Vec<FoldedStack>>,
    /// Off a CPU, in microseconds; `None`: no stacks were traced.
    pub off_cpu: Option<Vec<FoldedStack>>,
}

/// A stack, and what it comes to.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoldedStack {
    /// The outermost first. Shape: none is empty or holds `;` or a control character.
    pub frames: Vec<String>,
    /// Samples or microseconds, by its file.
    pub weight: u64,
}

/// A name as a frame has it.
pub fn frame_name(name: &str) -> String {
    let sign = |sign: char| match sign {
        ';' => ':',
        sign if sign.is_control() => '?',
        sign => sign,
    };
    match name.trim() {
        "" => "?".to_owned(),
        name => name.chars().map(sign).collect(),
    }
}

/// The text of a file of stacks.
pub fn folded_text(stacks: &[FoldedStack]) -> String {
    let mut text = String::new();
    for FoldedStack { frames, weight } in stacks {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{} {weight}", frames.join(";"));
    }
    text
}

/// Reads such a file; `path` is only for messages.
pub(super) fn read(text: &str, path: &Path) -> Result<Vec<FoldedStack>, ReadError> {
    let stack = |line: &str| {
        let (frames, weight) = line.rsplit_once(' ')?;
        let weight = weight.parse().ok()?;
        let frames: Vec<_> = frames.split(';').map(str::to_owned).collect();
        let is_whole = frames.iter().all(|frame| frame_name(frame) == *frame);
        is_whole.then_some(FoldedStack { frames, weight })
    };
    let malformed = |at: usize| ReadError::Malformed {
        path: path.to_owned(),
        line: at + 1,
        problem: "no collapsed stack, such as `main;write 12`, stands there".to_owned(),
    };
    let lines = text.lines().enumerate();
    lines.map(|(at, line)| stack(line).ok_or_else(|| malformed(at))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let stack = |frames: &[&str], weight| FoldedStack {
            frames: frames.iter().map(|frame| frame_name(frame)).collect(),
            weight,
        };
        let stacks = [stack(&["a: b", "std::f<x;y>", "write_[k]"], 12), stack(&[" ", "a\nb"], 0)];
        let text = folded_text(&stacks);
        assert_eq!(text, "a: b;std::f<x:y>;write_[k] 12\n?;a?b 0\n");
        assert_eq!(read(&text, Path::new("x")).expect("stacks"), stacks);
        assert_eq!(read("", Path::new("x")).expect("none"), []);
    }

    #[test]
    fn a_line_that_is_no_stack_is_named() {
        for line in ["main", "main x", "main;;f 3", "main -1", " 7", "", "a;\u{1b}[m 3"] {
            let text = format!("main 1\n{line}\n");
            let error = read(&text, Path::new("off.folded")).expect_err(line).to_string();
            assert!(error.contains("off.folded") && error.contains('2'), "{line}: {error}");
        }
    }
}
