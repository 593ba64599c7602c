//! What goes wrong with a socket, and what is said of it.

use super::address::ServerAddress;
use dbtime_load::failure::DatabaseFailure;
use dbtime_model::plain_text::legible;
use dbtime_model::{ErrorClass, Nanos};
use rustix::io::Errno;
use rustls::{AlertDescription, CertificateError, Error, PeerIncompatible};
use std::io;

/// Why nothing more can be sent or received.
#[derive(Debug)]
pub(super) enum IoFailure {
    /// The system says so.
    System(Errno),
    /// Encryption does.
    Tls(Error),
}

impl From<Errno> for IoFailure {
    fn from(error: Errno) -> Self {
        Self::System(error)
    }
}

impl IoFailure {
    /// What rustls passes on from the socket, or says itself.
    pub(super) fn of(error: &io::Error) -> Self {
        match Errno::from_io_error(error) {
            Some(errno) => Self::System(errno),
            None => {
                let source = error.get_ref().and_then(|error| error.downcast_ref::<Error>());
                Self::Tls(source.cloned().unwrap_or_else(|| Error::General(error.to_string())))
            }
        }
    }

    /// With its cause and what to do.
    #[cold]
    pub(super) fn at(self, address: &ServerAddress) -> DatabaseFailure {
        match self {
            Self::System(error) => system_failure(error, address),
            Self::Tls(error) => tls_failure(&error, address),
        }
    }
}

/// A statement was not answered in time.
pub(super) fn timed_out(limit: Option<Nanos>) -> DatabaseFailure {
    let limit = limit.unwrap_or_default();
    let text = format!(
        "no answer within {limit}: the connection was given up; see what the server is busy with"
    );
    DatabaseFailure { class: ErrorClass::Timeout, ..DatabaseFailure::connection("timeout", text) }
}

/// What TLS says of a connection, with what to do.
fn tls_failure(error: &Error, address: &ServerAddress) -> DatabaseFailure {
    let text = match error {
        Error::AlertReceived(alert) => alerted(*alert),
        Error::PeerIncompatible(PeerIncompatible::ServerDoesNotSupportTls12Or13) => Some(TOO_OLD),
        Error::InvalidCertificate(why) => {
            return DatabaseFailure::connection("tls", refused(why, address));
        }
        _ => None,
    };
    let text = text.map_or_else(|| error.to_string(), str::to_owned);
    DatabaseFailure::connection("tls", format!("{address}: TLS: {text}"))
}

const TOO_OLD: &str =
    "the server speaks only TLS 1.1 or older: let it speak TLS 1.2, or disable TLS";

/// What the server refuses us for.
fn alerted(alert: AlertDescription) -> Option<&'static str> {
    Some(match alert {
        AlertDescription::HandshakeFailure => {
            "the server aborted the handshake: there is no cipher suite in common, or a client \
             certificate is wanted (ssl-cert and ssl-key, sslcert and sslkey)"
        }
        AlertDescription::CertificateRequired
        | AlertDescription::UnknownCA
        | AlertDescription::BadCertificate => {
            "the server wants a client's certificate from an authority that it knows (ssl-cert and \
             ssl-key, sslcert and sslkey)"
        }
        AlertDescription::ProtocolVersion => TOO_OLD,
        _ => return None,
    })
}

/// Why the server's certificate is not believed, and what to do.
fn refused(why: &CertificateError, address: &ServerAddress) -> String {
    use CertificateError as Why;
    let (text, remedy) = match why {
        Why::Expired | Why::ExpiredContext { .. } => ("has expired", "renew it"),
        Why::NotValidYet | Why::NotValidYetContext { .. } => {
            ("is not valid yet", "compare the clocks of both machines")
        }
        Why::UnknownIssuer | Why::BadSignature => (
            "comes from an unknown authority",
            "name the authority that signed it (ssl-ca, sslrootcert)",
        ),
        Why::NotValidForName | Why::NotValidForNameContext { .. } => {
            ("is made out to another name (a CN counts for none)", "use that name, or verify-ca")
        }
        Why::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
            ("belongs to an authority itself", "give the server one that the authority has signed")
        }
        _ => ("is not accepted", "give the server another one"),
    };
    // What comes without words is the name of a variant.
    let more = match why {
        Why::ExpiredContext { .. }
        | Why::NotValidYetContext { .. }
        // The names that a certificate is made out to are its own words.
        | Why::NotValidForNameContext { .. } => format!(" ({})", legible(&why.to_string())),
        Why::Other(other) => format!(" ({})", legible(&other.to_string())),
        _ => String::new(),
    };
    format!(
        "{address}: TLS: the server's certificate {text}{more}: {remedy}, or encrypt without \
         checking it (ssl-mode=required; sslmode=require, without sslrootcert)"
    )
}

/// What the system says of a connection, with its cause and what to do.
fn system_failure(error: Errno, address: &ServerAddress) -> DatabaseFailure {
    let (code, text) = match error {
        Errno::CONNREFUSED => (
            "ECONNREFUSED",
            "nothing listens there, or its queue is full: start the server, or check host and port",
        ),
        Errno::NOENT => ("ENOENT", "there is no such socket: is the server running?"),
        Errno::ACCESS => ("EACCES", "this user may not use that socket"),
        Errno::CONNRESET => ("ECONNRESET", "the server broke the connection"),
        Errno::PIPE => ("EPIPE", "the server has closed the connection"),
        Errno::NOTCONN => (
            "ENOTCONN",
            "the connection was given up before this could be sent, as the server closed it or \
             sent answers to no request: see its log, and whether something else is between",
        ),
        Errno::TIMEDOUT => ("ETIMEDOUT", "nothing answers there: is a firewall between?"),
        Errno::HOSTUNREACH => ("EHOSTUNREACH", "there is no way to that host"),
        Errno::NETUNREACH => ("ENETUNREACH", "there is no way to that network"),
        Errno::ADDRNOTAVAIL => (
            "EADDRNOTAVAIL",
            "no local port is free: closed connections keep theirs for a minute (TIME_WAIT)",
        ),
        Errno::MFILE => ("EMFILE", "too many open files: raise the limit (ulimit -n)"),
        Errno::NFILE => ("ENFILE", "the machine has too many open files"),
        _ => ("", ""),
    };
    if code.is_empty() {
        let code = format!("errno {}", error.raw_os_error());
        return DatabaseFailure::connection(&code, format!("{address}: {error}"));
    }
    DatabaseFailure::connection(code, format!("{address}: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::OtherError;
    use std::sync::Arc;

    fn message_of(error: &Error) -> String {
        let address = ServerAddress::tcp("127.0.0.1", 1).expect("an address");
        tls_failure(error, &address).message
    }

    #[test]
    fn a_connection_that_is_gone_has_a_cause_and_a_remedy() {
        let address = ServerAddress::tcp("127.0.0.1", 1).expect("an address");
        let failure = system_failure(Errno::NOTCONN, &address);
        assert_eq!(failure.code, "ENOTCONN");
        assert!(failure.message.contains("answers to no request: see its log"), "{failure:?}");
    }

    #[test]
    fn certificates_that_are_not_believed_are_told_in_words() {
        let of = |why| message_of(&Error::InvalidCertificate(why));
        let authority = OtherError(Arc::new(io::Error::other("CaUsedAsEndEntity")));
        for (why, words) in [
            (CertificateError::Expired, "has expired"),
            (CertificateError::UnknownIssuer, "(ssl-ca, sslrootcert)"),
            (CertificateError::NotValidForName, "use that name, or verify-ca"),
            (CertificateError::Other(authority), "belongs to an authority itself"),
            (CertificateError::Revoked, "give the server another one"),
        ] {
            let text = of(why);
            assert!(text.contains(words) && text.contains("sslmode=require"), "{text}");
            assert!(!text.contains("Other("), "{text}");
        }
    }

    #[test]
    fn a_handshake_that_fails_has_two_causes() {
        let text = message_of(&Error::AlertReceived(AlertDescription::HandshakeFailure));
        assert!(text.contains("no cipher suite in common, or a client certificate"), "{text}");
        let text = message_of(&Error::AlertReceived(AlertDescription::UnknownCA));
        assert!(text.contains("wants a client's certificate"), "{text}");
        // Without ciphers in common a server says so by the alert: this is something else.
        let text = message_of(&PeerIncompatible::ExtendedMasterSecretExtensionRequired.into());
        assert!(text.contains("ExtendedMasterSecret") && !text.contains("cipher"), "{text}");
        let text = message_of(&PeerIncompatible::ServerDoesNotSupportTls12Or13.into());
        assert!(text.contains("TLS 1.1"), "{text}");
    }

    #[test]
    fn what_nobody_answers_has_a_remedy() {
        let address = ServerAddress::tcp("127.0.0.1", 1).expect("an address");
        let text = system_failure(Errno::CONNREFUSED, &address).message;
        assert!(text.ends_with("start the server, or check host and port"), "{text}");
    }
}
