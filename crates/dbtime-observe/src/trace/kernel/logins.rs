//! Whose connections are, as the kernel's side tells when a client logs in.

use crate::kernel_layout::capture::LoginRecord;
use crate::kernel_layout::text_until_zero;
use dbtime_model::traced::SessionLogin;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU64;
use zerocopy::FromBytes;

const AF_INET: u16 = 2;
const AF_INET6: u16 = 10;

/// Reads the connection, and whose it is as far as that is known; `None` where it is something
/// else: no other record has the same length. Whether its client has said who it is stands last.
pub(crate) fn login(bytes: &[u8]) -> Option<(u64, SessionLogin, bool)> {
    let record = LoginRecord::read_from_bytes(bytes).ok()?;
    let [user, database] = [record.user, record.database].map(|name| text_until_zero(&name));
    let id = Some(record.id).filter(|id| *id > 0);
    let (client, client_cookie) = (client(&record), NonZeroU64::new(record.client_cookie));
    let login = SessionLogin { user, database, id, client, client_cookie };
    Some((record.connection, login, record.is_named != 0))
}

fn client(record: &LoginRecord) -> Option<SocketAddr> {
    let port = u16::try_from(record.port).ok()?;
    let address = match record.family {
        AF_INET => IpAddr::V4(Ipv4Addr::from(*record.address.first_chunk::<4>()?)),
        AF_INET6 => IpAddr::V6(Ipv6Addr::from(record.address)).to_canonical(),
        _ => return None,
    };
    Some(SocketAddr::new(address, port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel_layout::capture::NAME_ROOM;
    use proptest::prelude::*;
    use zerocopy::IntoBytes;

    const LOGIN: usize = size_of::<LoginRecord>();

    /// As the kernel's side would write it.
    fn record(connection: u64, user: &str, database: &str) -> LoginRecord {
        let mut record = LoginRecord { connection, ..LoginRecord::default() };
        record.user[..user.len()].copy_from_slice(user.as_bytes());
        record.database[..database.len()].copy_from_slice(database.as_bytes());
        record
    }

    fn read(record: &LoginRecord) -> (u64, SessionLogin) {
        let (connection, login, _) = login(record.as_bytes()).expect("a login");
        (connection, login)
    }

    #[test]
    fn names_end_with_a_zero() {
        let (connection, found) = read(&record(7, "app", ""));
        assert_eq!((connection, &*found.user, &*found.database), (7, "app", ""));
        let long = "n".repeat(NAME_ROOM);
        let (_, found) = read(&record(7, &long, "shop"));
        assert_eq!((&*found.user, &*found.database), (&*long, "shop"));
        assert_eq!(login(&[0; 280]), None);
    }

    #[test]
    fn a_client_has_an_address_where_it_has_one() {
        let mut of_unix = record(7, "app", "");
        of_unix.client_cookie = 4711;
        assert_eq!(read(&of_unix).1.client_cookie, NonZeroU64::new(4711));
        let client = |record: &LoginRecord| {
            let login = read(record).1;
            (login.id, login.client.map(|client| client.to_string()))
        };
        let mut of = record(7, "app", "");
        assert_eq!(client(&of), (None, None));
        (of.id, of.port, of.family) = (99, 80, AF_INET);
        of.address[..4].copy_from_slice(&[127, 0, 0, 1]);
        assert_eq!(client(&of), (Some(99), Some("127.0.0.1:80".to_owned())));
        (of.address, of.family) = (Ipv6Addr::LOCALHOST.octets(), AF_INET6);
        assert_eq!(client(&of).1.as_deref(), Some("[::1]:80"));
        of.address = Ipv4Addr::new(10, 0, 0, 9).to_ipv6_mapped().octets();
        assert_eq!(client(&of).1.as_deref(), Some("10.0.0.9:80"));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), LOGIN..LOGIN + 2)) {
            prop_assert_eq!(login(&bytes).is_some(), bytes.len() == LOGIN);
        }
    }
}
