//! The statements of the steps, as pgbench 15.18 sends them and as the other databases need them.

use super::*;
use dbtime_model::SqlDialect;

fn sql(letters: &str, what: &PgbenchTables) -> Vec<String> {
    let steps = init_steps(letters, what).expect("steps that there are");
    let work = steps.into_iter().flat_map(|step| step.work);
    let text = |work| match work {
        StepWork::Sql(sql) => sql,
        StepWork::Load(table) => format!("load {}", table.name()),
    };
    work.map(text).collect()
}

#[test]
fn the_default_steps_are_those_of_pgbench() {
    let expected = [
        "drop table if exists pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers",
        "create table pgbench_history(tid int,bid int,aid int,delta int,mtime timestamp,filler char(22))",
        "create table pgbench_tellers(tid int not null,bid int,tbalance int,filler char(84)) with (fillfactor=100)",
        "create table pgbench_accounts(aid int not null,bid int,abalance int,filler char(84)) with (fillfactor=100)",
        "create table pgbench_branches(bid int not null,bbalance int,filler char(88)) with (fillfactor=100)",
        "begin",
        "truncate table pgbench_accounts, pgbench_branches, pgbench_history, pgbench_tellers",
        "load pgbench_branches",
        "load pgbench_tellers",
        "load pgbench_accounts",
        "commit",
        "vacuum analyze pgbench_branches",
        "vacuum analyze pgbench_tellers",
        "vacuum analyze pgbench_accounts",
        "vacuum analyze pgbench_history",
        "alter table pgbench_branches add primary key (bid)",
        "alter table pgbench_tellers add primary key (tid)",
        "alter table pgbench_accounts add primary key (aid)",
    ];
    assert_eq!(sql(DEFAULT_STEPS, &PgbenchTables::default()), expected);
    let steps = init_steps(STEPS, &PgbenchTables::default()).expect("all steps");
    assert!(steps.iter().map(|step| step.letter).eq(STEPS.chars()), "{steps:?}");
}

#[test]
fn partitions_and_tablespaces_are_asked_for() {
    let what = PgbenchTables {
        scale: 20_000,
        fillfactor: 80,
        tablespace: Some("a\"b".to_owned()),
        index_tablespace: Some("i".to_owned()),
        unlogged: true,
        partitions: Some(PartitionScheme::Range(3)),
        ..PgbenchTables::default()
    };
    let created = sql("t p", &what);
    let accounts = "create unlogged table pgbench_accounts(aid bigint not null,bid int,abalance \
                    int,filler char(84)) partition by range (aid) tablespace \"a\"\"b\"";
    assert_eq!(created[2], accounts);
    let second = "create unlogged table pgbench_accounts_2\n  partition of pgbench_accounts\n  \
                  for values from (666666668) to (1333333335) with (fillfactor=80)";
    assert_eq!(created[5], second);
    assert!(created[4].contains("from (minvalue) to (666666668)"));
    assert!(created[6].contains("from (1333333335) to (maxvalue)"));
    let key = "alter table pgbench_branches add primary key (bid) using index tablespace \"i\"";
    assert_eq!(created[7], key);
    let what =
        PgbenchTables { partitions: Some(PartitionScheme::Hash(2)), ..PgbenchTables::default() };
    assert!(
        sql("t", &what)[5].contains("for values with (modulus 2, remainder 1) with (fillfactor")
    );
}

#[test]
fn the_server_can_make_the_rows_itself() {
    let of = |dialect| sql("G", &PgbenchTables { dialect, scale: 2, ..PgbenchTables::default() });
    let tellers = "insert into pgbench_tellers(tid,bid,tbalance) \
                   select n, (n - 1) / 10 + 1, 0 from generate_series(1, 20) as n";
    assert_eq!(of(SqlDialect::Postgres)[3], tellers);
    let on_sqlite = of(SqlDialect::Sqlite);
    assert!(on_sqlite[6].ends_with("select n, (n - 1) / 10 + 1, 0 from series"), "{on_sqlite:?}");
    let on_mysql = &of(SqlDialect::Mysql)[6];
    assert!(
        on_mysql
            .contains("select n, (n - 1) div 10 + 1, 0 from (select t0.d * 1 + t1.d * 10 + 1 as n")
    );
    assert!(on_mysql.ends_with("series where n <= 20 order by n"));
}

#[test]
fn the_others_get_what_they_can_do() {
    let of =
        |dialect, letters| sql(letters, &PgbenchTables { dialect, ..PgbenchTables::default() });
    let accounts = "create table pgbench_accounts(aid integer primary key not null,bid int,\
                    abalance int,filler char(84))";
    assert_eq!(of(SqlDialect::Sqlite, "t")[2], accounts);
    assert!(of(SqlDialect::Sqlite, "pf").is_empty());
    let teller = "foreign key (bid) references pgbench_branches(bid))";
    assert!(of(SqlDialect::Sqlite, "tf")[1].ends_with(teller), "with the table or never");
    assert_eq!(of(SqlDialect::Sqlite, "v")[0], "analyze pgbench_branches");
    assert_eq!(of(SqlDialect::Mysql, "v")[0], "analyze table pgbench_branches");
    let key = "alter table pgbench_history add constraint pgbench_history_aid_fkey \
               foreign key (aid) references pgbench_accounts(aid)";
    assert_eq!(of(SqlDialect::Mysql, "f")[4], key);
    assert_eq!(of(SqlDialect::Mysql, "d")[0], "drop table if exists pgbench_history");
    let parts = |partitions| PgbenchTables {
        dialect: SqlDialect::Mysql,
        partitions: Some(partitions),
        ..PgbenchTables::default()
    };
    let range = &sql("t", &parts(PartitionScheme::Range(2)))[2];
    assert!(range.ends_with(
        " partition by range (aid) (partition p1 values less than (50001), \
         partition p2 values less than maxvalue)"
    ));
    assert!(sql("t", &parts(PartitionScheme::Hash(4)))[2].ends_with("hash (aid) partitions 4"));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |letters, what: PgbenchTables| init_steps(letters, &what).expect_err("refused");
    assert_eq!(refused("", PgbenchTables::default()), "no initialization steps specified");
    let error = refused("dx", PgbenchTables::default());
    assert!(error.starts_with("unrecognized initialization step \"x\""), "{error}");
    let dialect = SqlDialect::Mysql;
    let error = refused("t", PgbenchTables { dialect, fillfactor: 80, ..PgbenchTables::default() });
    assert!(error.contains("leave them out"), "{error}");
    let error = refused("t", PgbenchTables { fillfactor: 5, ..PgbenchTables::default() });
    assert_eq!(error, "fillfactor must be in range 10..100, not 5");
    let sqlite = PgbenchTables {
        dialect: SqlDialect::Sqlite,
        partitions: Some(PartitionScheme::Hash(2)),
        ..PgbenchTables::default()
    };
    assert!(refused("t", sqlite).contains("no partitions"));
}
