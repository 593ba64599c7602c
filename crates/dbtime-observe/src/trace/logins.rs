//! Whose connections are, as the kernel's side tells when a client logs in.

use super::layout::{text_until_zero, u32_at, u64_at};
use dbtime_model::traced::Login;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Room of a name, its zero included: `NAME_ROOM`.
pub(super) const NAME: usize = 64;

/// Bytes of a `struct login`, and of what goes before its names.
const LOGIN: usize = HEAD + 2 * NAME;
const HEAD: usize = 40;

/// `AF_INET` and `AF_INET6`.
const INTERNET: u32 = 2;
const INTERNET_6: u32 = 10;

/// Reads the connection, and whose it is as far as that is known; `None` where it is something
/// else.
pub(super) fn login(bytes: &[u8]) -> Option<(u64, Login)> {
    let bytes: &[u8; LOGIN] = bytes.try_into().ok()?;
    let (user, database) = bytes[HEAD..].split_at(NAME);
    let [user, database] = [user, database].map(text_until_zero);
    let id = Some(u64_at(bytes, 8)).filter(|id| *id > 0);
    Some((u64_at(bytes, 0), Login { user, database, id, client: client(bytes) }))
}

fn client(bytes: &[u8; LOGIN]) -> Option<SocketAddr> {
    let address = bytes[16..].first_chunk::<16>()?;
    let port = u16::try_from(u32_at(bytes, 32)).ok()?;
    let address = match u32_at(bytes, 36) {
        INTERNET => IpAddr::V4(Ipv4Addr::from(*address.first_chunk::<4>()?)),
        INTERNET_6 => IpAddr::V6(Ipv6Addr::from(*address)).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// As the kernel's side would write it.
    fn written(connection: u64, user: &str, database: &str) -> Vec<u8> {
        let mut bytes = vec![0; LOGIN];
        bytes[..8].copy_from_slice(&connection.to_le_bytes());
        bytes[HEAD..HEAD + user.len()].copy_from_slice(user.as_bytes());
        bytes[HEAD + NAME..][..database.len()].copy_from_slice(database.as_bytes());
        bytes
    }

    #[test]
    fn names_end_with_a_zero() {
        let (connection, found) = login(&written(7, "app", "")).expect("a login");
        assert_eq!((connection, &*found.user, &*found.database), (7, "app", ""));
        let long = "n".repeat(NAME);
        let (_, found) = login(&written(7, &long, "shop")).expect("a login");
        assert_eq!((&*found.user, &*found.database), (&*long, "shop"));
        assert_eq!(login(&[0; 280]), None);
    }

    #[test]
    fn a_client_has_an_address_where_it_has_one() {
        let mut bytes = written(7, "app", "");
        let client = |bytes: &[u8]| {
            let login = login(bytes).expect("a login").1;
            (login.id, login.client.map(|client| client.to_string()))
        };
        assert_eq!(client(&bytes), (None, None));
        bytes[8] = 99;
        (bytes[16], bytes[19], bytes[32], bytes[36]) = (127, 1, 80, 2);
        assert_eq!(client(&bytes), (Some(99), Some("127.0.0.1:80".to_owned())));
        bytes[16..32].copy_from_slice(&Ipv6Addr::LOCALHOST.octets());
        bytes[36] = 10;
        assert_eq!(client(&bytes).1.as_deref(), Some("[::1]:80"));
        let mapped = Ipv4Addr::new(10, 0, 0, 9).to_ipv6_mapped();
        bytes[16..32].copy_from_slice(&mapped.octets());
        assert_eq!(client(&bytes).1.as_deref(), Some("10.0.0.9:80"));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), LOGIN..LOGIN + 2)) {
            prop_assert_eq!(login(&bytes).is_some(), bytes.len() == LOGIN);
        }
    }
}
