//! The shape of a text: the same for statements that differ in literals, comments and names that
//! clients make up, and another where they differ in anything else.

use super::server::WatchedServer;
use dbtime_model::WireProtocol;
use dbtime_observe::trace::CaptureConfig;
use proptest::collection::vec;
use proptest::prelude::*;

/// `enum protocol` and `enum request_flags`.
const MYSQL: (u32, u32) = (1, 0);
const NO_ESCAPES: (u32, u32) = (1, 2048);
const QUOTED_NAMES: (u32, u32) = (1, 4096);
const POSTGRES: (u32, u32) = (2, 0);

/// What finds shapes.
struct Shapes(WatchedServer);

impl Shapes {
    fn new() -> Self {
        Self(WatchedServer::new(WireProtocol::Mysql, &CaptureConfig::default()))
    }

    fn of(&mut self, rules: (u32, u32), text: &str) -> u64 {
        self.0.capture.shape(&mut self.0.machine, rules, text.as_bytes())
    }

    /// Whether all of these have the same.
    fn are_one(&mut self, rules: (u32, u32), texts: &[&str]) -> bool {
        let first = self.of(rules, texts[0]);
        texts.iter().all(|text| self.of(rules, text) == first)
    }
}

#[test]
fn literals_and_comments_make_no_difference() {
    let mut shapes = Shapes::new();
    for (rules, texts) in [
        (
            MYSQL,
            &["SELECT 'a\\'b', c", "SELECT 'x', c", "SELECT \"a'b\", c", "SELECT 1.5e3, c"][..],
        ),
        (MYSQL, &["SELECT a -- it's\n, b", "SELECT a # it's\n, b", "SELECT a /* it's */, b"]),
        (MYSQL, &["SELECT 0x1F, a", "SELECT 0b01, a", "SELECT 12, a"]),
        (NO_ESCAPES, &["SELECT 'C:\\', 'x', c", "SELECT 'y', c"]),
        (POSTGRES, &["SELECT 'C:\\', 'x', c", "SELECT $$it's$$, c", "SELECT $t$a $$ b$t$, c"]),
        (POSTGRES, &["SELECT E'it\\'s', c", "SELECT E'x''y\\'', c"]),
        (POSTGRES, &["SELECT a/* /* it's */ b */, c", "SELECT a-- it's\n, c", "SELECT a, c"]),
    ] {
        assert!(shapes.are_one(rules, texts), "{texts:?}");
    }
}

#[test]
fn names_that_are_made_up_make_no_difference() {
    let mut shapes = Shapes::new();
    for texts in [
        &["SAVEPOINT s1", "SAVEPOINT savepoint_2", "SAVEPOINT \"a b\""][..],
        &["RELEASE SAVEPOINT s1", "RELEASE SAVEPOINT s2"],
        &[" ROLLBACK TO SAVEPOINT s1", " ROLLBACK TO SAVEPOINT s2"],
        &["FETCH 100 FROM c1", "FETCH 50 FROM c2"],
        &["DECLARE c1 CURSOR FOR SELECT a", "DECLARE c2 CURSOR FOR SELECT a"],
        &["ROLLBACK TO s1; SELECT a", "ROLLBACK TO s2; SELECT a"],
        &["SELECT a; CLOSE c1", "SELECT a; CLOSE c2"],
    ] {
        assert!(shapes.are_one(POSTGRES, texts), "{texts:?}");
    }
    for (one, other) in [
        ("ROLLBACK", "ROLLBACK TO s1"),
        ("DECLARE c CURSOR FOR SELECT a", "DECLARE c CURSOR FOR SELECT b"),
        ("ROLLBACK TO s1; SELECT a", "ROLLBACK TO s1; SELECT b"),
        ("DEALLOCATE ALL", "DEALLOCATE s1"),
    ] {
        assert_ne!(shapes.of(POSTGRES, one), shapes.of(POSTGRES, other), "{one}");
    }
}

#[test]
fn names_and_operators_do_make_one() {
    let mut shapes = Shapes::new();
    for (rules, one, other) in [
        (POSTGRES, "SELECT \"orders\".\"id\"", "SELECT \"items\".\"id\""),
        (QUOTED_NAMES, "SELECT \"orders\"", "SELECT \"items\""),
        (MYSQL, "SELECT `a's` FROM t", "SELECT `b's` FROM u"),
        (MYSQL, "SELECT * FROM 2020_orders", "SELECT * FROM 2021_orders"),
        (MYSQL, "SELECT 1, 2020_orders.a", "SELECT 1, 2021_orders.a"),
        (MYSQL, "SELECT * FROM d.2020", "SELECT * FROM d.2021"),
        (MYSQL, "SELECT 5--1, note", "SELECT 5--1, other"),
        (POSTGRES, "SELECT 5 # 3, note", "SELECT 5 # 3, other"),
        (POSTGRES, "SELECT j #>> '{a}' = b", "SELECT j #> '{a}' = b"),
        (POSTGRES, "SELECT $1, a", "SELECT $1, b"),
        (POSTGRES, "SELECT $$a$$, b", "SELECT $$a$$, c"),
        (POSTGRES, "SELECT /* /* */ */ a", "SELECT /* /* */ */ b"),
    ] {
        assert_ne!(shapes.of(rules, one), shapes.of(rules, other), "{one}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// A text of any length has a shape, which the length of lists of literals does not change.
    #[test]
    fn any_text_has_a_shape(text in vec(any::<u8>(), 0..1500), lists in vec(1..30usize, 2..4)) {
        let mut server = WatchedServer::new(WireProtocol::Mysql, &CaptureConfig::default());
        for rules in [MYSQL, NO_ESCAPES, QUOTED_NAMES, POSTGRES] {
            prop_assert!(server.capture.shape(&mut server.machine, rules, &text) > 1);
            let mut of_list = |length: usize| {
                let text = vec!["'x', 12"; length].join(", ");
                let text = format!("SELECT a FROM t WHERE b IN ({text})");
                server.capture.shape(&mut server.machine, rules, text.as_bytes())
            };
            let first = of_list(1);
            prop_assert!(lists.iter().all(|&length| of_list(length) == first));
        }
    }
}
