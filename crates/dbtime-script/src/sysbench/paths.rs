//! Where scripts and their modules are looked for.

use std::env;
use std::path::Path;

/// The file of a script and, where it was found by its bare name, that name.
pub(super) fn find(name: &str, data_dir: &Path) -> Option<(String, Option<String>)> {
    if Path::new(name).is_file() {
        return Some((name.to_owned(), None));
    }
    let module = name.replace('.', "/");
    lua_path(data_dir)
        .split(';')
        .filter(|template| !template.is_empty())
        .map(|template| template.replace('?', &module))
        .find(|file| Path::new(file).is_file())
        .map(|file| (file, Some(name.to_owned())))
}

/// `package.path`.
pub(super) fn lua_path(data_dir: &Path) -> String {
    let mut path = "./?.lua;./?/init.lua;./src/lua/?.lua;".to_owned();
    if let Ok(home) = env::var("HOME") {
        for folder in ["share/lua/5.1", "share/lua"] {
            let at = format!("{home}/.luarocks/{folder}");
            path += &format!("{at}/?.lua;{at}/?/init.lua;");
        }
    }
    path += "/usr/local/share/lua/5.1/?.lua;/usr/share/lua/5.1/?.lua;";
    path += &format!("{}/?.lua;", data_dir.display());
    merged("LUA_PATH", path)
}

/// `package.cpath`.
pub(super) fn lua_cpath() -> String {
    let mut path = "./?.so;".to_owned();
    if let Ok(home) = env::var("HOME") {
        path += &format!("{home}/.luarocks/lib/lua/5.1/?.so;{home}/.luarocks/lib/lua/?.so;");
    }
    path += "/usr/local/lib/lua/5.1/?.so;/usr/lib/lua/5.1/?.so;";
    merged("LUA_CPATH", path)
}

/// What the environment says; `;;` in it stands for the path that holds without it.
fn merged(variable: &str, path: String) -> String {
    match env::var(variable) {
        Ok(given) => with_default(&given, &path),
        Err(_) => path,
    }
}

fn with_default(given: &str, path: &str) -> String {
    given.replace(";;", &format!(";{path};")).trim_start_matches(';').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_semicolons_stand_for_the_default() {
        assert_eq!(with_default("a/?.lua;;", "x;y;"), "a/?.lua;x;y;;");
        assert_eq!(with_default(";;b", "x"), "x;b");
        assert_eq!(with_default("only", "x"), "only");
    }

    #[test]
    fn a_file_is_itself_and_a_name_is_looked_for() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lua");
        let file = format!("{folder}/events.lua");
        assert_eq!(find(&file, Path::new("/nowhere")), Some((file.clone(), None)));
        let found = find("events", Path::new(folder));
        assert_eq!(found, Some((file, Some("events".to_owned()))));
        assert_eq!(find("no_such_script", Path::new(folder)), None);
    }
}
