//! What else may listen on a port, by the first bytes that it sends.

/// How the first bytes of a service begin, and what it is.
const GREETINGS: [(&[u8], &str); 7] = [
    (b"HTTP/", "an HTTP server"),
    (b"SSH-", "an SSH server"),
    (b"220", "a mail or FTP server"),
    (b"+OK", "a mail server"),
    (b"* OK", "a mail server"),
    (b"-ERR", "a Redis server"),
    // An alert: it speaks TLS alone, and does not understand what was sent.
    (b"\x15\x03", "a server that speaks TLS from its first byte on"),
];

/// The service that sends these bytes first; `None` where they say nothing, or too little as yet.
pub(crate) fn service_of(bytes: &[u8]) -> Option<&'static str> {
    // A short packet, the first one, the protocol's version, the server's.
    let is_mysql = matches!(bytes, [_, 0, 0, 0, 10, digit, ..] if digit.is_ascii_digit());
    if is_mysql {
        return Some("a MySQL or MariaDB server (mysql://)");
    }
    let found = GREETINGS.iter().find(|(start, _)| bytes.starts_with(start));
    found.map(|(_, service)| *service)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_known_by_their_first_bytes() {
        let name = |bytes: &[u8]| service_of(bytes).unwrap_or_default();
        assert!(name(b"HTTP/1.1 400 Bad Request\r\n").contains("HTTP"));
        assert!(name(b"SSH-2.0-OpenSSH_9.2p1\r\n").contains("SSH"));
        assert!(name(b"220 mail.example ESMTP\r\n").contains("mail"));
        assert!(name(b"-ERR unknown command\r\n").contains("Redis"));
        assert!(name(b"\x15\x03\x03\0\x02\x02\x46").contains("TLS"));
        assert!(name(b"\x5b\0\0\0\x0a5.5.5-10.11.19-MariaDB\0").contains("MariaDB"));
        for bytes in [&b""[..], b"S", b"N", b"R\0\0\0\x08\0\0\0\0", b"E\0\0\0\x0aS\0"] {
            assert_eq!(service_of(bytes), None);
        }
    }
}
