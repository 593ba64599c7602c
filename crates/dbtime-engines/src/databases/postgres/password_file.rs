//! The password file of PostgreSQL's own clients, `~/.pgpass`.
//!
//! Source: PostgreSQL manual, "The Password File".

use dbtime_model::bounded_file::written_bytes;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Whose password is looked for: host, port, database and user.
pub(super) type PasswordKey<'a> = [&'a str; 4];

/// The password of the first line that fits. A file that others can read is not looked at: then the
/// error says so.
pub(super) fn look_up(path: &Path, key: PasswordKey<'_>) -> Result<Option<String>, String> {
    let unreadable = |error: io::Error| format!("{} cannot be read: {error}", path.display());
    let file = match fs::metadata(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if !file.is_file() {
        return Err(format!("{} is not a plain file", path.display()));
    }
    if file.permissions().mode() & 0o077 != 0 {
        let path = path.display();
        return Err(format!("{path} is not used, for others can read it: chmod 600 {path}"));
    }
    let text = written_bytes(path).map_err(unreadable)?;
    Ok(find(&String::from_utf8_lossy(&text), key))
}

fn find(text: &str, key: PasswordKey<'_>) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = PasswordFields(line);
        for expected in key {
            let (field, is_any) = fields.next()?;
            if !is_any && field != expected {
                return None;
            }
        }
        fields.next().map(|(password, _)| password).filter(|password| !password.is_empty())
    })
}

/// Fields with colons between them, without their backslashes; whether each is a lone `*`.
struct PasswordFields<'a>(&'a str);

impl Iterator for PasswordFields<'_> {
    type Item = (String, bool);

    fn next(&mut self) -> Option<Self::Item> {
        let mut field = String::new();
        let mut end = self.0.len();
        let mut characters = self.0.char_indices();
        while let Some((at, character)) = characters.next() {
            match character {
                ':' => {
                    end = at;
                    break;
                }
                '\\' => field.extend(characters.next().map(|(_, escaped)| escaped)),
                plain => field.push(plain),
            }
        }
        let is_any = &self.0[..end] == "*";
        self.0 = self.0.get(end + 1..).unwrap_or("");
        Some((field, is_any))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# host:5432:db:user:comment\n\
        db.example:5432:shop:alice:one\n\
        ::1:5432:x:y:not an address\n\
        \\:\\:1:*:*:bob:two\\:\\\\\n\
        *:*:*:\\*:star\n\
        short:line\n\
        *:*:*:carol:\n\
        *:*:*:carol:three:rest\n";

    #[test]
    fn the_first_line_that_fits_has_the_password() {
        let of = |key: PasswordKey<'_>| find(FILE, key);
        let some = |password: &str| Some(password.to_owned());
        assert_eq!(of(["db.example", "5432", "shop", "alice"]), some("one"));
        assert_eq!(of(["db.example", "5433", "shop", "alice"]), None);
        assert_eq!(of(["::1", "1", "any", "bob"]), some("two:\\"));
        assert_eq!(of(["h", "1", "d", "*"]), some("star"), "an escaped star is a star");
        assert_eq!(of(["h", "1", "d", "dave"]), None);
        assert_eq!(of(["h", "1", "d", "carol"]), some("three"));
    }

    #[test]
    fn a_file_that_others_can_read_is_not_looked_at() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pgpass");
        let key = ["h", "1", "d", "carol"];
        assert_eq!(look_up(&path, key), Ok(None), "there is none");
        fs::write(&path, FILE).expect("written");
        let allow = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode));
        allow(0o640).expect("ours");
        assert!(look_up(&path, key).expect_err("read by a group").contains("chmod 600"));
        allow(0o600).expect("ours");
        assert_eq!(look_up(&path, key), Ok(Some("three".to_owned())));
        assert!(look_up(folder.path(), key).is_err());
    }
}
