//! Names for the files of PostgreSQL's servers, which are numbers: `16384/16401_fsm`, as the
//! kernel's side tells of it with its folder, is `shop/orders_pkey (fsm)`.
//!
//! What the numbers mean is read from the server's own files (`relations`), as it has written them
//! to disk: a table that was made since the last checkpoint keeps its number, and is looked for
//! again later.

use super::catalogs::CatalogFile;
use super::relations::{NumberedNames, databases, relations, shared_relations};
use dbtime_model::traced_files::{FileName, FileWait, add_files};
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

/// Files are not read again before.
const REREAD_AFTER: Duration = Duration::from_secs(5);
/// Nor before so many times as long as it took has passed.
const REREAD_FACTOR: u32 = 200;

/// Of a file no more is read. Unit: bytes; a million tables take 300 MB.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// Names that are kept, of all databases together.
const MAX_NAMES: usize = 400_000;
/// Databases that are kept.
const MAX_LISTS: usize = 1024;

/// A database that is there in every server, and lists what all databases share.
const TEMPLATE: u32 = 1;

/// What opens a catalog of a server, or says why not.
pub(crate) type CatalogOpener<'a> = dyn FnMut(u32, CatalogFile) -> Result<File, String> + 'a;

/// Segments of the write-ahead log follow each other: they are shown by their folder.
fn log_folder(file: &str) -> Option<&str> {
    let (folder, segment) = file.split_once('/')?;
    let is_segment = segment.len() == 24 && segment.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_segment && matches!(folder, "pg_wal" | "pg_xlog")).then_some(folder)
}

/// What has a list of names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum NamedObjects {
    /// The tables and indexes of a database, or those that all share.
    Relations(Option<u32>),
    Databases,
}

/// Names, as they were at some instant.
#[derive(Debug)]
struct NameList {
    /// `None`: they cannot be read.
    names: Option<NumberedNames>,
    /// When they may be read again.
    again: Instant,
}

/// The names that were looked for.
#[derive(Debug, Default)]
pub(crate) struct FileNames {
    lists: HashMap<(u32, NamedObjects), NameList>,
}

impl FileNames {
    /// Names files in waits of requests of one of these servers, as far as all that may be meant
    /// call them alike; waits for what has one name become one.
    pub(crate) fn name_all(
        &mut self,
        waits: &mut Vec<FileWait>,
        servers: &[u32],
        open: &mut CatalogOpener<'_>,
    ) {
        let mut is_changed = false;
        for wait in &mut *waits {
            let FileName::Named(name) = &mut wait.file else { continue };
            if let Some(found) = self.name(name, servers, open) {
                (*name, is_changed) = (found, true);
            }
        }
        if is_changed {
            let named = std::mem::take(waits);
            add_files(waits, &named);
            waits.sort_by_key(|wait| std::cmp::Reverse(wait.length));
        }
    }

    /// What a file is called; `None`: it is none of theirs, or not known.
    pub(crate) fn name(
        &mut self,
        file: &str,
        servers: &[u32],
        open: &mut CatalogOpener<'_>,
    ) -> Option<String> {
        if let Some(folder) = log_folder(file) {
            return Some(folder.to_owned());
        }
        let file = RelationFile::of(file)?;
        let mut name = None;
        for server in servers {
            match self.name_by(*server, &file, open) {
                // It has no such database.
                None => {}
                Some(found) if name.is_none() || name == Some(found.clone()) => name = Some(found),
                Some(_) => return None,
            }
        }
        name.flatten()
    }

    /// What a server calls it, if it knows; `None`: it has no such database.
    fn name_by(
        &mut self,
        server: u32,
        file: &RelationFile<'_>,
        open: &mut CatalogOpener<'_>,
    ) -> Option<Option<String>> {
        let relation =
            self.find(server, NamedObjects::Relations(file.database), file.node, open)?;
        let database = match file.database {
            None => "global".to_owned(),
            Some(number) => {
                let name = self.find(server, NamedObjects::Databases, number, open).flatten();
                name.unwrap_or_else(|| number.to_string())
            }
        };
        Some(relation.map(|relation| format!("{database}/{relation}{}", file.fork)))
    }

    /// A name in a list; `None`: there is no list.
    fn find(
        &mut self,
        server: u32,
        listed: NamedObjects,
        number: u32,
        open: &mut CatalogOpener<'_>,
    ) -> Option<Option<String>> {
        let key = (server, listed);
        let now = Instant::now();
        let is_known = self.lists.get(&key).is_some_and(|list| {
            let has_it = list.names.as_ref().is_some_and(|names| names.contains_key(&number));
            has_it || now < list.again
        });
        if !is_known {
            self.make_room();
            let names = read_list(server, listed, open).ok();
            let again = now + REREAD_AFTER.max(REREAD_FACTOR * now.elapsed());
            self.lists.insert(key, NameList { names, again });
        }
        let names = self.lists.get(&key)?.names.as_ref()?;
        Some(names.get(&number).cloned())
    }

    /// Forgets everything when that is too much; what is needed is read again.
    fn make_room(&mut self) {
        let names = self.lists.values().filter_map(|list| list.names.as_ref());
        if names.map(HashMap::len).sum::<usize>() >= MAX_NAMES || self.lists.len() >= MAX_LISTS {
            self.lists.clear();
        }
    }
}

fn read_list(
    server: u32,
    listed: NamedObjects,
    open: &mut CatalogOpener<'_>,
) -> Result<NumberedNames, String> {
    let mut bytes = |catalog| {
        let mut bytes = Vec::new();
        let read = open(server, catalog)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes);
        read.map(|_| bytes).map_err(|error| error.to_string())
    };
    Ok(match listed {
        NamedObjects::Databases => databases(&bytes(CatalogFile::Databases)?),
        NamedObjects::Relations(None) => shared_relations(
            &bytes(CatalogFile::Relations(TEMPLATE))?,
            &bytes(CatalogFile::Map(None))?,
        ),
        NamedObjects::Relations(database @ Some(number)) => {
            relations(&bytes(CatalogFile::Relations(number))?, &bytes(CatalogFile::Map(database))?)
        }
    })
}

/// A file of a table or an index, by what it is called on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RelationFile<'a> {
    /// `None`: all databases share it.
    database: Option<u32>,
    node: u32,
    /// What of it, as it is shown behind the name.
    fork: &'a str,
}

impl<'a> RelationFile<'a> {
    /// Takes a name apart that its folder's goes before: `16384/16401_fsm.1`, or `16384/t3_16401`
    /// of a table that is there for one connection. `None`: it is called otherwise.
    fn of(file: &'a str) -> Option<Self> {
        let (folder, file) = file.split_once('/')?;
        let database = if folder == "global" { None } else { Some(number(folder)?) };
        let file = file.strip_prefix('t').map_or(Some(file), |file| {
            let (connection, file) = file.split_once('_')?;
            number(connection).map(|_| file)
        })?;
        let (file, segment) = file.split_once('.').unwrap_or((file, "0"));
        number(segment)?;
        let (node, fork) = match file.split_once('_') {
            None => (file, ""),
            Some((node, "fsm")) => (node, " (fsm)"),
            Some((node, "vm")) => (node, " (vm)"),
            Some((node, "init")) => (node, " (init)"),
            Some(_) => return None,
        };
        Some(Self { database, node: number(node)?, fork })
    }
}

/// A number as files are called by it.
fn number(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    // Files of the log begin with zeros.
    let is_plain = is_number && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| is_plain)
}

#[cfg(test)]
mod tests {
    use super::super::heap::tests::{LIVE, TupleHeader, page};
    use super::super::relations::tests::{map, named};
    use super::*;
    use dbtime_model::Nanos;
    use proptest::prelude::*;
    use std::io::{Seek, Write};

    fn wait(file: &str, count: u64) -> FileWait {
        let file = FileName::Named(file.to_owned());
        FileWait { file, part: dbtime_model::Part::Sync, count, length: Nanos(10 * count) }
    }

    /// The catalogs of servers: of 1 the database 5 (`shop`) with `t`, of 2 the same with `u`.
    fn open(server: u32, catalog: CatalogFile) -> Result<File, String> {
        let row = |oid, name: &str, node| page(&[TupleHeader(9, 0, LIVE, oid, &named(name, node))]);
        let own = if server == 1 { "t" } else { "u" };
        let bytes = match catalog {
            CatalogFile::Map(None) => map(&[(1262, 1300)]),
            CatalogFile::Map(_) => map(&[(1259, 1259)]),
            CatalogFile::Relations(1) => row(1262, "pg_database", 0),
            CatalogFile::Relations(5) => {
                [row(16384, own, 16390), row(1259, "pg_class", 0)].concat()
            }
            CatalogFile::Relations(6) if server == 2 => row(16384, "six", 16390),
            CatalogFile::Relations(_) => return Err("no such database".to_owned()),
            CatalogFile::Databases => row(5, "shop", 0),
        };
        let mut file = tempfile::tempfile().map_err(|error| error.to_string())?;
        file.write_all(&bytes).and_then(|()| file.rewind()).map_err(|error| error.to_string())?;
        Ok(file)
    }

    fn names(names: &mut FileNames, servers: &[u32], files: &[&str]) -> Vec<String> {
        let name = |file: &&str| names.name(file, servers, &mut open).unwrap_or_default();
        files.iter().map(name).collect()
    }

    #[test]
    fn files_are_called_by_what_is_in_them() {
        let mut all = FileNames::default();
        let files = ["5/16390", "5/16390_vm.1", "5/t3_16390", "5/1259", "global/1300", "6/16390"];
        let found = names(&mut all, &[1], &files);
        let known = ["shop/t", "shop/t (vm)", "shop/t", "shop/pg_class", "global/pg_database", ""];
        assert_eq!(found, known);
        let log = names(&mut all, &[1], &["pg_wal/000000010000000000000001"]);
        assert_eq!(log, ["pg_wal"]);
        let others = ["5/16391", "pg_wal/1", "ib_logfile0", "5/1_x", "x/1"];
        assert_eq!(names(&mut all, &[1], &others).concat(), "");
        // Of servers whose numbers mean something else each, what all of them mean.
        assert_eq!(names(&mut all, &[1, 2], &files[3..]), [known[3], known[4], "6/six"]);
        assert_eq!(names(&mut all, &[1, 2], &files[..1]).concat(), "");
        assert_eq!(names(&mut all, &[], &files).concat(), "");
    }

    #[test]
    fn waits_for_pieces_of_one_table_become_one() {
        let mut waits = vec![wait("5/16390.1", 5), wait("5/99", 4), wait("5/16390.2", 3)];
        FileNames::default().name_all(&mut waits, &[1], &mut open);
        assert_eq!(waits, [wait("shop/t", 8), wait("5/99", 4)]);
    }

    #[test]
    fn what_is_not_known_is_looked_for_again_but_not_at_once() {
        let (mut all, mut opened) = (FileNames::default(), 0);
        let mut counting = |server, catalog| {
            opened += 1;
            open(server, catalog)
        };
        for _ in 0..3 {
            assert_eq!(all.name("5/16391", &[1], &mut counting), None);
        }
        // Its list and its map, and the databases.
        all.lists.values_mut().for_each(|list| list.again = Instant::now());
        assert_eq!(all.name("5/16391", &[1], &mut counting), None);
        assert!(all.name("5/16390", &[1], &mut counting).is_some());
        assert_eq!(opened, 2 + 1 + 2);
        for database in 10..3 * MAX_LISTS as u32 {
            all.name(&format!("{database}/1"), &[1], &mut open);
        }
        assert!(all.lists.len() <= MAX_LISTS);
    }

    proptest! {
        #[test]
        fn any_name_may_be_a_files(name in "[0-9t_./a-z]{0,20}", other: String) {
            for name in [&name, &format!("5/{name}"), &other] {
                let file = RelationFile::of(name);
                prop_assert!(file.is_none_or(|file| name.contains(&file.node.to_string())));
            }
        }
    }
}
