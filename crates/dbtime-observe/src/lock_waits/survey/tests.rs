//! Answers as servers have given them, and as none should.

use super::*;
use dbtime_model::Nanos;
use proptest::prelude::*;

fn version(text: &str) -> ServerVersion {
    ServerVersion::parse(text).expect("a version")
}

/// Hands rows over as a server writes them: columns and cells between blanks, `NULL` for none, `_`
/// for a blank.
fn answer(survey: &mut LockSurvey, text: &str) {
    let words = |line: &str| {
        let word = |word: &str| word.replace('_', " ");
        line.split_whitespace().map(word).collect::<Vec<String>>()
    };
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let columns: Vec<String> = head.split_whitespace().map(str::to_owned).collect();
    let cell = |cell: String| (cell != "NULL").then_some(cell);
    let rows: Vec<Vec<CounterCell>> =
        lines.map(|line| words(line).into_iter().map(cell).collect()).collect();
    survey.take(Ok(SurveyAnswer { columns: &columns, rows: &rows }));
}

fn refuse(survey: &mut LockSurvey, code: &str, message: &str) {
    survey.take(Err(SurveyRefusal { code, message, is_passing: false }));
}

#[test]
fn postgres_names_a_holder_that_is_idle() {
    let mut survey = LockSurvey::new(Product::Postgres, version("15.18"));
    let sql = survey.next_statement().expect("claims");
    assert!(sql.contains("pg_blocking_pids") && sql.contains("waitstart"), "{sql}");
    answer(
        &mut survey,
        "waiter holder lock object waited\n\
         4102 4101 row_lock l1 1.874120\n\
         4103 4102 row_lock l1 0.912",
    );
    let sql = survey.next_statement().expect("sessions");
    assert!(sql.ends_with("a.pid IN (4101, 4102, 4103)"), "{sql}");
    answer(
        &mut survey,
        "id user address database state in_state in_transaction statement thread\n\
         4101 app 10.0.0.7:51234 shop idle_in_transaction 2.5 2.75 UPDATE_l1_SET_n=1 4101\n\
         4102 app local shop active 1.9 1.9 <insufficient_privilege> 4102",
    );
    assert_eq!(survey.next_statement(), None);
    let picture = survey.finish();
    let first = &picture.claims[0];
    assert_eq!((first.waiter, first.holder), (4102, Some(4101)));
    assert_eq!((first.object.as_str(), first.length), ("l1", Some(Nanos(1_874_120_000))));
    let holder = picture.session(4101).expect("it is there");
    assert_eq!((holder.state.as_str(), holder.thread), ("idle in transaction", Some(4101)));
    assert_eq!(holder.in_state, Some(Nanos(2_500_000_000)));
    assert_eq!(picture.session(4102).expect("it is there").statement, "");
    assert_eq!(picture.notes, [postgres::REMEDY]);
    // Where nobody waits, nobody's session is looked at.
    survey.next_statement().expect("claims");
    answer(&mut survey, "waiter holder lock object waited");
    assert_eq!(survey.next_statement(), None);
    assert!(survey.finish().claims.is_empty());
}

#[test]
fn mariadb_goes_on_without_its_plugin_and_says_how_to_get_it() {
    let mut survey = LockSurvey::new(Product::Mariadb, version("10.11.19-MariaDB"));
    survey.next_statement().expect("rows");
    answer(&mut survey, "waiter holder lock object waited\n31 30 row_lock d/l1 1.0000");
    let sql = survey.next_statement().expect("metadata");
    assert!(sql.contains("METADATA_LOCK_INFO"), "{sql}");
    refuse(&mut survey, "1109", "Unknown table 'METADATA_LOCK_INFO' in information_schema");
    let sql = survey.next_statement().expect("waiters alone");
    assert!(!sql.contains("METADATA_LOCK_INFO"), "{sql}");
    answer(
        &mut survey,
        "waiter holder lock object waited\n\
         32 NULL table_metadata_lock NULL 2\n33 NULL user_lock NULL 1",
    );
    let sql = survey.next_statement().expect("metadata, where that is on");
    assert!(sql.contains("performance_schema.metadata_locks"), "{sql}");
    answer(&mut survey, "waiter holder lock object waited\n33 30 user_lock NULL 1");
    let sql = survey.next_statement().expect("sessions");
    assert!(sql.contains("p.ID IN (30, 31, 32, 33)"), "{sql}");
    answer(
        &mut survey,
        "id USER address database state in_state in_transaction statement thread\n\
         30 root localhost d idle_in_transaction 1.2 2.0 NULL 812",
    );
    let sql = survey.next_statement().expect("statements that are not known");
    assert!(sql.contains("events_statements_current"), "{sql}");
    answer(&mut survey, "id statement\n30 UPDATE_l1\n99 odd");
    let picture = survey.finish();
    assert_eq!(picture.session(30).map(|one| one.statement.as_str()), Some("UPDATE l1"));
    assert_eq!(picture.session(30).map(|one| one.user.as_str()), Some("root"));
    let holders: Vec<_> = picture.claims.iter().map(|one| (one.waiter, one.holder)).collect();
    assert_eq!(holders, [(31, Some(30)), (32, None), (33, Some(30))]);
    assert!(picture.notes[0].contains("INSTALL SONAME 'metadata_lock_info'"), "{picture:?}");
    // What was refused is not asked again.
    survey.next_statement().expect("rows");
    answer(&mut survey, "waiter");
    assert!(!survey.next_statement().expect("waiters").contains("METADATA_LOCK_INFO"));
}

#[test]
fn a_missing_privilege_is_named_and_a_time_out_is_not_for_good() {
    let mut survey = LockSurvey::new(Product::Mysql, version("8.0.36"));
    let sql = survey.next_statement().expect("rows");
    assert!(sql.contains("data_lock_waits"), "{sql}");
    let denied = "SELECT command denied to user 'app'@'localhost' for table 'data_lock_waits'";
    refuse(&mut survey, "1142", denied);
    survey.next_statement().expect("metadata");
    let late = "Query execution was interrupted, maximum statement execution time exceeded";
    survey.take(Err(SurveyRefusal { code: "3024", message: late, is_passing: true }));
    assert_eq!(survey.next_statement(), None);
    let picture = survey.finish();
    assert!(picture.notes[0].contains("GRANT PROCESS"), "{picture:?}");
    assert!(picture.notes[1].contains("3024"), "{picture:?}");
    assert!(survey.next_statement().expect("metadata again").contains("metadata_locks"));
}

#[test]
fn every_version_has_its_own_statements() {
    let of = |product, text| {
        let mut survey = LockSurvey::new(product, version(text));
        let first = survey.next_statement().expect("something is asked");
        (first, survey.settings().join("; "))
    };
    let (old, settings) = of(Product::Postgres, "9.6.24");
    assert!(old.contains("query_start") && !settings.contains("idle_session"), "{old}");
    assert!(of(Product::Postgres, "18.0").1.contains("idle_session_timeout"));
    for (product, text) in [(Product::Mysql, "5.5.9"), (Product::Mariadb, "11.4.5")] {
        assert!(of(product, text).0.contains("INNODB_LOCK_WAITS"), "{text}");
    }
    assert!(of(Product::Mysql, "9.1.0").0.contains("data_lock_waits"));
    assert_eq!(LockSurvey::new(Product::Sqlite, version("3.1")).next_statement(), None);
}

proptest! {
    #[test]
    fn no_answer_is_too_odd(
        columns in proptest::collection::vec(
            "waiter|holder|id|waited|in_state|statement|thread|[a-z]{0,3}", 0..9),
        rows in proptest::collection::vec(proptest::collection::vec(
            proptest::option::of("-?[0-9]{0,25}|[0-9].[0-9]|nan|inf|\\PC{0,9}"), 0..9), 0..20),
        is_refused: bool,
        is_passing: bool,
    ) {
        for product in [Product::Mysql, Product::Mariadb, Product::Postgres] {
            let mut survey = LockSurvey::new(product, version("15.1"));
            let mut asked = 0;
            while survey.next_statement().is_some() {
                asked += 1;
                prop_assert!(asked < 20);
                survey.take(match is_refused {
                    true => Err(SurveyRefusal { code: "1227", message: "no", is_passing }),
                    false => Ok(SurveyAnswer { columns: &columns, rows: &rows }),
                });
            }
            let picture = survey.finish();
            prop_assert!(picture.claims.len() <= MAX_CLAIMS);
        }
    }
}
