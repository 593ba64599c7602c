//! Encrypted connections: with certificates that the tests make themselves.

use crate::given_server::{GivenServer, PRODUCTS};
use crate::sandbox::{Sandbox, count, counts_add_up};
use dbtime_model::Product;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;

/// An authority, by it a server's certificate for 127.0.0.1 and one of the client `app`, in a
/// folder that goes with this.
pub(crate) struct Certificates {
    folder: tempfile::TempDir,
    /// The authority's certificate, for dbtime to read whoever owns the others.
    pub(crate) authority: String,
}

impl Certificates {
    /// For a server like this one: the user that it runs as alone may read the key.
    pub(crate) fn new(probe: &GivenServer) -> Self {
        let owner = std::fs::metadata(probe.server.data()).expect("its data");
        Self::owned_by(Some((owner.uid(), owner.gid())))
    }

    /// The same for private servers of this product, of which none has to run for it.
    pub(crate) fn of(product: Product) -> Self {
        Self::owned_by(server_account(product))
    }

    /// The same for a user and a group; `None`: for whoever runs the tests.
    fn owned_by(account: Option<(u32, u32)>) -> Self {
        // The servers' user must get at them.
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).expect("a mode");
        write_certificates(folder.path());
        let (user, group) = account.unzip();
        for name in ["server.pem", "server.key"] {
            let path = folder.path().join(name);
            std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("a mode");
            chown(&path, user, group).expect("an owner");
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

    /// Puts another certificate and key in the place of the server's.
    fn replace_server(&self, certificate: &str, key: &str) {
        // Owner and mode stay.
        std::fs::write(self.path("server.pem"), certificate).expect("written");
        std::fs::write(self.path("server.key"), key).expect("written");
    }

    /// Where one of them is: `ca.pem`, and `.pem` and `.key` of `server` and `client`.
    pub(crate) fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

/// User and group of private servers of a product that root starts: those that its packages made,
/// or nobody's. Whoever else starts one lends it his own.
fn server_account(product: Product) -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = std::fs::read_to_string("/etc/passwd").expect("users");
    let account = |name: &&str| -> Option<(u32, u32)> {
        let mut lines = users.lines().map(|line| line.split(':'));
        let mut fields = lines.find_map(|mut of| (of.next() == Some(*name)).then_some(of))?;
        // Behind a name stands a password.
        Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    let own = if product == Product::Postgres { "postgres" } else { "mysql" };
    [own, "nobody"].iter().find_map(account)
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
    let client_key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(Vec::new()).expect("no names");
    params.distinguished_name.push(DnType::CommonName, "app");
    let client = params.signed_by(&client_key, &authority).expect("a certificate");
    write("client.pem", client.pem());
    write("client.key", client_key.serialize_pem());
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
            let tls = json["target"]["tls"].as_str().expect("known of every server");
            assert_eq!(tls == "off", mode == off, "{tls}");
            assert!(mode == off || tls.starts_with("TLS 1.3, TLS_"), "{tls}");
        }
        run(&given, "verify-ca", Some(stranger)).refused(3, &["TLS", "authority"]);
        run(&given, full, Some("/nowhere.pem")).refused(3, &["/nowhere.pem"]);
        run(&plain, required, None).refused(3, &["offers no TLS"]);
        run(&given, "sometimes", None).refused(2, &["sometimes"]);
    }
}

/// Certificates whose form, or whose kind of key, rustls does not know: with their names, and
/// whether all servers can use them.
const ODD_CERTIFICATES: [(&str, bool, [&str; 2]); 3] = [
    (
        "version 1",
        true,
        [include_str!("fixtures/tls/version-1.pem"), include_str!("fixtures/tls/version-1.key")],
    ),
    (
        "P-521",
        true,
        [include_str!("fixtures/tls/p-521.pem"), include_str!("fixtures/tls/p-521.key")],
    ),
    (
        "Ed448",
        false,
        [include_str!("fixtures/tls/ed448.pem"), include_str!("fixtures/tls/ed448.key")],
    ),
];

#[test]
fn the_form_of_a_certificate_that_nobody_checks_does_not_matter() {
    for product in PRODUCTS {
        let is_postgres = product == Product::Postgres;
        let (name, modes) = match is_postgres {
            true => ("sslmode", ["prefer", "require"]),
            false => ("ssl-mode", ["preferred", "required"]),
        };
        for (form, is_for_all, [certificate, key]) in ODD_CERTIFICATES {
            if !is_for_all && !is_postgres {
                continue;
            }
            let own = Certificates::of(product);
            own.replace_server(certificate, key);
            let given = own.server(product);
            let sandbox = Sandbox::new();
            let run = |more: &str| {
                sandbox.run(&format!(
                    "run values1 --target '{}?{name}={more}' --connections 1 --transactions 5 \
                     --no-record --json",
                    given.target_tcp()
                ))
            };
            for mode in modes {
                let json = run(mode).fine().json();
                let tls = json["target"]["tls"].as_str().expect("known of every server");
                assert!(tls.starts_with("TLS 1.3, "), "{form}, {mode}: {tls}");
            }
            let authority = if is_postgres { "sslrootcert" } else { "ssl-ca" };
            let checked = format!("verify-full&{authority}={}", own.authority);
            run(&checked).refused(3, &["TLS: "]);
            if is_postgres {
                // What a login is tied to has to be proved.
                run("require&channel_binding=require").exits(3);
            }
        }
    }
}

#[test]
fn a_login_is_tied_to_its_connection_where_that_is_wanted() {
    let own = Certificates::of(Product::Postgres);
    let given = own.server(Product::Postgres);
    let sandbox = Sandbox::new();
    let run = |more: &str| {
        sandbox.run(&format!(
            "run values1 --target '{}?{more}' --connections 1 --transactions 5 --no-record",
            given.target_tcp()
        ))
    };
    for mode in ["require", "prefer", "disable"] {
        run(&format!("sslmode=require&channel_binding={mode}")).fine();
    }
    run("sslmode=disable&channel_binding=require").refused(3, &["channel_binding=require"]);
    run("gssencmode=require").refused(2, &["`gssencmode`"]);
}

/// Rules by which the client `app` gets in by its certificate alone, and the server's own user by
/// its password.
const BY_CERTIFICATE: &str = "\
local all postgres scram-sha-256
hostssl all app 127.0.0.1/32 cert
";

#[test]
fn clients_show_a_certificate_where_the_server_wants_one() {
    for product in PRODUCTS {
        let (own, other) = (Certificates::of(product), Certificates::of(product));
        let rules = own.path("hba.conf");
        std::fs::write(&rules, BY_CERTIFICATE).expect("written");
        let given = own.server_by(product, |settings| {
            let wanted = match product {
                Product::Postgres => [("ssl_ca_file", &*own.authority), ("hba_file", &*rules)],
                _ => [("ssl_ca", &*own.authority), ("tls_version", "TLSv1.2")],
            };
            GivenServer::start(product, &[settings, &wanted].concat())
        });
        let (mode, certificate, key) = match product {
            Product::Postgres => ("sslmode=require", "sslcert", "sslkey"),
            _ => ("ssl-mode=required", "ssl-cert", "ssl-key"),
        };
        match product {
            Product::Postgres => drop(given.sql("CREATE ROLE app LOGIN")),
            _ => drop(given.sql("CREATE USER app REQUIRE SUBJECT '/CN=app'")),
        }
        if product != Product::Postgres {
            given.sql("GRANT ALL ON d.* TO app");
        }
        let sandbox = Sandbox::new();
        let run_in = |mode: &str, more: &str| {
            let at = given.target_tcp_as("app", "");
            sandbox.run(&format!(
                "run values1 --target '{at}?{mode}{more}' --transactions 5 --no-record --details"
            ))
        };
        let run = |more: &str| run_in(mode, more);
        let by = |of: &Certificates| {
            format!("&{certificate}={}&{key}={}", of.path("client.pem"), of.path("client.key"))
        };
        let plain = mode.replace("required", "disabled").replace("require", "disable");
        run_in(&plain, "").refused(3, &[mode]);
        let ran = run(&by(&own));
        ran.exits(0);
        let version = if product == Product::Postgres { "1.3" } else { "1.2" };
        assert!(ran.out.contains(&format!("encrypted (TLS {version}, TLS_")), "{}", ran.out);
        run(&by(&other)).refused(3, &["cannot connect to"]);
        run("").refused(3, &["cannot connect to", certificate, key]);
        run(&format!("&{certificate}=/nowhere.pem")).refused(2, &["go together"]);
        let absent = format!("&{certificate}=/nowhere.pem&{key}={}", own.path("client.key"));
        run(&absent).refused(3, &["/nowhere.pem", "the certificate: "]);
        let no_key = format!("&{certificate}={0}&{key}={0}", own.path("client.pem"));
        run(&no_key).refused(3, &["without a passphrase"]);
    }
}
