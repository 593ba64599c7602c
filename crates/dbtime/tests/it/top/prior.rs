//! What went on before `dbtime top` looked.

use super::holders::Planted;
use super::*;
use crate::given_server::{PRODUCTS, patient};
use crate::lock_client::LockClient;

/// Starts `dbtime top` when three wait for one that does nothing.
fn opened_behind(
    sandbox: &Sandbox,
    server: &GivenServer,
    product: Product,
    options: &str,
) -> Option<(Planted, Screen)> {
    let planted = Planted::begin(product, server);
    server.until_waiting(3);
    Screen::open_with(sandbox, server, options).map(|screen| (planted, screen))
}

/// Nothing of it is left, where all of it is over.
fn is_over(mut screen: Screen, planted: Planted) {
    planted.end();
    screen.shows_times("from before", 0);
    screen.press("q");
    assert_eq!(screen.ended().0, Some(0));
}

#[test]
fn who_waits_since_before_it_looked_is_counted_and_named_by_the_server_s_titles() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, patient(product)));
        let opened = opened_behind(&sandbox, &server, product, "");
        let Some((planted, mut screen)) = opened else { return };
        screen.press("2");
        match product {
            Product::Postgres => screen.shows(&[
                " 3 locked from before dbtime looked",
                "0 busy + 3 from before",
                "transactionid",
                "idle in trans",
                "(before dbtime looked)",
            ]),
            // Which threads wait nobody knows but the server.
            _ => screen
                .shows(&["0 busy + up to 3 from before", ": up to 3 of 4 clients may be busy"]),
        };
        is_over(screen, planted);
    }
}

#[test]
fn a_login_says_what_it_is_that_goes_on_since_before() {
    for product in PRODUCTS {
        let (sandbox, server) = (Sandbox::new(), GivenServer::start(product, patient(product)));
        let login = format!("--login '{}'", server.target());
        let opened = opened_behind(&sandbox, &server, product, &login);
        let Some((planted, mut screen)) = opened else { return };
        screen.press("2");
        let lock = if product == Product::Postgres { "transactionid" } else { "row lock" };
        screen.shows(&[
            " 3 locked from before dbtime looked",
            "0 busy + 3 from before",
            lock,
            "idle in trans",
            "(before dbtime looked) UPDA",
        ]);
        // The tree has the same.
        screen.press("3");
        screen.shows(&["Now: 3 wait for locks, for up to ", " 3 locked from before dbtime looked"]);
        is_over(screen, planted);
    }
}

#[test]
fn each_row_has_its_server_where_there_are_two() {
    let sandbox = Sandbox::new();
    let [one, other] = PRODUCTS.map(|product| GivenServer::start(product, &[]));
    let also = format!("-p {}", other.server.pid());
    let Some(mut screen) = Screen::open_with(&sandbox, &one, &also) else { return };
    let mut clients = [(PRODUCTS[0], &one), (PRODUCTS[1], &other)]
        .map(|(product, server)| LockClient::connect(product, server));
    clients.iter_mut().for_each(|client| client.sign("here"));
    screen.press("2");
    let rows = [&one, &other].map(|server| format!("\n{:>7} ", server.server.pid()));
    screen.shows(&[" Server ", &rows[0], &rows[1]]);
    screen.press("q");
    assert_eq!(screen.ended().0, Some(0));
}
