//! Whether a server answers: one login over its socket, in as few bytes as the protocol allows.

use super::product::Product;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// How long one answer may take; a server that is still starting is asked again.
const PATIENCE: Duration = Duration::from_secs(2);

/// The longest packet that belongs to a login. Unit: bytes.
const LONGEST: usize = 64 * 1024;

/// What a server said to a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is welcome.
    Ready,
    /// Nothing, or that it is still starting.
    NotYet,
    /// It is not, for this reason.
    Refused(String),
}

/// Logs in to the server behind `socket` without a password, and out again.
pub(super) fn ask(product: Product, socket: &Path) -> Answer {
    let asked = UnixStream::connect(socket).and_then(|stream| {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        login(product, &stream)
    });
    asked.unwrap_or(Answer::NotYet)
}

fn login(product: Product, stream: impl Read + Write) -> io::Result<Answer> {
    match product {
        Product::Postgres => postgres(stream, product.database_user()),
        Product::MariaDb | Product::MySql => mysql(stream, product.database_user()),
    }
}

/// Source: MySQL's client/server protocol, connection phase.
fn mysql(mut stream: impl Read + Write, user: &str) -> io::Result<Answer> {
    let (_, greeting) = packet(&mut stream)?;
    if greeting.first() == Some(&0xff) {
        return Ok(refused_by_mysql(&greeting));
    }
    // LONG_PASSWORD, PROTOCOL_41, SECURE_CONNECTION; PLUGIN_AUTH where the server knows it.
    let abilities: u32 = 0x0001 | 0x0200 | 0x8000 | (abilities(&greeting) & 0x0008_0000);
    let mut response = abilities.to_le_bytes().to_vec();
    response.extend(0x0100_0000_u32.to_le_bytes());
    response.push(33); // utf8_general_ci, which all versions know
    response.extend([0; 23]);
    response.extend(user.as_bytes());
    response.extend([0, 0]); // the name's end; a password of no bytes
    response.extend(b"mysql_native_password\0");
    send(&mut stream, 1, &response)?;
    loop {
        let (sequence, answer) = packet(&mut stream)?;
        match answer.first() {
            Some(0x00) => {
                send(&mut stream, 0, &[1])?; // COM_QUIT
                return Ok(Answer::Ready);
            }
            Some(0xff) => return Ok(refused_by_mysql(&answer)),
            // Another way to show that there is no password: no bytes again.
            Some(0xfe) => send(&mut stream, sequence.wrapping_add(1), &[])?,
            // More of the exchange, such as caching_sha2_password's word that all is well.
            _ => {}
        }
    }
}

/// What the server that greets is able to do, as far as its greeting says.
fn abilities(greeting: &[u8]) -> u32 {
    // The protocol's number, the version with its end, a thread's number, half of the salt, a gap.
    let end = greeting.iter().position(|byte| *byte == 0).unwrap_or(greeting.len());
    let rest = greeting.get(end + 1 + 4 + 8 + 1..).unwrap_or_default();
    match rest {
        [low, lower, _, _, _, high, higher, ..] => {
            u32::from_le_bytes([*low, *lower, *high, *higher])
        }
        [low, lower, ..] => u32::from_le_bytes([*low, *lower, 0, 0]),
        _ => 0,
    }
}

fn refused_by_mysql(packet: &[u8]) -> Answer {
    let text = packet.get(3..).unwrap_or_default();
    // A state such as #28000 may precede the text.
    let text = if text.first() == Some(&b'#') { text.get(6..).unwrap_or_default() } else { text };
    Answer::Refused(String::from_utf8_lossy(text).into_owned())
}

fn packet(stream: &mut impl Read) -> io::Result<(u8, Vec<u8>)> {
    let mut head = [0; 4];
    stream.read_exact(&mut head)?;
    let length = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize;
    Ok((head[3], body(stream, length)?))
}

fn send(stream: &mut impl Write, sequence: u8, payload: &[u8]) -> io::Result<()> {
    let mut packet = (payload.len() as u32).to_le_bytes().to_vec();
    packet[3] = sequence;
    packet.extend(payload);
    stream.write_all(&packet)
}

/// Source: PostgreSQL's frontend/backend protocol, version 3.0, start-up.
fn postgres(mut stream: impl Read + Write, user: &str) -> io::Result<Answer> {
    let mut start = 196_608_u32.to_be_bytes().to_vec();
    for text in ["user", user, "database", "postgres", ""] {
        start.extend(text.as_bytes());
        start.push(0);
    }
    stream.write_all(&(start.len() as u32 + 4).to_be_bytes())?;
    stream.write_all(&start)?;
    let mut head = [0; 5];
    stream.read_exact(&mut head)?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
    let message = body(&mut stream, length.saturating_sub(4))?;
    match head[0] {
        b'R' if message == [0; 4] => {
            stream.write_all(&[b'X', 0, 0, 0, 4])?;
            Ok(Answer::Ready)
        }
        b'R' => Ok(Answer::Refused("it asks for a password".to_owned())),
        _ => Ok(refused_by_postgres(&message)),
    }
}

fn refused_by_postgres(message: &[u8]) -> Answer {
    /// "cannot connect now": it is starting up.
    const STARTING: &[u8] = b"57P03";
    let mut text = None;
    for field in message.split(|byte| *byte == 0) {
        match field.split_first() {
            Some((b'C', code)) if code == STARTING => return Answer::NotYet,
            Some((b'M', said)) => text = Some(String::from_utf8_lossy(said).into_owned()),
            _ => {}
        }
    }
    Answer::Refused(text.unwrap_or_else(|| "it gave no reason".to_owned()))
}

fn body(stream: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    if length > LONGEST {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body)?;
    Ok(body)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that says this, whatever it hears.
    struct Says(io::Cursor<Vec<u8>>, Vec<u8>);

    impl Read for Says {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.0.read(into)
        }
    }

    impl Write for Says {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.1.write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn answer(product: Product, said: &[&[u8]]) -> Option<Answer> {
        login(product, Says(io::Cursor::new(said.concat()), Vec::new())).ok()
    }

    const GREETING: &[u8] = b"\x02\0\0\0\x0aX";
    const OK: &[u8] = b"\x03\0\0\x02\0\0\0";

    #[test]
    fn mysql_is_ready_after_a_login() {
        let switch: &[u8] = b"\x02\0\0\x02\xfen";
        let fast: &[u8] = b"\x02\0\0\x02\x01\x03";
        assert_eq!(answer(Product::MySql, &[GREETING, OK]), Some(Answer::Ready));
        assert_eq!(answer(Product::MySql, &[GREETING, fast, OK]), Some(Answer::Ready));
        assert_eq!(answer(Product::MariaDb, &[GREETING, switch, OK]), Some(Answer::Ready));
    }

    #[test]
    fn what_mysql_is_able_to_do_is_in_its_greeting() {
        let head = b"\x0a8.0\0\x01\0\0\0saltsalt\0";
        assert_eq!(abilities(&[head, b"\xff\xf7\x21\0\0\x08\0".as_slice()].concat()), 0x8_f7ff);
        assert_eq!(abilities(&[head, b"\xff\xf7".as_slice()].concat()), 0xf7ff);
        assert_eq!(abilities(head), 0);
        assert_eq!(abilities(b"\x0a8.0"), 0);
    }

    #[test]
    fn mysql_says_why_not() {
        let error: &[u8] = b"\x0d\0\0\x02\xff\x15\x04#28000gone";
        let early: &[u8] = b"\x0a\0\0\0\xff\x10\x04no room";
        let refused = |text: &str| Some(Answer::Refused(text.to_owned()));
        assert_eq!(answer(Product::MySql, &[GREETING, error]), refused("gone"));
        assert_eq!(answer(Product::MySql, &[early]), refused("no room"));
    }

    #[test]
    fn postgres_is_ready_starting_or_refuses() {
        let of = |said: &[u8]| answer(Product::Postgres, &[said]);
        assert_eq!(of(b"R\0\0\0\x08\0\0\0\0"), Some(Answer::Ready));
        assert_eq!(of(b"E\0\0\0\x13SFATAL\0C57P03\0\0"), Some(Answer::NotYet));
        let Some(Answer::Refused(text)) = of(b"E\0\0\0\x13C3D000\0Mgone\0\0\0") else {
            panic!("not refused")
        };
        assert_eq!(text, "gone");
        assert!(matches!(of(b"R\0\0\0\x08\0\0\0\x05"), Some(Answer::Refused(_))));
    }

    #[test]
    fn hostile_and_cut_answers_end() {
        for product in Product::ALL {
            assert_eq!(answer(product, &[]), None);
            assert_eq!(answer(product, &[b"\xff\xff\xff\xff\xff"]), None);
            assert_eq!(answer(product, &[b"R\xff\xff\xff\xff"]), None);
        }
    }
}
