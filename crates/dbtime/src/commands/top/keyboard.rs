//! Keys, from the bytes that a terminal sends for them.
//!
//! Nothing in here waits for longer than it may: not for the rest of a sequence that was begun, and
//! not at all for a terminal that has gone, which is readable for ever and has nothing to read.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, read};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

const ESCAPE: u8 = 0x1b;

/// A sequence that has no end by then is none. Unit: bytes.
const MAX_SEQUENCE_BYTES: usize = 32;

/// What came from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TerminalInput {
    Key(KeyEvent),
    /// No key so far.
    Nothing,
    /// The terminal has gone, and nobody is there to press a key.
    Gone,
}

/// The terminal's keys.
pub(super) struct TopKeyboard {
    terminal: OwnedFd,
    /// What has come, and made no key yet.
    unread: Vec<u8>,
}

impl TopKeyboard {
    /// Those that come over stdin.
    pub(super) fn open() -> io::Result<Self> {
        Ok(Self::of(io::stdin().as_fd().try_clone_to_owned()?))
    }

    fn of(terminal: OwnedFd) -> Self {
        Self { terminal, unread: Vec::new() }
    }

    /// A key, if one is pressed within so long.
    pub(super) fn key(&mut self, patience: Duration) -> io::Result<TerminalInput> {
        if let Some(key) = self.next_key() {
            return Ok(TerminalInput::Key(key));
        }
        let mut ends = [PollFd::from_borrowed_fd(self.terminal.as_fd(), PollFlags::IN)];
        let patience = Timespec::try_from(patience).ok();
        match poll(&mut ends, patience.as_ref()) {
            // Nothing follows what was begun: it was all.
            Ok(0) => {
                return Ok(self.begun_key().map_or(TerminalInput::Nothing, TerminalInput::Key));
            }
            Ok(_) => {}
            Err(Errno::INTR) => return Ok(TerminalInput::Nothing),
            Err(error) => return Err(error.into()),
        }
        let is_gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
        if ends[0].revents().intersects(is_gone) {
            return Ok(TerminalInput::Gone);
        }
        let mut bytes = [0; 1024];
        match read(&self.terminal, &mut bytes) {
            Ok(0) | Err(Errno::IO) => return Ok(TerminalInput::Gone),
            Ok(length) => self.unread.extend_from_slice(&bytes[..length]),
            Err(Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.next_key().map_or(TerminalInput::Nothing, TerminalInput::Key))
    }

    /// The first key of what has come, where it is whole.
    fn next_key(&mut self) -> Option<KeyEvent> {
        while let Some((key, length)) = first_key(&self.unread) {
            self.unread.drain(..length);
            if key.is_some() {
                return key;
            }
        }
        None
    }

    /// What begins as a sequence does, and nothing follows: the key that sends no more than that,
    /// or none.
    fn begun_key(&mut self) -> Option<KeyEvent> {
        let is_escape = self.unread == [ESCAPE];
        self.unread.clear();
        is_escape.then(|| KeyCode::Esc.into())
    }
}

/// The key that these bytes begin with, `None` where they mean none, and how many bytes it took.
/// `None` in all: there are too few of them to say.
fn first_key(bytes: &[u8]) -> Option<(Option<KeyEvent>, usize)> {
    let plain = |code: KeyCode| Some((Some(code.into()), 1));
    match *bytes.first()? {
        ESCAPE => sequence(bytes),
        b'\r' | b'\n' => plain(KeyCode::Enter),
        b'\t' => plain(KeyCode::Tab),
        0x08 | 0x7f => plain(KeyCode::Backspace),
        control @ 0x01..=0x1a => {
            let letter = KeyCode::Char((control - 1 + b'a').into());
            Some((Some(KeyEvent::new(letter, KeyModifiers::CONTROL)), 1))
        }
        0x00..=0x1f => Some((None, 1)),
        first => sign(bytes, first),
    }
}

/// A sign of UTF-8.
fn sign(bytes: &[u8], first: u8) -> Option<(Option<KeyEvent>, usize)> {
    let length = match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    };
    let whole = bytes.get(..length)?;
    match str::from_utf8(whole).ok().and_then(|text| text.chars().next()) {
        Some(sign) => Some((Some(KeyCode::Char(sign).into()), length)),
        None => Some((None, 1)),
    }
}

/// What stands behind an escape.
fn sequence(bytes: &[u8]) -> Option<(Option<KeyEvent>, usize)> {
    match *bytes.get(1)? {
        b'[' => {
            let is_last = |byte: &u8| (0x40..=0x7e).contains(byte);
            let last = bytes.iter().skip(2).take(MAX_SEQUENCE_BYTES).position(is_last);
            let Some(last) = last.map(|last| last + 2) else {
                return (bytes.len() > MAX_SEQUENCE_BYTES).then_some((None, bytes.len()));
            };
            Some((named_key(&bytes[2..last], bytes[last]), last + 1))
        }
        b'O' => Some((named_key(&[], *bytes.get(2)?), 3)),
        ESCAPE => Some((Some(KeyCode::Esc.into()), 1)),
        _ => {
            let (key, length) = first_key(&bytes[1..])?;
            let with_alt =
                key.map(|key| KeyEvent::new(key.code, key.modifiers | KeyModifiers::ALT));
            Some((with_alt, length + 1))
        }
    }
}

/// A key by the last byte of its sequence, and by the first number in it.
fn named_key(parameters: &[u8], last: u8) -> Option<KeyEvent> {
    let code = match (last, parameters.split(|byte| *byte == b';').next().unwrap_or_default()) {
        (b'A', _) => KeyCode::Up,
        (b'B', _) => KeyCode::Down,
        (b'C', _) => KeyCode::Right,
        (b'D', _) => KeyCode::Left,
        (b'H', _) | (b'~', b"1" | b"7") => KeyCode::Home,
        (b'F', _) | (b'~', b"4" | b"8") => KeyCode::End,
        (b'Z', _) => KeyCode::BackTab,
        (b'~', b"3") => KeyCode::Delete,
        (b'~', b"5") => KeyCode::PageUp,
        (b'~', b"6") => KeyCode::PageDown,
        _ => return None,
    };
    Some(code.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{PipeWriter, Write};

    const AT_ONCE: Duration = Duration::ZERO;

    fn keyboard() -> (TopKeyboard, PipeWriter) {
        let (reader, writer) = io::pipe().expect("files are free");
        (TopKeyboard::of(reader.into()), writer)
    }

    /// What some bytes mean that come at once.
    fn keys(bytes: &[u8]) -> Vec<KeyCode> {
        let (mut keyboard, mut writer) = keyboard();
        writer.write_all(bytes).expect("room");
        let mut codes = Vec::new();
        // Two in a row without a key: what was begun is over.
        let mut silent = 0;
        while silent < 2 {
            match keyboard.key(AT_ONCE).expect("a pipe") {
                TerminalInput::Key(key) => {
                    silent = 0;
                    codes.push(key.code);
                }
                other => {
                    assert_eq!(other, TerminalInput::Nothing);
                    silent += 1;
                }
            }
        }
        codes
    }

    #[test]
    fn keys_are_those_of_their_bytes() {
        use KeyCode::{BackTab, Backspace, Char, Down, End, Enter, Esc, Home, PageDown, PageUp};
        assert_eq!(keys(b"q\r\x7f"), [Char('q'), Enter, Backspace]);
        assert_eq!(keys("ß√".as_bytes()), [Char('ß'), Char('√')]);
        assert_eq!(keys(b"\x1b[A\x1b[B\x1bOB"), [KeyCode::Up, Down, Down]);
        assert_eq!(keys(b"\x1b[H\x1b[4~\x1b[5~\x1b[6;5~"), [Home, End, PageUp, PageDown]);
        assert_eq!(keys(b"\x1b[Z\t\x1b"), [BackTab, KeyCode::Tab, Esc]);
        assert_eq!(keys(b"\x1b\x1b[99~x\xff\x00y"), [Esc, Char('x'), Char('y')]);
        let (mut keyboard, mut writer) = keyboard();
        writer.write_all(b"\x03").expect("room");
        let ctrl_c = KeyEvent::new(Char('c'), KeyModifiers::CONTROL);
        assert_eq!(keyboard.key(AT_ONCE).expect("a pipe"), TerminalInput::Key(ctrl_c));
    }

    #[test]
    fn a_sequence_that_is_cut_is_waited_for_once_and_holds_nothing_up() {
        for begun in [&b"\x1b["[..], b"\x1bO", b"\xe2\x88", b"\x1b[1;"] {
            assert!(keys(begun).is_empty(), "{begun:?}");
        }
        let (mut keyboard, mut writer) = keyboard();
        writer.write_all(b"\x1b[").expect("room");
        assert_eq!(keyboard.key(AT_ONCE).expect("a pipe"), TerminalInput::Nothing);
        writer.write_all(b"Aq").expect("room");
        for code in [KeyCode::Up, KeyCode::Char('q')] {
            let pressed = keyboard.key(AT_ONCE).expect("a pipe");
            assert_eq!(pressed, TerminalInput::Key(code.into()));
        }
        writer.write_all(&[b"\x1b["[..].to_vec(), vec![b'0'; 100]].concat()).expect("room");
        assert_eq!(keyboard.key(AT_ONCE).expect("a pipe"), TerminalInput::Nothing);
        assert!(keyboard.unread.is_empty(), "it would have no end");
    }

    #[test]
    fn a_terminal_that_has_gone_is_told_of_and_not_waited_for() {
        let (mut keyboard, writer) = keyboard();
        drop(writer);
        for _ in 0..3 {
            let told = keyboard.key(Duration::from_secs(3600)).expect("a pipe");
            assert_eq!(told, TerminalInput::Gone);
        }
    }
}
