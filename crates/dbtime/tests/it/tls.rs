//! Encrypted connections: with certificates that the tests make themselves.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::{Sandbox, count, counts_add_up};
use dbtime_lab::servers::Product;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

/// An authority, and a server's certificate for 127.0.0.1 by it, in a folder that goes with this.
pub(crate) struct Certificates {
    folder: tempfile::TempDir,
    /// The authority's certificate, for dbtime to read whoever owns the others.
    pub(crate) authority: String,
}

impl Certificates {
    /// For a server like this one: the user that it runs as alone may read the key.
    pub(crate) fn new(probe: &GivenServer) -> Self {
        // The servers' user must get at them.
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("a mode");
        write_certificates(folder.path());
        let owner = std::fs::metadata(probe.server.data()).expect("its data");
        for name in ["server.pem", "server.key"] {
            let path = folder.path().join(name);
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("a mode");
            chown(&path, Some(owner.uid()), Some(owner.gid())).expect("an owner");
        }
        let authority = folder.path().join("ca.pem").display().to_string();
        Self { folder, authority }
    }

    /// A server that uses them.
    pub(crate) fn server(&self, product: Product) -> GivenServer {
        self.server_by(product, |settings| GivenServer::start(product, settings))
    }

    /// The same of one that is started in its own way, with these settings.
    pub(crate) fn server_by(
        &self,
        product: Product,
        start: impl FnOnce(&[(&str, &str)]) -> GivenServer,
    ) -> GivenServer {
        let (pem, key) = (self.path("server.pem"), self.path("server.key"));
        match product {
            Product::Postgres => {
                start(&[("ssl", "on"), ("ssl_cert_file", &pem), ("ssl_key_file", &key)])
            }
            _ => start(&[("ssl_cert", &pem), ("ssl_key", &key)]),
        }
    }

    /// One of `server.pem` and `server.key`.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

fn write_certificates(folder: &Path) {
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, key).expect("an authority");
    let server_key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    let server = params.signed_by(&server_key, &authority).expect("a certificate");
    let write = |name: &str, text: String| {
        std::fs::write(folder.join(name), text).expect("written");
    };
    write("ca.pem", authority.pem());
    write("server.pem", server.pem());
    write("server.key", server_key.serialize_pem());
}

#[test]
fn connections_are_encrypted_as_asked_for() {
    for product in PRODUCTS {
        let plain = GivenServer::start(product, &[]);
        let (own, other) = (Certificates::new(&plain), Certificates::new(&plain));
        let (ca, stranger) = (own.authority.as_str(), other.authority.as_str());
        let is_postgres = product == Product::Postgres;
        let given = own.server(product);
        let sandbox = Sandbox::new();
        let run = |given: &GivenServer, mode: &str, ca: Option<&str>| {
            let (name, authority) =
                if is_postgres { ("sslmode", "sslrootcert") } else { ("ssl-mode", "ssl-ca") };
            let ca = ca.map_or(String::new(), |ca| format!("&{authority}={ca}"));
            sandbox.run(&format!(
                "run values1 --target '{}?{name}={mode}{ca}' --connections 3 --transactions 50 \
                 --no-record --json",
                given.target_tcp()
            ))
        };
        let (required, full, off) = match is_postgres {
            true => ("require", "verify-full", "disable"),
            false => ("required", "verify-full", "disabled"),
        };
        for (mode, ca) in [(required, None), ("verify-ca", Some(ca)), (full, Some(ca)), (off, None)]
        {
            let json = run(&given, mode, ca).fine().json();
            counts_add_up(&json);
            assert_eq!(count(&json, "/counts/completed"), 50, "{mode}: {}", json["error_messages"]);
        }
        run(&given, "verify-ca", Some(stranger)).refused(3, &["TLS", "authority"]);
        run(&given, full, Some("/nowhere.pem")).refused(3, &["/nowhere.pem"]);
        run(&plain, required, None).refused(3, &["offers no TLS"]);
        run(&given, "sometimes", None).refused(2, &["sometimes"]);
    }
}
