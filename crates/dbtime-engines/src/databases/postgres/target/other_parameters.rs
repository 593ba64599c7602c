//! Parameters of libpq's that have no effect here: a value that asks for nothing is taken, and
//! every other one is refused by name, so that nobody believes in what is not done.

use crate::server::url::UrlError;

/// A parameter, its variable (empty: none), the values that ask for nothing, and why there are no
/// others.
type OtherParameter = (&'static str, &'static str, &'static [&'static str], &'static str);

const ONE_SERVER: &str = "one server is driven: name the one that is meant";
const REVOKED: &str = "lists of revoked certificates are not looked at";
const VERSIONS: &str = "TLS 1.2 and 1.3 are spoken, whichever the server prefers";
const KEPT_ALIVE: &str = "connections are busy, and what no longer answers is seen by \
                          --statement-timeout";

/// By the manual of PostgreSQL 18, "Parameter Key Words" and "Environment Variables".
const OTHERS: [OtherParameter; 21] = [
    ("gssencmode", "PGGSSENCMODE", &["disable", "prefer"], "GSSAPI is not spoken"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS", &["any"], ONE_SERVER),
    ("load_balance_hosts", "PGLOADBALANCEHOSTS", &["disable"], ONE_SERVER),
    ("hostaddr", "PGHOSTADDR", &[], "write the address as `host`"),
    ("require_auth", "PGREQUIREAUTH", &[], "the server's pg_hba.conf chooses the login"),
    ("requirepeer", "PGREQUIREPEER", &[], "who runs a server is not looked at"),
    ("sslcrl", "PGSSLCRL", &[], REVOKED),
    ("sslcrldir", "PGSSLCRLDIR", &[], REVOKED),
    (
        "ssl_min_protocol_version",
        "PGSSLMINPROTOCOLVERSION",
        &["TLSv1", "TLSv1.1", "TLSv1.2"],
        VERSIONS,
    ),
    ("ssl_max_protocol_version", "PGSSLMAXPROTOCOLVERSION", &["TLSv1.3"], VERSIONS),
    ("sslnegotiation", "PGSSLNEGOTIATION", &["postgres"], "the server is asked for TLS first"),
    ("sslcertmode", "PGSSLCERTMODE", &["allow"], "a certificate is shown where one is wanted"),
    ("sslcompression", "PGSSLCOMPRESSION", &["0"], "TLS without compression is spoken"),
    ("sslsni", "PGSSLSNI", &["1"], "the server is told which host is meant"),
    ("keepalives", "", &["0"], KEPT_ALIVE),
    ("keepalives_idle", "", &["0"], KEPT_ALIVE),
    ("keepalives_interval", "", &["0"], KEPT_ALIVE),
    ("keepalives_count", "", &["0"], KEPT_ALIVE),
    ("tcp_user_timeout", "", &["0"], KEPT_ALIVE),
    ("replication", "", &["0", "off", "false", "no"], "statements are driven, not replication"),
    ("min_protocol_version", "PGMINPROTOCOLVERSION", &["3.0"], "protocol 3.0 is spoken"),
];

/// Whether a parameter is one of them, and asks for nothing.
///
/// # Errors
/// It is one of them, and asks for something.
pub(super) fn check_other(name: &str, value: &str) -> Result<bool, UrlError> {
    match OTHERS.iter().find(|(known, ..)| *known == name) {
        None => Ok(false),
        Some(other) => check(name, value, other).map(|()| true),
    }
}

/// Checks what the environment says of them.
///
/// # Errors
/// One of them asks for something.
pub(super) fn check_variables(variable: &dyn Fn(&str) -> Option<String>) -> Result<(), UrlError> {
    let set = OTHERS.iter().filter(|(_, from, ..)| !from.is_empty());
    for other in set {
        if let Some(value) = variable(other.1) {
            check(other.1, &value, other)?;
        }
    }
    Ok(())
}

fn check(name: &str, value: &str, (.., taken, why): &OtherParameter) -> Result<(), UrlError> {
    match value.is_empty() || taken.contains(&value) {
        true => Ok(()),
        false => Err(UrlError::Without {
            name: name.to_owned(),
            why,
            taken: taken.iter().map(|value| format!(", or write {value}")).collect(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_nothing_is_taken_and_the_rest_refused_by_name() {
        assert_eq!(check_other("gssencmode", "prefer"), Ok(true));
        assert_eq!(check_other("sslmode", "require"), Ok(false), "one that has its effect");
        assert_eq!(check_other("hostaddr", ""), Ok(true));
        let error = check_other("target_session_attrs", "read-write").expect_err("refused");
        let text = "dbtime does nothing of `target_session_attrs`: one server is driven: name the \
                    one that is meant; leave it out, or write any";
        assert_eq!(error.to_string(), text);
        let set = |name: &str| (name == "PGREQUIREAUTH").then(|| "none".to_owned());
        let error = check_variables(&set).expect_err("refused").to_string();
        assert!(error.contains("`PGREQUIREAUTH`"), "{error}");
        assert_eq!(check_variables(&|_| None), Ok(()));
    }
}
