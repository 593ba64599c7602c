//! Parameters of libpq's that have no effect here: a value that asks for nothing, or for what makes
//! no difference, is taken, and every other one is refused by name, so that nobody believes in what
//! is not done.

use crate::server::url::UrlError;

/// A parameter, its variable (empty: none), the values that are taken, and why there are no others.
type OtherParameter = (&'static str, &'static str, &'static [&'static str], &'static str);

const ONE_SERVER: &str = "one server is driven, so name the one that is meant";
const REVOKED: &str = "lists of revoked certificates are not looked at";
const VERSIONS: &str = "TLS 1.2 and 1.3 are spoken, whichever the server prefers";

/// By the manual of PostgreSQL 18, "Parameter Key Words" and "Environment Variables".
const OTHERS: [OtherParameter; 15] = [
    ("gssencmode", "PGGSSENCMODE", &["disable", "prefer"], "GSSAPI is not spoken"),
    ("target_session_attrs", "PGTARGETSESSIONATTRS", &["any", "prefer-standby"], ONE_SERVER),
    // Of one server each address is that server.
    ("load_balance_hosts", "PGLOADBALANCEHOSTS", &["disable", "random"], ONE_SERVER),
    ("hostaddr", "PGHOSTADDR", &[], "write the address as `host`"),
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
    // Where a server does not compress, and none does today, libpq does not either.
    ("sslcompression", "PGSSLCOMPRESSION", &["0", "1"], "TLS without compression is spoken"),
    ("sslsni", "PGSSLSNI", &["1"], "the server is told which host is meant"),
    ("replication", "", &["0", "off", "false", "no"], "statements are driven, not replication"),
    ("min_protocol_version", "PGMINPROTOCOLVERSION", &["3.0"], "protocol 3.0 is spoken"),
];

/// The names of all of them.
pub(super) fn other_names() -> impl Iterator<Item = &'static str> {
    OTHERS.iter().map(|(name, ..)| *name)
}

/// The parameter of this name, if it is one of them and its value is taken.
///
/// # Errors
/// It is one of them, and asks for something that is not done.
pub(super) fn check_other(name: &str, value: &str) -> Result<Option<&'static str>, UrlError> {
    let Some(other) = OTHERS.iter().find(|(known, ..)| *known == name) else { return Ok(None) };
    match is_taken(value, other) {
        true => Ok(Some(other.0)),
        false => Err(refused(name, other, format!("leave it out{}", or_written(other)))),
    }
}

/// Checks what the environment says of those that are not `given`.
///
/// # Errors
/// One of them asks for something that is not done.
pub(super) fn check_variables(
    given: &[&'static str],
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<(), UrlError> {
    let set = |(name, from, ..): &&OtherParameter| !from.is_empty() && !given.contains(name);
    for other in OTHERS.iter().filter(set) {
        let (name, from, taken, _) = other;
        if variable(from).is_some_and(|value| !is_taken(&value, other)) {
            // As with libpq a target may say otherwise, and if it be nothing.
            let own = taken.first().unwrap_or(&"");
            let remedy = format!("unset it, or write {name}={own} into the target");
            return Err(refused(from, other, remedy));
        }
    }
    Ok(())
}

fn is_taken(value: &str, (.., taken, _): &OtherParameter) -> bool {
    value.is_empty() || taken.contains(&value)
}

/// What else can be written.
fn or_written((.., taken, _): &OtherParameter) -> String {
    match taken.is_empty() {
        true => String::new(),
        false => format!(", or write {}", taken.join(" or ")),
    }
}

fn refused(name: &str, (.., why): &OtherParameter, remedy: String) -> UrlError {
    UrlError::Without { name: name.to_owned(), why, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_for_nothing_is_taken_and_the_rest_refused_by_name() {
        assert_eq!(check_other("gssencmode", "prefer"), Ok(Some("gssencmode")));
        assert_eq!(check_other("sslmode", "require"), Ok(None), "one that has its effect");
        assert_eq!(check_other("hostaddr", ""), Ok(Some("hostaddr")));
        let error = check_other("gssencmode", "require").expect_err("refused");
        let text = "dbtime does not support this `gssencmode`: GSSAPI is not spoken; leave it out, \
                    or write disable or prefer";
        assert_eq!(error.to_string(), text);
        assert!(!check_other("hostaddr", "::1").expect_err("refused").to_string().contains("or "));
    }

    #[test]
    fn a_variable_is_refused_unless_the_target_says_otherwise() {
        let set = |name: &str| (name == "PGREQUIREPEER").then(|| "postgres".to_owned());
        let error = check_variables(&[], &set).expect_err("refused").to_string();
        let remedy = "unset it, or write requirepeer= into the target";
        assert!(error.contains("`PGREQUIREPEER`") && error.ends_with(remedy), "{error}");
        assert_eq!(check_variables(&["requirepeer"], &set), Ok(()));
        let set = |name: &str| (name == "PGTARGETSESSIONATTRS").then(|| "any".to_owned());
        assert_eq!(check_variables(&[], &set), Ok(()));
    }
}
