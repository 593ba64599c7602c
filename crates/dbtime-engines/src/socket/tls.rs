//! TLS 1.2 and 1.3 by rustls: whether, and whom to believe.

use super::address::ServerAddress;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{
    WebPkiServerVerifier, verify_server_cert_signed_by_trust_anchor, verify_server_name,
};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, Error, ProtocolVersion, RootCertStore,
    SignatureScheme,
};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a connection is encrypted, and whom to believe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsMode {
    /// Never.
    Disabled,
    /// If the server can; whoever it is.
    Preferred,
    /// Always; whoever it is.
    Required,
    /// Always, with a certificate that comes from a known authority.
    VerifyCa,
    /// And that is made out to the host.
    VerifyFull,
}

impl TlsMode {
    /// What is done when nothing is said: on this machine nobody listens in, and encryption would
    /// only be measured with everything else. Whoever names certificates wants it there, too.
    pub(crate) fn default_for(address: &ServerAddress, files: &TlsFiles) -> Self {
        let has_files = *files != TlsFiles::default();
        match address {
            ServerAddress::Unix(_) => Self::Disabled,
            address if address.is_local() && !has_files => Self::Disabled,
            _ => Self::Preferred,
        }
    }
}

/// What a connection begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlsRequirement {
    /// No TLS.
    No,
    /// TLS if the server offers it.
    IfOffered,
    /// TLS or nothing.
    Must,
}

/// Whether a server has to prove that it has the key of a certificate that nobody looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyProof {
    /// Where the certificate and the kind of its key are known here.
    WhereKnown,
    /// Always: something else is tied to the certificate.
    Always,
}

/// The files of certificates that a target names, in PEM form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// The authorities that the server's must come from; `None`: those the system knows.
    pub authorities: Option<PathBuf>,
    /// What dbtime shows of itself, with those that it comes from, and its key: both or neither.
    pub client: Option<(PathBuf, PathBuf)>,
}

/// What a connection is encrypted by, as records have it: `off`, or the protocol's version and the
/// cipher suite by its registered name, such as `TLS 1.3, TLS_AES_256_GCM_SHA384`.
pub(super) fn encryption(tls: Option<&ClientConnection>) -> String {
    let Some(tls) = tls else { return "off".to_owned() };
    let version = match tls.protocol_version() {
        Some(ProtocolVersion::TLSv1_2) => "TLS 1.2",
        Some(ProtocolVersion::TLSv1_3) => "TLS 1.3",
        _ => "TLS",
    };
    let suite = tls.negotiated_cipher_suite().and_then(|suite| suite.suite().as_str());
    // rustls has a prefix of its own for those of TLS 1.3.
    let suite = suite.map_or(String::new(), |name| format!(", {}", name.replace("TLS13_", "TLS_")));
    format!("{version}{suite}")
}

/// How connections are encrypted.
#[derive(Clone)]
pub struct TlsSettings {
    requirement: TlsRequirement,
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl fmt::Debug for TlsSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TLS with {:?}: {:?}", self.name, self.requirement)
    }
}

/// Why connections cannot be encrypted as asked for.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The file of authorities cannot be used.
    #[error("cannot read certificates from {}: {reason}", path.display())]
    Authorities {
        /// The file.
        path: PathBuf,
        /// What the reader of certificates and keys said.
        reason: String,
    },
    /// The client's own certificate or key cannot be used.
    #[error(
        "cannot use the client's certificate {} with the key {}: {reason}", certificate.display(), key.display()
    )]
    Client {
        /// The certificate's file.
        certificate: PathBuf,
        /// The key's file.
        key: PathBuf,
        /// What the reader of certificates and keys said.
        reason: String,
    },
    /// There is no file of authorities.
    #[error(
        "there is no file of known authorities ({SYSTEM_CA_FILE}): name one with ssl-ca (MySQL) or sslrootcert (PostgreSQL)"
    )]
    NoAuthorities,
    /// A host's name that no certificate can have.
    #[error("`{0}` is not a name that a certificate can have")]
    Name(String),
    /// rustls refuses.
    #[error("cannot prepare TLS: {0}")]
    Rustls(#[from] Error),
}

/// Where Debian and most others keep the authorities that the system knows.
const SYSTEM_CA_FILE: &str = "/etc/ssl/certs/ca-certificates.crt";

impl TlsSettings {
    /// How to encrypt connections to an address; `None` when they are not.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn new(
        mode: TlsMode,
        files: &TlsFiles,
        address: &ServerAddress,
        proof: KeyProof,
    ) -> Result<Option<Self>, TlsError> {
        let requirement = match mode {
            TlsMode::Disabled => return Ok(None),
            TlsMode::Preferred => TlsRequirement::IfOffered,
            TlsMode::Required | TlsMode::VerifyCa | TlsMode::VerifyFull => TlsRequirement::Must,
        };
        let host = match address {
            ServerAddress::Tcp { host, .. } => host.clone(),
            ServerAddress::Unix(_) => "localhost".to_owned(),
        };
        let name = ServerName::try_from(host.clone()).map_err(|_| TlsError::Name(host))?;
        let provider = Arc::new(ring::default_provider());
        let mut own = Vec::new();
        let check = match mode {
            TlsMode::VerifyCa | TlsMode::VerifyFull => {
                let (roots, certificates) = roots(files.authorities.as_deref())?;
                own = certificates;
                let roots = Arc::new(roots);
                let full = WebPkiServerVerifier::builder_with_provider(
                    Arc::clone(&roots),
                    Arc::clone(&provider),
                );
                match full.build() {
                    Ok(verifier) if mode == TlsMode::VerifyFull => CertificateCheck::Full(verifier),
                    Ok(_) => CertificateCheck::Authority(roots),
                    Err(error) => return Err(Error::General(error.to_string()).into()),
                }
            }
            _ => CertificateCheck::Nothing,
        };
        let provider_of_proof = Arc::clone(&provider);
        let verifier = CertificateVerifier { check, own, proof, provider: provider_of_proof };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let config = match &files.client {
            Some((certificate, key)) => {
                let read = own_certificate(certificate, key);
                let made = read.and_then(|(chain, secret)| {
                    config.with_client_auth_cert(chain, secret).map_err(|e| e.to_string())
                });
                let certificate = certificate.clone();
                let key = key.clone();
                made.map_err(|reason| TlsError::Client { certificate, key, reason })?
            }
            None => config.with_no_client_auth(),
        };
        Ok(Some(Self { requirement, config: Arc::new(config), name }))
    }

    /// What to ask the server for.
    pub(super) fn requirement(&self) -> TlsRequirement {
        self.requirement
    }

    /// A connection that is yet to be negotiated.
    pub(super) fn connection(&self) -> Result<Box<ClientConnection>, Error> {
        let connection = ClientConnection::new(Arc::clone(&self.config), self.name.clone());
        connection.map(Box::new)
    }
}

/// The authorities, and the certificates of a file that was given.
fn roots(given: Option<&Path>) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), TlsError> {
    let path = match given {
        Some(path) => path,
        None if Path::new(SYSTEM_CA_FILE).exists() => Path::new(SYSTEM_CA_FILE),
        None => return Err(TlsError::NoAuthorities),
    };
    let refuse = |reason: String| TlsError::Authorities { path: path.to_owned(), reason };
    let certificates = CertificateDer::pem_file_iter(path).map_err(|e| refuse(e.to_string()))?;
    let mut roots = RootCertStore::empty();
    let mut own = Vec::new();
    for certificate in certificates {
        let certificate = certificate.map_err(|e| refuse(e.to_string()))?;
        if given.is_some() {
            own.push(certificate.clone());
        }
        // The system's file may hold some that rustls does not take; others remain.
        let added = roots.add(certificate);
        if given.is_some() {
            added.map_err(|e| refuse(e.to_string()))?;
        }
    }
    if roots.is_empty() {
        return Err(refuse("it holds no certificate".to_owned()));
    }
    Ok((roots, own))
}

/// A certificate with those that it comes from, and its key.
type ClientIdentity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

/// The client's own certificate and key.
fn own_certificate(certificate: &Path, key: &Path) -> Result<ClientIdentity, String> {
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| format!("the certificate: {error}"))?;
    if chain.is_empty() {
        return Err("the certificate's file holds none".to_owned());
    }
    let key = PrivateKeyDer::from_pem_file(key).map_err(|error| {
        // An encrypted one is none that is known here.
        format!("the key: {error} (it must be in PEM form, without a passphrase)")
    })?;
    Ok((chain, key))
}

/// What a server's certificate must hold.
#[derive(Debug)]
enum CertificateCheck {
    Nothing,
    Authority(Arc<RootCertStore>),
    Full(Arc<WebPkiServerVerifier>),
}

/// Kinds of keys that are known to TLS and not here, with what a certificate calls them: object
/// identifiers in DER form (1.3.132.0.35 of RFC 5480, 1.3.101.113 of RFC 8410).
const OTHER_KEYS: [(SignatureScheme, &[u8]); 2] = [
    (SignatureScheme::ECDSA_NISTP521_SHA512, b"\x06\x05\x2b\x81\x04\x00\x23"),
    (SignatureScheme::ED448, b"\x06\x03\x2b\x65\x71"),
];

/// Within so many bytes a public key has said of what kind it is.
const KEY_HEAD_BYTES: usize = 32;

/// Whether a public key, as a certificate has it, is of one of these kinds.
fn is_other_key(key: &[u8]) -> bool {
    let head = &key[..key.len().min(KEY_HEAD_BYTES)];
    let has = |name: &[u8]| head.windows(name.len()).any(|part| part == name);
    OTHER_KEYS.iter().any(|(_, name)| has(name))
}

/// Looks at a server's certificate as much as was asked for. That the server has its key is proved,
/// but where nobody looks at the certificate and its form is none that is known here: whoever stood
/// in between could show one of his own.
#[derive(Debug)]
struct CertificateVerifier {
    check: CertificateCheck,
    proof: KeyProof,
    /// Certificates that were given: a server that signed its own is believed if it is among them.
    own: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
}

impl CertificateVerifier {
    /// Whether a server may have a certificate that cannot be read here.
    fn takes_any(&self) -> bool {
        matches!(self.check, CertificateCheck::Nothing) && self.proof == KeyProof::WhereKnown
    }

    /// Whether a proof cannot be looked at here, and need not be. The certificate alone decides:
    /// the scheme of a proof is chosen by whoever sends it, and a login may be tied to this
    /// certificate.
    fn is_beyond(&self, certificate: &CertificateDer<'_>) -> bool {
        let is_unknown = || match ParsedCertificate::try_from(certificate) {
            Ok(parsed) => is_other_key(parsed.subject_public_key_info().as_ref()),
            // Such as one of version 1, from before there were extensions.
            Err(_) => true,
        };
        self.takes_any() && is_unknown()
    }
}

impl ServerCertVerifier for CertificateVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.own.iter().any(|own| own.as_ref() == end_entity.as_ref()) {
            if matches!(self.check, CertificateCheck::Full(_)) {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            }
            return Ok(ServerCertVerified::assertion());
        }
        match &self.check {
            CertificateCheck::Nothing => Ok(ServerCertVerified::assertion()),
            CertificateCheck::Authority(roots) => {
                let parsed = ParsedCertificate::try_from(end_entity)?;
                verify_server_cert_signed_by_trust_anchor(
                    &parsed,
                    roots,
                    intermediates,
                    now,
                    self.provider.signature_verification_algorithms.all,
                )?;
                Ok(ServerCertVerified::assertion())
            }
            CertificateCheck::Full(verifier) => verifier.verify_server_cert(
                end_entity,
                intermediates,
                server_name,
                ocsp_response,
                now,
            ),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.is_beyond(cert) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.is_beyond(cert) {
            return Ok(HandshakeSignatureValid::assertion());
        }
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.provider.signature_verification_algorithms.supported_schemes();
        if self.takes_any() {
            schemes.extend(OTHER_KEYS.map(|(scheme, _)| scheme));
        }
        schemes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_looks_at_may_have_any_form() {
        let verifier = |check, proof| {
            let provider = Arc::new(ring::default_provider());
            CertificateVerifier { check, own: Vec::new(), proof, provider }
        };
        let unreadable = CertificateDer::from(b"of version 1".to_vec());
        let lax = verifier(CertificateCheck::Nothing, KeyProof::WhereKnown);
        assert!(lax.is_beyond(&unreadable) && !lax.is_beyond(&readable()));
        assert!(lax.supported_verify_schemes().contains(&SignatureScheme::ED448));
        let roots = Arc::new(RootCertStore::empty());
        for strict in [
            verifier(CertificateCheck::Nothing, KeyProof::Always),
            verifier(CertificateCheck::Authority(roots), KeyProof::WhereKnown),
        ] {
            assert!(!strict.is_beyond(&unreadable) && !strict.is_beyond(&readable()));
            assert!(!strict.supported_verify_schemes().contains(&SignatureScheme::ED448));
        }
    }

    /// A certificate of version 3 with a key of Ed25519.
    fn readable() -> CertificateDer<'static> {
        CertificateDer::from_pem_slice(READABLE.as_bytes()).expect("a certificate")
    }

    const READABLE: &str = "\
-----BEGIN CERTIFICATE-----
MIIBPjCB8aADAgECAhQ6eW2ldT5mHLH1wG/ktxonkxhKQzAFBgMrZXAwFDESMBAG
A1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyOTE1NDYzMVoYDzIxMjYxMTA1MTU0NjMx
WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwKjAFBgMrZXADIQBvbBHu5ciopQPAG9+c
yFfVmPYP39oIjHc+aQs8QQT+gKNTMFEwHQYDVR0OBBYEFPE+UolCoMo09hC3Q+6r
+Knvxz1qMB8GA1UdIwQYMBaAFPE+UolCoMo09hC3Q+6r+Knvxz1qMA8GA1UdEwEB
/wQFMAMBAf8wBQYDK2VwA0EAZRip9nAVZc1i5c4gCzg/VSkt09hL/udRWlWGDbGj
uW7f9rKQix+eQvVzksuD0iH26uRQm3eDXqahEIZiBhbdCw==
-----END CERTIFICATE-----
";

    #[test]
    fn kinds_of_keys_are_known_by_their_names() {
        // As they begin in a certificate: of P-521, of Ed448, of P-256, of Ed25519.
        let p_521 =
            b"\x30\x81\x9b\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x23";
        let p_256 = b"\x30\x59\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\
                      \x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
        assert!(is_other_key(p_521) && is_other_key(b"\x30\x43\x30\x05\x06\x03\x2b\x65\x71"));
        assert!(!is_other_key(p_256) && !is_other_key(b"\x30\x2a\x30\x05\x06\x03\x2b\x65\x70"));
        let far = [&[0_u8; KEY_HEAD_BYTES][..], b"\x06\x03\x2b\x65\x71"].concat();
        assert!(!is_other_key(&far) && !is_other_key(b""), "what the key itself has by chance");
    }

    #[test]
    fn certificates_are_used_on_loopback_too() {
        let files = TlsFiles { authorities: Some("ca.pem".into()), client: None };
        let loopback = ServerAddress::tcp("127.0.0.1", 3306).expect("an address");
        let of = |address: &ServerAddress, files: &TlsFiles| TlsMode::default_for(address, files);
        assert_eq!(of(&loopback, &TlsFiles::default()), TlsMode::Disabled);
        assert_eq!(of(&loopback, &files), TlsMode::Preferred);
        assert_eq!(of(&ServerAddress::Unix("/s".into()), &files), TlsMode::Disabled);
    }
}
