//! What is said of data that cannot be used, or must not be replaced.

use super::*;

fn marker() -> LoadMarker {
    let (workload, version) = ("bank".to_owned(), "test".to_owned());
    LoadMarker { workload, scale: 2, seed: 1, version }
}

/// What there is of a workload with these tables, all of which are there.
fn found<'a>(tables: &'a [WorkloadTable], finished: Option<u64>) -> LoadedContent<'a> {
    let finished = finished.map(|scale| LoadMarker { scale, ..marker() });
    let is_there = |name: &str| Ok::<bool, ()>(name != "dbtime_load");
    LoadedContent { finished, ..LoadedContent::look("bank", tables, is_there).expect("tables") }
}

/// Tables of these names.
fn tables(names: &[&str]) -> Vec<WorkloadTable> {
    let table = |name: &&str| WorkloadTable {
        name: (*name).to_owned(),
        rows: 1,
        per_scale: false,
        columns: Vec::new(),
        indexes: Vec::new(),
    };
    names.iter().map(table).collect()
}

fn check(found: LoadedContent<'_>, scale: Option<u64>) -> Result<LoadMarker, LoadError> {
    found.check("sqlite:x.db".to_owned(), scale)
}

fn message_of(found: LoadedContent<'_>, scale: Option<u64>) -> String {
    check(found, scale).expect_err("it cannot be used").named_as("bank.toml").to_string()
}

/// What a load at scale 2 does where this stands.
fn replaced(
    finished: Option<u64>,
    is_begun: bool,
    table: Option<&str>,
    replacing: ReplaceScope,
) -> Result<Option<String>, String> {
    let tables: Vec<WorkloadTable> = tables(table.as_slice());
    let mut found = found(&tables, finished);
    found.all_begun.extend(is_begun.then(|| "bank".to_owned()));
    let replaced = found.replaced("sqlite:x.db".to_owned(), "file", &marker(), replacing);
    replaced.map_err(|error| error.to_string())
}

#[test]
fn only_the_same_again_is_replaced_unasked() {
    use ReplaceScope::{Everything, Same};
    let ours = |scale| Ok(Some(format!("its data at scale {scale}")));
    assert_eq!(replaced(None, false, None, Same), Ok(None));
    assert_eq!(replaced(Some(2), true, Some("a"), Same), ours(2));
    let error = replaced(Some(3), true, Some("a"), Same).expect_err("another scale");
    assert!(error.contains("at scale 3: nothing was changed; add --replace"), "{error}");
    assert_eq!(replaced(Some(3), true, Some("a"), Everything), ours(3));
    assert!(replaced(None, true, Some("a"), Same).is_ok());
    let error = replaced(None, false, Some("pgbench_tellers"), Same).expect_err("not ours");
    assert!(error.contains("pgbench -i") && error.contains("--replace"), "{error}");
    assert!(replaced(None, false, Some("a"), Everything).is_ok());
}

#[test]
fn workloads_that_share_tables_are_known() {
    let tables = |name: &str| Workload::find(name).expect("shipped").tables;
    assert!(may_share("point-select", &tables("oltp-read-only")));
    assert!(!may_share("atm", &tables("oltp-read-only")));
    // Nobody knows what it has.
    assert!(may_share("bank", &tables("atm")) && may_share("./atm.toml", &tables("atm")));
}

#[test]
fn loads_of_tables_that_are_made_anew_are_forgotten() {
    let tables = Workload::find("oltp-read-only").expect("shipped").tables;
    let [all_finished, all_begun] = [["atm", "point-select"], ["oltp-write-only", "atm"]]
        .map(|names| names.map(str::to_owned).to_vec());
    let found = LoadedContent { all_finished, all_begun, ..found(&tables, None) };
    let of = |replacing| -> Vec<String> { found.forgotten(replacing).cloned().collect() };
    assert_eq!(of(ReplaceScope::Same), ["oltp-write-only"]);
    assert_eq!(of(ReplaceScope::Everything), ["point-select", "oltp-write-only"]);
}

#[test]
fn a_finished_load_at_the_wanted_scale_will_do() {
    for scale in [None, Some(2)] {
        // Beginning again ends with a marker, as beginning did.
        let all_begun = vec!["bank".to_owned()];
        let found = LoadedContent { all_begun, ..found(&[], Some(2)) };
        assert_eq!(check(found, scale).expect("loaded"), marker());
    }
}

#[test]
fn what_helps_is_a_command_that_names_the_workload_as_given() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let tables = tables(&["a", "b"]);
    let nothing = message_of(found(&[], None), None);
    assert!(nothing.ends_with("bank.toml; run `dbtime init bank.toml --target sqlite:x.db`"));
    let other = LoadedContent { all_finished: names(&["shop", "atm"]), ..found(&[], None) };
    let other = message_of(other, None);
    assert!(other.contains("bank.toml (it holds shop, atm); run"), "{other}");
    let present = LoadedContent { all_finished: names(&["shop"]), ..found(&tables, None) };
    let present = message_of(LoadedContent { missing: vec!["b"], ..present }, None);
    assert!(present.contains("(it holds shop, table a was not made for it); run"), "{present}");
    assert!(present.contains("init bank.toml --replace --target"), "{present}");
    let begun = message_of(LoadedContent { all_begun: names(&["bank"]), ..found(&[], None) }, None);
    assert!(begun.contains("never finished); run `dbtime init bank.toml"), "{begun}");
    let torn =
        message_of(LoadedContent { missing: vec!["a", "b"], ..found(&tables, Some(2)) }, Some(3));
    assert!(torn.contains("incomplete (without a, b)"), "{torn}");
    let scale = message_of(found(&tables, Some(2)), Some(3));
    assert!(scale.contains("init bank.toml --scale 3 --replace --target sqlite:x.db"), "{scale}");
}
