//! Encrypted connections: with certificates that the tests make themselves.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::{Sandbox, count, counts_add_up};
use dbtime_lab::servers::Product;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

/// An authority, and a server's certificate for 127.0.0.1 by it.
fn certificates(folder: &Path) {
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

/// Hands the files to the user that servers run as, who alone may read the key.
fn hand_over(folder: &Path, product: Product) {
    let probe = GivenServer::start(product, &[]);
    let owner = std::fs::metadata(probe.server.data()).expect("its data");
    let (uid, gid) =
        (std::os::unix::fs::MetadataExt::uid(&owner), std::os::unix::fs::MetadataExt::gid(&owner));
    for name in ["ca.pem", "server.pem", "server.key"] {
        let path = folder.join(name);
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("a mode");
        chown(&path, Some(uid), Some(gid)).expect("an owner");
    }
}

#[test]
fn connections_are_encrypted_as_asked_for() {
    for product in PRODUCTS {
        // The servers' user must get at them.
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("a mode");
        certificates(folder.path());
        let stranger = tempfile::tempdir().expect("a folder");
        certificates(stranger.path());
        let (own, other) = (folder.path().join("ca.pem"), stranger.path().join("ca.pem"));
        // Read by dbtime, whoever owns the others.
        let ca = stranger.path().join("own.pem");
        std::fs::copy(&own, &ca).expect("copied");
        hand_over(folder.path(), product);
        let file = |name: &str| folder.path().join(name).display().to_string();
        let (pem, key) = (file("server.pem"), file("server.key"));
        let is_postgres = product == Product::Postgres;
        let given = match product {
            Product::Postgres => GivenServer::start(
                product,
                &[("ssl", "on"), ("ssl_cert_file", &pem), ("ssl_key_file", &key)],
            ),
            _ => GivenServer::start(product, &[("ssl_cert", &pem), ("ssl_key", &key)]),
        };
        let plain = GivenServer::start(product, &[]);
        let sandbox = Sandbox::new();
        let run = |given: &GivenServer, mode: &str, ca: Option<&Path>| {
            let (name, authority) =
                if is_postgres { ("sslmode", "sslrootcert") } else { ("ssl-mode", "ssl-ca") };
            let ca = ca.map_or(String::new(), |ca| format!("&{authority}={}", ca.display()));
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
        for (mode, ca) in
            [(required, None), ("verify-ca", Some(&*ca)), (full, Some(&*ca)), (off, None)]
        {
            let json = run(&given, mode, ca).fine().json();
            counts_add_up(&json);
            assert_eq!(count(&json, "/counts/completed"), 50, "{mode}: {}", json["error_messages"]);
        }
        run(&given, "verify-ca", Some(&other)).refused(3, &["TLS", "authority"]);
        run(&given, full, Some(Path::new("/nowhere.pem"))).refused(3, &["/nowhere.pem"]);
        run(&plain, required, None).refused(3, &["offers no TLS"]);
        run(&given, "sometimes", None).refused(2, &["sometimes"]);
    }
}
