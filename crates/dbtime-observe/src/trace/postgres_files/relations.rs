//! What PostgreSQL calls its tables, indexes and databases, whose files have numbers for names:
//! read from the files of the tables that list them.
//!
//! ```text
//!   base/5/pg_filenode.map   file nodes of the tables that are needed to find any other
//!   base/5/1259              pg_class: a number, a name and mostly a file node for each of them
//!   global/1262              pg_database: a number and a name
//! ```

use super::heap::{HeapRow, rows, u32_of};
use crate::kernel_layout::text_until_zero;
use std::collections::HashMap;

/// The number of the table that lists all tables and indexes of a database, and of the one that
/// lists all databases.
pub(super) const PG_CLASS: u32 = 1259;
pub(super) const PG_DATABASE: u32 = 1262;

/// More than these are not kept of a file.
const MAX_RELATIONS: usize = 200_000;

/// What a file of file nodes begins with.
const MAP: u32 = 0x0059_2717;
/// File nodes in it; version 16 has room for 64.
const MAX_MAPPED: usize = 64;

/// Bytes of a name.
const NAME: usize = 64;
/// In `pg_class`, where the file node stands behind the row's number.
const NODE: usize = NAME + 5 * 4;

/// Names of what has a number.
pub(crate) type NumberedNames = HashMap<u32, String>;

/// The file nodes of what is listed in a `pg_filenode.map`, by its numbers; none of what is no such
/// file.
pub(super) fn file_nodes(map: &[u8]) -> HashMap<u32, u32> {
    let [magic, count] = [0, 4].map(|at| u32_of(map.get(at..).unwrap_or_default()));
    let count = if magic == MAP { (count as usize).min(MAX_MAPPED) } else { 0 };
    let pairs = map.get(8..).unwrap_or_default().as_chunks::<8>().0.iter().take(count);
    pairs.map(|pair| (u32_of(pair), u32_of(&pair[4..]))).collect()
}

/// The tables and indexes of a database by their file nodes, from its `pg_class` and its map.
pub(crate) fn relations(pg_class: &[u8], map: &[u8]) -> NumberedNames {
    let mapped = file_nodes(map);
    newest(pg_class, |row| match node(row)? {
        0 => mapped.get(&row.oid).copied(),
        node => Some(node),
    })
}

/// Those that all databases share, from the `pg_class` of one of these and the map of all.
pub(crate) fn shared_relations(pg_class: &[u8], map: &[u8]) -> NumberedNames {
    let mapped = file_nodes(map);
    newest(pg_class, |row| mapped.get(&row.oid).copied().filter(|_| node(row) == Some(0)))
}

/// The databases by their numbers, from `pg_database`.
pub(crate) fn databases(pg_database: &[u8]) -> NumberedNames {
    newest(pg_database, |row| Some(row.oid))
}

fn node(row: &HeapRow<'_>) -> Option<u32> {
    row.columns.get(NODE..NODE + 4).map(u32_of)
}

/// The names of rows by what is their number, each of the newest with that.
fn newest(file: &[u8], number: impl Fn(&HeapRow<'_>) -> Option<u32>) -> NumberedNames {
    let mut newest = HashMap::<u32, HeapRow<'_>>::new();
    for row in rows(file) {
        let Some(number) = number(&row) else { continue };
        if newest.get(&number).map_or(newest.len() < MAX_RELATIONS, |known| row.follows(known)) {
            newest.insert(number, row);
        }
    }
    let names = newest.into_iter().filter_map(|(number, row)| {
        let name = text_until_zero(row.columns.get(..NAME)?);
        (!name.is_empty()).then_some((number, name))
    });
    names.collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::heap::tests::{LIVE, TupleHeader, page};
    use super::*;
    use proptest::prelude::*;

    /// What follows the number of a row of `pg_class`, or of `pg_database`.
    pub(in crate::trace) fn named(name: &str, node: u32) -> Vec<u8> {
        let mut columns = name.as_bytes().to_vec();
        columns.resize(NODE, 0);
        columns.extend_from_slice(&node.to_le_bytes());
        columns
    }

    /// A `pg_filenode.map`.
    pub(in crate::trace) fn map(pairs: &[(u32, u32)]) -> Vec<u8> {
        let numbers = [MAP, pairs.len() as u32].into_iter();
        let numbers = numbers.chain(pairs.iter().flat_map(|(oid, node)| [*oid, *node]));
        let mut map: Vec<u8> = numbers.flat_map(u32::to_le_bytes).collect();
        map.resize(512, 0);
        map
    }

    #[test]
    fn relations_are_found_by_their_file_nodes() {
        let rows = [
            (9, 0, 16384, named("t", 16384)),
            (10, 0, 16390, named("i", 16401)),
            (9, 0, PG_CLASS, named("pg_class", 0)),
            (9, 0, PG_DATABASE, named("pg_database", 0)),
            (9, 0, 11000, named("a_view", 0)),
            // It was called otherwise, and nobody has noted that yet.
            (8, 10, 16390, named("was_i", 16401)),
        ];
        let of = |(maker, deleter, oid, columns): &(u32, u32, u32, Vec<u8>)| {
            page(&[TupleHeader(
                *maker,
                *deleter,
                if *deleter > 0 { 0x0100 } else { LIVE },
                *oid,
                columns,
            )])
        };
        let pg_class = rows.iter().flat_map(of).collect::<Vec<u8>>();
        let found = relations(&pg_class, &map(&[(PG_CLASS, 1300), (4711, 4712)]));
        let mut found: Vec<_> = found.iter().map(|(node, name)| (*node, &**name)).collect();
        found.sort_unstable();
        assert_eq!(found, [(1300, "pg_class"), (16384, "t"), (16401, "i")]);
        let shared = shared_relations(&pg_class, &map(&[(PG_DATABASE, 1262), (16384, 9)]));
        assert_eq!(shared, [(1262, "pg_database".to_owned())].into());
        let shop = named("shop", 0);
        let pg_database = page(&[TupleHeader(9, 0, LIVE, 5, &shop[..NAME])]);
        assert_eq!(databases(&pg_database), [(5, "shop".to_owned())].into());
    }

    #[test]
    fn a_map_of_another_kind_maps_nothing() {
        let whole = map(&[(PG_CLASS, 1300), (5, 6)]);
        assert_eq!(file_nodes(&whole), [(PG_CLASS, 1300), (5, 6)].into());
        assert_eq!(file_nodes(&whole[..17]), [(PG_CLASS, 1300)].into());
        assert_eq!(file_nodes(&whole[1..]), [].into());
    }

    proptest! {
        #[test]
        fn any_bytes_are_files(
            rows in proptest::collection::vec((any::<u32>(), any::<u32>(), any::<u16>()), 0..20),
            length in 0usize..120, map in proptest::collection::vec(any::<u8>(), 0..600)
        ) {
            let columns = vec![7; length];
            let rows: Vec<TupleHeader<'_>> = rows
                .into_iter()
                .map(|(maker, oid, hints)| TupleHeader(maker, maker, hints, oid, &columns))
                .collect();
            let file = page(&rows);
            prop_assert!(relations(&file, &map).len() <= rows.len());
            prop_assert!(shared_relations(&file, &map).len() <= rows.len());
            prop_assert!(databases(&map).is_empty() && databases(&file).len() <= rows.len());
        }
    }
}
