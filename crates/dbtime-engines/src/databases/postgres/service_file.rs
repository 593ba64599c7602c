//! The connection service file of PostgreSQL's own clients: parameters under a name.
//!
//! Source: PostgreSQL manual, "The Connection Service File".

use dbtime_model::bounded_file::written_bytes;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Where Debian's libpq has the file of the whole machine.
const SYSTEM_FOLDER: &str = "/etc/postgresql-common";

/// The parameters of a service, by its first section in the user's own file, else in the
/// machine's.
///
/// # Errors
/// There is no such service, or its file makes no sense. No error shows a value.
pub(super) fn look_up(
    service: &str,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Vec<(String, String)>, String> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let usual = || Some(PathBuf::from(set("HOME")?).join(".pg_service.conf"));
    let own = set("PGSERVICEFILE").map(PathBuf::from).or_else(usual);
    let folder = set("PGSYSCONFDIR").unwrap_or_else(|| SYSTEM_FOLDER.to_owned());
    let all = Path::new(&folder).join("pg_service.conf");
    let mut looked = Vec::new();
    for file in own.iter().chain([&all]) {
        let text = match written_bytes(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                looked.push(format!("there is no file {}", file.display()));
                continue;
            }
            Err(error) => return Err(format!("{} cannot be read: {error}", file.display())),
        };
        let found = section(&String::from_utf8_lossy(&text), service)
            .map_err(|line| format!("syntax error in {}, line {line}", file.display()))?;
        if let Some(parameters) = found {
            return Ok(parameters);
        }
        looked.push(format!("{} has no section [{service}]", file.display()));
    }
    let looked = looked.join(", ");
    Err(format!("definition of service \"{service}\" not found: {looked}"))
}

/// The parameters of a section; the error is the number of a line that makes no sense.
fn section(text: &str, service: &str) -> Result<Option<Vec<(String, String)>>, usize> {
    let mut found: Option<Vec<(String, String)>> = None;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            if found.is_some() {
                break;
            }
            let name = header.strip_prefix(service).filter(|rest| rest.starts_with(']'));
            found = name.map(|_| Vec::new());
        } else if let Some(parameters) = &mut found {
            // A service cannot be defined by another.
            let pair = line.split_once('=').filter(|(name, _)| *name != "service");
            let (name, value) = pair.ok_or(index + 1)?;
            parameters.push((name.to_owned(), value.to_owned()));
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const FILE: &str =
        "# ours\n[other]\nhost=a\n\n[shop]\n  port=5433\ndbname=x=y \n[shop]\nport=1\n";

    #[test]
    fn a_section_is_read_up_to_the_next() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected = vec![pair("port", "5433"), pair("dbname", "x=y")];
        assert_eq!(section(FILE, "shop"), Ok(Some(expected)));
        assert_eq!(section(FILE, "sho"), Ok(None));
        assert_eq!(section("[a]\nhost", "a"), Err(2));
        assert_eq!(section("[a]\nservice=b", "a"), Err(2));
        assert_eq!(section("[b]\nhost", "a"), Ok(None), "what is of others is not looked at");
    }

    #[test]
    fn the_users_file_comes_first_and_the_machines_next() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().display().to_string();
        let look = |service: &str, named: &str| {
            look_up(service, &|name| match name {
                "HOME" | "PGSYSCONFDIR" => Some(home.clone()),
                "PGSERVICEFILE" => Some(named.to_owned()),
                _ => None,
            })
        };
        fs::write(folder.path().join("pg_service.conf"), "[a]\nport=1\n[b]\nport=2")
            .expect("a file");
        fs::write(folder.path().join(".pg_service.conf"), "[a]\nport=3").expect("a file");
        let port = |service: &str, named: &str| look(service, named).expect("found").remove(0).1;
        assert_eq!([port("a", ""), port("b", ""), port("a", "/none")], ["3", "2", "1"]);
        let error = look("c", "").expect_err("nowhere");
        assert!(error.starts_with("definition of service \"c\" not found: "), "{error}");
        assert_eq!(error.matches("has no section [c]").count(), 2, "{error}");
        let error = look("c", "/none").expect_err("nowhere");
        assert!(error.contains("not found: there is no file /none, "), "{error}");
    }
}
