//! What a server says of itself before anybody has logged in.

use dbtime_load::failure::DatabaseFailure;
use mysql_common::constants::CapabilityFlags;
use mysql_common::packets::AuthPlugin;

/// What the server says of itself in its greeting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ServerGreeting {
    /// Its version as it writes it.
    pub(super) version: String,
    /// The connection's number there.
    pub(super) connection_id: u32,
    pub(super) capabilities: CapabilityFlags,
    /// What a proof is made with that one knows the password.
    pub(super) nonce: Vec<u8>,
    pub(super) plugin: Option<AuthPlugin<'static>>,
}

/// The protocol's version since MySQL 3.21.
const PROTOCOL: u8 = 10;

impl ServerGreeting {
    /// Reads a greeting.
    pub(super) fn read(payload: &[u8]) -> Result<Self, DatabaseFailure> {
        let refused = |text: &str| Err(DatabaseFailure::connection("protocol", text));
        match Self::parsed(payload) {
            Some((PROTOCOL, greeting)) if greeting.has(CapabilityFlags::CLIENT_PROTOCOL_41) => {
                Ok(greeting)
            }
            Some((PROTOCOL | 9, _)) => refused(
                "the server speaks a protocol from before MySQL 4.1, which dbtime does not: use a \
                 newer server",
            ),
            _ => refused("the server's greeting is not MySQL's: is it a MySQL or MariaDB server?"),
        }
    }

    /// The version of the protocol, and what follows; `None`: it is cut off.
    fn parsed(payload: &[u8]) -> Option<(u8, Self)> {
        let (&protocol, rest) = payload.split_first()?;
        let (version, rest) = rest.split_at(rest.iter().position(|byte| *byte == 0)?);
        let version = String::from_utf8_lossy(version);
        // MariaDB put this before its version, for clients that knew none above 5.
        let version = version.strip_prefix("5.5.5-").unwrap_or(&version).to_owned();
        if protocol != PROTOCOL {
            return Some((protocol, Self { version, ..Self::default() }));
        }
        let (fixed, mut rest) = rest.get(1..)?.split_first_chunk::<31>()?;
        let flags = u32::from_le_bytes([fixed[13], fixed[14], fixed[18], fixed[19]]);
        let capabilities = CapabilityFlags::from_bits_truncate(flags);
        let mut nonce = fixed[4..12].to_vec();
        if capabilities.contains(CapabilityFlags::CLIENT_SECURE_CONNECTION) {
            // As long as the server says, and no shorter than it ever was.
            let length = usize::from(fixed[20]).saturating_sub(8).max(13);
            let (second, behind) = rest.split_at_checked(length)?;
            nonce.extend_from_slice(second.strip_suffix(&[0]).unwrap_or(second));
            rest = behind;
        }
        let names_plugin = capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH);
        let name = rest.split(|byte| *byte == 0).next().filter(|_| names_plugin);
        let connection_id = u32::from_le_bytes([fixed[0], fixed[1], fixed[2], fixed[3]]);
        let plugin = name.map(|name| AuthPlugin::from_bytes(name).into_owned());
        Some((protocol, Self { version, connection_id, capabilities, nonce, plugin }))
    }

    pub(super) fn has(&self, flags: CapabilityFlags) -> bool {
        self.capabilities.contains(flags)
    }

    /// What both sides can do.
    pub(super) fn capabilities(&self) -> CapabilityFlags {
        let ours = CapabilityFlags::CLIENT_LONG_PASSWORD
            | CapabilityFlags::CLIENT_LONG_FLAG
            | CapabilityFlags::CLIENT_PROTOCOL_41
            | CapabilityFlags::CLIENT_TRANSACTIONS
            | CapabilityFlags::CLIENT_SECURE_CONNECTION
            // Scripts may send several statements in one text.
            | CapabilityFlags::CLIENT_MULTI_STATEMENTS
            | CapabilityFlags::CLIENT_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
            | CapabilityFlags::CLIENT_PLUGIN_AUTH
            | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
            | CapabilityFlags::CLIENT_CONNECT_ATTRS
            | CapabilityFlags::CLIENT_DEPRECATE_EOF;
        ours & self.capabilities
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As MySQL 8 greets; the byte `length` is that of its challenge, and a zero more.
    fn greeting(length: u8) -> Vec<u8> {
        let mut payload = b"\x0a8.0.40\0\x07\0\0\0abcdefgh\0\xff\xff\xff\x02\0\xff\xdf".to_vec();
        payload.push(length);
        payload.extend([0; 10]);
        payload.extend(b"ijklmnopqrst\0caching_sha2_password\0");
        payload
    }

    #[test]
    fn every_piece_is_read() {
        let read = ServerGreeting::read(&greeting(21)).expect("a greeting");
        assert_eq!((read.version.as_str(), read.connection_id), ("8.0.40", 7));
        assert_eq!(read.nonce, b"abcdefghijklmnopqrst");
        assert_eq!(read.plugin, Some(AuthPlugin::CachingSha2Password));
        assert!(read.has(CapabilityFlags::CLIENT_SSL));
        // What some servers say in place of a length.
        for length in [0, 8, 20] {
            let other = ServerGreeting::read(&greeting(length));
            assert_eq!(other.expect("a greeting").nonce, read.nonce, "{length}");
        }
        let maria = b"\x0a5.5.5-10.11.6-MariaDB\0";
        let maria = [&maria[..], &greeting(21)[8..]].concat();
        assert_eq!(ServerGreeting::read(&maria).expect("a greeting").version, "10.11.6-MariaDB");
    }

    #[test]
    fn what_is_no_greeting_is_named() {
        let refused = |payload: &[u8]| ServerGreeting::read(payload).expect_err("refused").message;
        let whole = greeting(21);
        // A name may be cut off: it is then that of no plugin.
        for length in 0..8 + 31 + 13 {
            assert!(refused(&whole[..length]).contains("not MySQL's"), "{length}");
        }
        for length in 128..=255 {
            assert!(refused(&greeting(length)).contains("not MySQL's"), "{length}");
        }
        assert!(refused(b"\x093.20.0\0\x01\0\0\0abcdefgh\0").contains("before MySQL 4.1"));
        let mut old = whole.clone();
        old[8 + 14] &= !0x02;
        assert!(refused(&old).contains("before MySQL 4.1"));
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let named = [&b"\x0a8\0"[..], bytes.as_slice()].concat();
            for payload in [bytes, named] {
                if let Ok(greeting) = ServerGreeting::read(&payload) {
                    prop_assert!((8..=8 + 247).contains(&greeting.nonce.len()));
                }
            }
        }
    }
}
