//! Who may log in to a private server: one user, by a password that is drawn for this server and
//! is kept in files of its own folder alone.

use super::product::ServerPackage;
use crate::error::LabError;
use dbtime_engines::server::Server;
use dbtime_engines::server::password_verifier;
use dbtime_engines::server::secret::ServerSecret;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// What is drawn for a password or a salt. Unit: bytes.
const SECRET_BYTES: usize = 16;

/// The one user of a private server, and the password.
#[derive(Clone, Debug)]
pub(super) struct PrivateLogin {
    package: &'static ServerPackage,
    password: ServerSecret,
    salt: [u8; SECRET_BYTES],
}

impl PrivateLogin {
    /// Draws a password from the system's randomness.
    ///
    /// Errors: the system has none.
    pub(super) fn new(package: &'static ServerPackage) -> Result<Self, LabError> {
        let password = u128::from_ne_bytes(random_bytes()?);
        let password = ServerSecret::new(format!("{password:032x}"));
        Ok(Self { package, password, salt: random_bytes()? })
    }

    /// The password.
    pub(super) fn password(&self) -> &ServerSecret {
        &self.password
    }

    /// What a PostgreSQL server keeps of the password.
    pub(super) fn scram_sha_256(&self) -> String {
        password_verifier::scram_sha_256(&self.password, self.salt)
    }

    /// The server behind a socket, with this login.
    pub(super) fn server(&self, socket: &Path) -> Box<dyn Server> {
        (self.package.server)(self, socket)
    }

    /// Writes the file by which the product's own clients log in.
    pub(super) fn write(&self, path: &Path, socket: &Path, port: u16) -> io::Result<()> {
        write_secret(path, &(self.package.login_text)(self, socket, port))
    }
}

/// Writes a file that nobody but its owner may read, from its first byte on.
pub(super) fn write_secret(path: &Path, text: &str) -> io::Result<()> {
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())
}

fn random_bytes() -> Result<[u8; SECRET_BYTES], LabError> {
    let mut bytes = [0; SECRET_BYTES];
    // So few bytes come whole.
    match getrandom(&mut bytes, GetRandomFlags::empty()) {
        Ok(SECRET_BYTES) => Ok(bytes),
        got => Err(LabError::Target(format!(
            "the system gives no random bytes for the server's password: {got:?}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::product::package;
    use super::*;
    use dbtime_model::Product;
    use std::fs;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn each_server_has_a_password_of_its_own_that_only_its_owner_reads() {
        let dir = tempfile::tempdir().expect("a folder");
        for product in Product::SERVERS {
            let package = package(product).expect("there is one");
            let (one, other) = (PrivateLogin::new(package), PrivateLogin::new(package));
            let (one, other) = (one.expect("drawn"), other.expect("drawn"));
            assert_eq!(one.password.reveal().len(), 2 * SECRET_BYTES);
            assert_ne!(one.password, other.password);
            assert!(!format!("{one:?}").contains(one.password.reveal()));
            let path = dir.path().join(package.login_file).with_extension(product.name());
            one.write(&path, Path::new("/run/x.sock"), 4711).expect("written");
            assert_eq!(fs::metadata(&path).expect("there").mode() & 0o777, 0o600);
            let text = fs::read_to_string(&path).expect("read");
            assert!(text.contains(one.password.reveal()), "{text}");
            // Nobody has put something else there before.
            assert!(one.write(&path, Path::new("/run/x.sock"), 4711).is_err());
        }
    }
}
