//! What is asked of a server for a sample, and the version that decides what can be.
//!
//! Executing a query needs a login and is done elsewhere; its columns and rows go to
//! [`add_rows`](super::add_rows).

/// Something to ask a server for a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CounterQuery {
    /// What [`add_rows`](super::add_rows) is to be told the rows are.
    pub group: &'static str,
    /// The statement. Without parameters, read-only, and to be executed in auto-commit: within a
    /// transaction PostgreSQL answers the same again.
    pub sql: String,
    /// Whether the server may refuse it: then the sample does without the group.
    pub is_optional: bool,
}

/// Version of a server, as far as it decides what can be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ServerVersion {
    /// 15 of 15.18, 9 of 9.6.24.
    pub major: u32,
    /// 18 of 15.18, 6 of 9.6.24.
    pub minor: u32,
}

impl ServerVersion {
    /// Reads what a server says of itself: `15.18 (Debian 15.18-0+deb12u1)`, `18beta1`,
    /// `10.11.19-MariaDB`, or `5.5.5-10.11.19-MariaDB`, as MariaDB says for old clients.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("5.5.5-").unwrap_or(text);
        let mut numbers = text.split('.').map(|part| {
            let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
            part[..end].parse().ok()
        });
        let major = numbers.next()??;
        let minor = numbers.next().flatten().unwrap_or(0);
        Some(Self { major, minor })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_off_what_servers_say() {
        let of = |text| ServerVersion::parse(text).map(|version| (version.major, version.minor));
        assert_eq!(of("15.18 (Debian 15.18-0+deb12u1)"), Some((15, 18)));
        assert_eq!(of("9.6.24"), Some((9, 6)));
        assert_eq!(of("18beta1"), Some((18, 0)));
        assert_eq!(of("5.5.5-10.11.19-MariaDB-0+deb12u1"), Some((10, 11)));
        assert_eq!(of("5.5.9-log"), Some((5, 5)));
        assert_eq!([of(""), of("x"), of("99999999999999.1")], [None; 3]);
    }
}
