//! Trees as they are drawn, and that no picture is too much for them.

use super::*;
use proptest::prelude::*;

fn claim(waiter: u64, holder: Option<u64>, seconds: u64) -> LockClaim {
    let (lock, object) = ("row lock".to_owned(), "l1".to_owned());
    LockClaim { waiter, holder, lock, object, length: Some(Nanos::from_secs(seconds)) }
}

fn session(id: u64) -> ServerSession {
    ServerSession {
        id,
        user: "app".to_owned(),
        address: format!("10.0.0.7:{id}"),
        database: "shop".to_owned(),
        state: if id == 1 { "idle in transaction" } else { "active" }.to_owned(),
        in_state: Some(Nanos::from_secs(24)),
        in_transaction: (id == 1).then_some(Nanos::from_secs(25)),
        statement: format!("UPDATE l1\n SET n = {id}"),
        thread: None,
    }
}

fn picture(claims: Vec<LockClaim>) -> LockPicture {
    let ids: BTreeSet<u64> =
        claims.iter().flat_map(|claim| [Some(claim.waiter), claim.holder]).flatten().collect();
    let sessions = ids.into_iter().filter(|id| *id > 0 && *id < 90).map(session).collect();
    LockPicture { sessions, claims, ends_with: "KILL ID", ..LockPicture::default() }
}

#[test]
fn the_holder_stands_above_those_that_wait_for_it() {
    let claims = [claim(2, Some(1), 22), claim(3, Some(2), 9), claim(4, Some(2), 11)];
    let picture = picture(claims.to_vec());
    assert_eq!(
        lock_summary(&picture),
        "3 wait for locks, for up to 22.0 s; KILL ID ends a session"
    );
    let expected = [
        "1 app@10.0.0.7:1 shop: idle in transaction for 24.0 s, transaction open for 25.0 s",
        "  last: UPDATE l1 SET n = 1",
        "└ 2 22.0 s for row lock on l1: UPDATE l1 SET n = 2 (app@10.0.0.7:2 shop)",
        "  └ 4 11.0 s for row lock on l1: UPDATE l1 SET n = 4 (app@10.0.0.7:4 shop)",
        "  └ 3 9.00 s for row lock on l1: UPDATE l1 SET n = 3 (app@10.0.0.7:3 shop)",
    ];
    assert_eq!(lock_tree(&picture, 100), expected);
    assert_eq!(lock_tree(&picture, 2)[2], "… and 3 more lines");
}

#[test]
fn who_waits_for_several_stands_below_each_of_them() {
    let claims = [claim(3, Some(1), 5), claim(3, Some(2), 5), claim(4, Some(3), 1)];
    let lines = lock_tree(&picture(claims.to_vec()), 100);
    let starting = |text: &str| lines.iter().filter(|line| line.contains(text)).count();
    assert_eq!((starting("└ 3 "), starting("└ 4 ")), (2, 1), "{lines:?}");
}

#[test]
fn holders_without_a_session_and_circles_have_a_line() {
    let claims =
        [claim(2, None, 5), claim(3, Some(0), 4), claim(4, Some(99), 3), claim(7, Some(7), 1)];
    let lines = lock_tree(&picture(claims.to_vec()), 100);
    assert_eq!(lines[0], "a session that is not known");
    assert_eq!(lines[2], "0 a prepared transaction, see pg_prepared_xacts");
    assert_eq!((lines[4].as_str(), lines.len()), ("99 ended", 6));
    let claims = [claim(5, Some(6), 2), claim(6, Some(5), 2), claim(7, Some(6), 1)];
    let lines = lock_tree(&picture(claims.to_vec()), 100);
    assert!(lines[0].starts_with("6 ") && lines[0].ends_with("(waits in a circle)"), "{lines:?}");
    assert_eq!(lines.len(), 4, "{lines:?}");
}

#[test]
fn a_chain_of_a_thousand_is_drawn() {
    let claims = (1..1000).map(|n| claim(n + 1, Some(n), 1)).collect();
    let lines = lock_tree(&picture(claims), 5000);
    assert_eq!(lines.len(), 1001);
    assert!(lines.iter().all(|line| line.len() < 200));
}

proptest! {
    #[test]
    fn every_waiter_has_a_line_and_no_picture_is_too_odd(
        pairs in proptest::collection::vec((0u64..12, proptest::option::of(0u64..12)), 0..60),
        text in "\\PC{0,20}|\u{1b}\\[2J",
    ) {
        let claims: Vec<_> = pairs.iter().map(|(w, h)| claim(*w, *h, *w)).collect();
        let mut picture = picture(claims);
        picture.sessions.iter_mut().for_each(|one| {
            (one.user, one.statement, one.state) = (text.clone(), text.clone(), text.clone());
        });
        let lines = lock_tree(&picture, 1000);
        let others = pairs.iter().filter(|(w, h)| Some(*w) != *h);
        let waiters: HashSet<u64> = others.map(|(waiter, _)| *waiter).collect();
        for waiter in waiters {
            let number = waiter.to_string();
            let is_its = |line: &String| {
                line.trim_start_matches([' ', '└']).split([' ', ':']).next() == Some(&number)
            };
            prop_assert!(lines.iter().any(is_its), "{waiter}: {lines:?}");
        }
        let is_plain = lines.iter().all(|line| !line.contains('\u{1b}'));
        prop_assert!(is_plain);
        prop_assert!(lines.len() <= 3 * pairs.len() + 1);
    }
}
