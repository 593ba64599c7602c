//! How texts are written in commands that can be pasted into a shell.

use std::borrow::Cow;

/// A text as one word of a command: in quotes where a shell would take any of it for something
/// else.
pub fn quoted(text: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || "-_=./:%,@+".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => Cow::Borrowed(text),
        // Nothing has a meaning between single quotes but the quote that ends them.
        false => Cow::Owned(format!("'{}'", text.replace('\'', r"'\''"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn plain_words_stay_as_they_are() {
        for plain in ["sqlite:/tmp/50%25.db", "--target=mysql://u@h:1/d", "a,b+c", "größe"] {
            assert_eq!(quoted(plain), plain);
        }
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn a_shell_reads_back_what_was_written() {
        let odd = ["", "it's", "''", "a b", "?x=1&y=2", "$HOME `id` \\ \"!*~#;|<>(){}[]", "a\nb"];
        for text in odd {
            let script = format!("printf %s {}", quoted(text));
            let read = Command::new("sh").args(["-c", &script]).output().expect("a shell");
            assert_eq!(String::from_utf8_lossy(&read.stdout), text);
        }
    }
}
