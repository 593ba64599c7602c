//! What PostgreSQL calls its lightweight locks: a wait for one carries the number of its tranche.
//!
//! ```text
//!   14 to 16   IndividualLWLockNames (exported)   0 … n-1
//!              BuiltinTrancheNames                n …       from "XactBuffer" on
//!   since 17   BuiltinTrancheNames                0 …       "ShmemIndex" is number 1
//! ```
//!
//! Numbers behind those are of extensions, which name them as they are loaded.

use super::constants::ProgramConstants;
use super::program::ServerProgram;

/// Locks that are single ones.
const SINGLE: &str = "IndividualLWLockNames";
/// The first of them that has a name, with this number.
const FIRST_SINGLE: (&str, u64) = ("ShmemIndex", 1);

/// The first of those of which there are many.
const MANY: [&str; 3] = ["XactBuffer", "CommitTsBuffer", "SubtransBuffer"];

/// Their table, or that of all.
const ALL: &str = "BuiltinTrancheNames";

/// What takes the name of an extension's tranche, and none of a smaller number.
const REGISTER: &str = "LWLockRegisterTranche";

/// Bytes of an address in a table.
const ENTRY: u64 = 8;

/// More than there will be; version 15 has 75.
const MAX_TRANCHES: u64 = 1024;

/// The names of lightweight locks, by the numbers of their tranches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tranches(Vec<Option<String>>);

impl Tranches {
    /// What a tranche is called; `None`: it is an extension's.
    pub(crate) fn name(&self, number: u32) -> Option<&str> {
        self.0.get(number as usize)?.as_deref()
    }
}

/// The names in a program.
///
/// # Errors
/// Why they are not known, for people.
pub(crate) fn tranches(
    program: &ServerProgram,
    constants: &ProgramConstants,
) -> Result<Tranches, String> {
    let many = constants.entries(&MANY).ok_or("the program has no table of them")?;
    let entry = |table: u64, number: u64| table.wrapping_add(number.wrapping_mul(ENTRY));
    let (first, single) = match program.extent(SINGLE) {
        Ok(table) => (table.end.saturating_sub(table.start) / ENTRY, table.start),
        Err(_) => {
            let before = |many: u64, number| many.wrapping_sub(ENTRY * number);
            let (word, number) = FIRST_SINGLE;
            let is_first = |back: &u64| constants.word_by(before(many, *back)) == Some(word);
            let back =
                (1..MAX_TRANCHES).find(is_first).ok_or("their table does not look as expected")?;
            (back + number, before(many, back + number))
        }
    };
    if first > MAX_TRANCHES {
        return Err("their table is too long".to_owned());
    }
    let name = |entry| constants.word_by(entry).map(ToOwned::to_owned);
    let mut names: Vec<_> = (0..first).map(|number| name(entry(single, number))).collect();
    // Where nobody tells how many there are, they end with the words.
    let count = count(program, many).or_else(|| first_of_extensions(program)?.checked_sub(first));
    let others = (0..count.unwrap_or(MAX_TRANCHES).min(MAX_TRANCHES))
        .map(|number| name(entry(many, number)));
    names.extend(others.take_while(Option::is_some));
    Ok(Tranches(names))
}

/// How many there are from an entry of the table on, in a program that was not stripped.
fn count(program: &ServerProgram, from: u64) -> Option<u64> {
    Some(program.extent(ALL).ok()?.end.checked_sub(from)? / ENTRY)
}

/// The smallest number that an extension may have: what the function that takes its name begins
/// with is a comparison of its first argument.
fn first_of_extensions(program: &ServerProgram) -> Option<u64> {
    let code = program.code().ok()?.get(program.place(REGISTER).ok()?..)?;
    code[..code.len().min(16)].windows(5).find_map(|window| match *window {
        // cmp $number, %edi; jle or jg, to near or far
        [0x83, 0xff, number, 0x7e | 0x7f, _] | [0x83, 0xff, number, 0x0f, 0x8e | 0x8f] => {
            Some(u64::from(number) + 1)
        }
        // cmp $number, %edi; jl or jge
        [0x83, 0xff, number, 0x7c | 0x7d, _] | [0x83, 0xff, number, 0x0f, 0x8c | 0x8d] => {
            Some(number.into())
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::constants::tests::{TABLE, constants};
    use super::super::program::tests::program;
    use super::*;
    use proptest::prelude::*;

    impl<'a> FromIterator<&'a str> for Tranches {
        fn from_iter<T: IntoIterator<Item = &'a str>>(names: T) -> Self {
            Self(names.into_iter().map(|name| Some(name.to_owned())).collect())
        }
    }

    fn names(found: &Tranches) -> Vec<&str> {
        (0..found.0.len() as u32).map(|number| found.name(number).unwrap_or("-")).collect()
    }

    #[test]
    fn a_table_for_single_locks_goes_before_that_of_the_others() {
        let [a, b, c] = MANY;
        let of = |table: &[&str], code| {
            let length = table.len() as u64;
            let functions = [(SINGLE, TABLE..TABLE + 3 * ENTRY), (REGISTER, 0..4)];
            let found = tranches(&program(code, &functions), &constants(table, true));
            assert_eq!(length, 9);
            found
        };
        let table = ["<unassigned:0>", "ShmemIndex", "OidGen", a, b, c, "WALInsert", "Next", ""];
        // cmp $6, %edi; jle
        let known = of(&table, vec![0x83, 0xff, 6, 0x7e, 9]).expect("there are some");
        assert_eq!(names(&known), ["-", "ShmemIndex", "OidGen", a, b, c, "WALInsert"]);
        assert_eq!((known.name(7), known.name(70_000)), (None, None));
        // push %rbp; cmp $7, %edi; jge, to far
        let known =
            of(&table, vec![0x55, 0x83, 0xff, 7, 0x0f, 0x8d, 9, 0]).expect("there are some");
        assert_eq!((known.0.len(), known.name(6)), (7, Some("WALInsert")));
        assert_eq!(of(&table, vec![0xc3]).expect("there are some").0.len(), 8);
    }

    #[test]
    fn one_table_for_all_has_holes_and_begins_with_one() {
        let [a, b, c] = MANY;
        let table = ["Before", "", "ShmemIndex", "OidGen", "", "ControlFile", a, b, c, "Last", ""];
        let found = tranches(&program(vec![], &[]), &constants(&table, false));
        let found = found.expect("there are some");
        assert_eq!(
            names(&found),
            ["-", "ShmemIndex", "OidGen", "-", "ControlFile", a, b, c, "Last"]
        );
        let extent = [(ALL, TABLE + ENTRY..TABLE + 9 * ENTRY)];
        let names = tranches(&program(vec![], &extent), &constants(&table, false));
        assert_eq!(names.expect("there are some").0.last(), Some(&Some(c.to_owned())));
        let odd = tranches(&program(vec![], &[]), &constants(&table[3..], false));
        assert!(odd.expect_err("no beginning").contains("as expected"));
        let none = tranches(&program(vec![], &[]), &constants(&table[..6], false));
        assert!(none.expect_err("no table").contains("no table"));
    }

    proptest! {
        #[test]
        fn any_table_has_an_end(
            code in proptest::collection::vec(any::<u8>(), 0..20), start: u64, end: u64
        ) {
            let [a, b, c] = MANY;
            let table = constants(&["ShmemIndex", a, b, c, "D"], true);
            let functions = [(SINGLE, start.min(end)..end.max(start)), (REGISTER, 0..9)];
            for functions in [&functions[..], &functions[1..]] {
                let found = tranches(&program(code.clone(), functions), &table);
                let most = 2 * MAX_TRANCHES as usize;
                prop_assert!(found.is_err() || found.is_ok_and(|found| found.0.len() <= most));
            }
        }
    }
}
