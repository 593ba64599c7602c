//! What servers send before the first statement.

use crate::MalformedMessage;
use crate::bytes::ByteCursor;

/// What the server wants to know before it lets anybody in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Authentication<'a> {
    /// Nothing more: it does let us in.
    Ok,
    /// The password as it is.
    Cleartext,
    /// The password, hashed with this salt.
    Md5([u8; 4]),
    /// One of these mechanisms, in the server's order.
    Sasl(Vec<&'a str>),
    /// The server's side of a mechanism goes on.
    SaslContinue(&'a [u8]),
    /// The server's last word in a mechanism.
    SaslFinal(&'a [u8]),
    /// Something that only other clients know; its name.
    Other(&'static str),
}

impl<'a> Authentication<'a> {
    /// Reads the payload of a message.
    ///
    /// # Errors
    /// When it is cut off.
    pub fn read(payload: &'a [u8]) -> Result<Self, MalformedMessage> {
        let cut = MalformedMessage("a cut-off request for authentication");
        let mut bytes = ByteCursor(payload);
        Ok(match bytes.u32_be().ok_or(cut.clone())? {
            0 => Self::Ok,
            2 => Self::Other("Kerberos 5"),
            3 => Self::Cleartext,
            5 => Self::Md5(bytes.array().ok_or(cut)?),
            6 => Self::Other("SCM credentials"),
            7 | 8 => Self::Other("GSSAPI"),
            9 => Self::Other("SSPI"),
            10 => {
                let mut mechanisms = Vec::new();
                while let Some(name @ [_, ..]) = bytes.until_zero() {
                    mechanisms.push(std::str::from_utf8(name).unwrap_or(""));
                }
                Self::Sasl(mechanisms)
            }
            11 => Self::SaslContinue(bytes.0),
            12 => Self::SaslFinal(bytes.0),
            _ => Self::Other("an unknown method"),
        })
    }
}

/// Name and value of a setting (ParameterStatus).
pub fn parameter_status(payload: &[u8]) -> Option<(&str, &str)> {
    let mut bytes = ByteCursor(payload);
    let mut text = || std::str::from_utf8(bytes.until_zero()?).ok();
    Some((text()?, text()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn requests_are_told_apart() {
        let read = |payload| Authentication::read(payload).expect("whole");
        assert_eq!(read(&[0, 0, 0, 0]), Authentication::Ok);
        assert_eq!(read(&[0, 0, 0, 3]), Authentication::Cleartext);
        assert_eq!(read(&[0, 0, 0, 5, 1, 2, 3, 4]), Authentication::Md5([1, 2, 3, 4]));
        let sasl = b"\0\0\0\x0aSCRAM-SHA-256-PLUS\0SCRAM-SHA-256\0\0";
        let mechanisms = vec!["SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"];
        assert_eq!(read(sasl), Authentication::Sasl(mechanisms));
        assert_eq!(read(b"\0\0\0\x0br=x"), Authentication::SaslContinue(b"r=x"));
        assert_eq!(read(b"\0\0\0\x07"), Authentication::Other("GSSAPI"));
        assert!(Authentication::read(&[0, 0, 0, 5, 1]).is_err());
    }

    #[test]
    fn settings_have_names() {
        let payload = b"server_version\x0015.18\0";
        assert_eq!(parameter_status(payload), Some(("server_version", "15.18")));
        assert_eq!(parameter_status(b"cut off"), None);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = (Authentication::read(&bytes), parameter_status(&bytes));
        }
    }
}
