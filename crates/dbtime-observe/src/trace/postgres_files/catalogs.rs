//! Files of a PostgreSQL server that list what its other files are: found by numbers alone below
//! the folder that the server runs in, which is its data folder.
//!
//! A reader that comes from clients may be told to ask for anything: of a database it gets the list
//! of its tables, and no table.

use super::relations::{PG_CLASS, PG_DATABASE, file_nodes};
use crate::trace::servers::open_found;
use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;

/// Which of these files. `None`: that of what all databases share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CatalogFile {
    /// The file nodes of the tables that list others.
    Map(Option<u32>),
    /// The tables and indexes of a database.
    Relations(u32),
    Databases,
}

/// A map is shorter. Unit: bytes.
const MAX_MAP_BYTES: u64 = 4096;

/// Opens one of a server's.
///
/// # Errors
/// It is not there, or may not be read, for people.
pub(crate) fn open_catalog(server: u32, catalog: CatalogFile) -> Result<File, String> {
    match catalog {
        CatalogFile::Map(database) => open(server, database, None),
        CatalogFile::Relations(database) => {
            open(server, Some(database), Some(mapped(server, Some(database), PG_CLASS)?))
        }
        CatalogFile::Databases => open(server, None, Some(mapped(server, None, PG_DATABASE)?)),
    }
}

/// The file node of a table that lists others.
fn mapped(server: u32, database: Option<u32>, table: u32) -> Result<u32, String> {
    let mut map = Vec::new();
    let file = open(server, database, None)?;
    file.take(MAX_MAP_BYTES).read_to_end(&mut map).map_err(|error| error.to_string())?;
    let node = file_nodes(&map).get(&table).copied();
    node.ok_or_else(|| "its map of files does not look as expected".to_owned())
}

/// Opens a file of a database, or of what all share: a file node's first, or else the map.
fn open(server: u32, database: Option<u32>, node: Option<u32>) -> Result<File, String> {
    let folder = database.map_or("global".to_owned(), |number| format!("base/{number}"));
    let file = node.map_or("pg_filenode.map".to_owned(), |number| number.to_string());
    let failed = |error: rustix::io::Errno| format!("{folder}/{file}: {error}");
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let data = format!("/proc/{server}/cwd");
    let data = rustix::fs::open(data, flags | OFlags::DIRECTORY, Mode::empty()).map_err(failed)?;
    // Neither out of that folder nor by any link.
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let path = format!("{folder}/{file}");
    let found = openat2(data, path, flags, Mode::empty(), within).map_err(failed)?;
    open_found(&found, |_| true).map_err(|why| format!("{folder}/{file}: {why}"))
}

#[cfg(test)]
mod tests {
    use super::super::relations::tests::map;
    use super::*;
    use std::os::unix::fs::symlink;
    use std::process::{Child, Command, Stdio};

    /// A process that runs in a folder, until this goes.
    struct CatalogServer(Child);

    impl Drop for CatalogServer {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn only_files_below_the_folder_of_a_server_are_opened() {
        let data = tempfile::tempdir().expect("a folder");
        let at = |name: &str| data.path().join(name);
        let write = |name: &str, what: &[u8]| std::fs::write(at(name), what).expect("written");
        for folder in ["base/5", "base/6", "global", "base/7/1300"] {
            std::fs::create_dir_all(at(folder)).expect("a folder");
        }
        write("base/5/pg_filenode.map", &map(&[(PG_CLASS, 1300)]));
        write("base/5/1300", b"tables");
        write("base/7/pg_filenode.map", &map(&[(PG_CLASS, 1300)]));
        write("base/6/1259", b"others");
        write("global/pg_filenode.map", &map(&[(PG_CLASS, 1259)]));
        symlink("../5/pg_filenode.map", at("base/6/pg_filenode.map")).expect("a link");
        symlink("5", at("base/8")).expect("a link");
        let mut server = Command::new("sleep");
        server.arg("600").current_dir(data.path()).stdin(Stdio::null());
        let server = CatalogServer(server.spawn().expect("it starts"));
        let text = |catalog| {
            let mut text = String::new();
            let file = open_catalog(server.0.id(), catalog);
            file.map(|mut file| file.read_to_string(&mut text).map(|_| text))
        };
        let tables = text(CatalogFile::Relations(5)).expect("it is there");
        assert_eq!(tables.expect("it is text"), "tables");
        assert!(text(CatalogFile::Map(Some(5))).is_ok() && text(CatalogFile::Map(None)).is_ok());
        // Links, a folder, a table that the map does not name, and what is not there.
        for catalog in
            [CatalogFile::Map(Some(6)), CatalogFile::Relations(6), CatalogFile::Relations(8)]
        {
            assert!(text(catalog).is_err(), "{catalog:?}");
        }
        assert!(text(CatalogFile::Relations(7)).expect_err("a folder").contains("not the file"));
        assert!(text(CatalogFile::Databases).expect_err("not named").contains("as expected"));
        assert!(text(CatalogFile::Map(Some(9))).expect_err("no such").contains("base/9"));
    }
}
