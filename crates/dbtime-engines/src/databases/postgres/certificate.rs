//! The hash of a server's certificate that SCRAM ties its proof to.

use crate::databases::der::{OBJECT, SEQUENCE, element};
use sha2::{Digest, Sha256, Sha384, Sha512};

/// The hash of a certificate by the algorithm it was signed with; SHA-256 where that was MD5 or
/// SHA-1 (RFC 5929, section 4.1). `None` where the certificate cannot be read, or was signed in a
/// way that has no such hash, as Ed25519.
pub(super) fn certificate_hash(der: &[u8]) -> Option<Vec<u8>> {
    let (certificate, _) = element(der, SEQUENCE)?;
    let (_, after) = element(certificate, SEQUENCE)?;
    let (algorithm, _) = element(after, SEQUENCE)?;
    let (identifier, _) = element(algorithm, OBJECT)?;
    NAMES.iter().find(|(known, _)| *known == identifier).map(|(_, hash)| hash(der))
}

type CertificateHash = fn(&[u8]) -> Vec<u8>;

const SHA_256: CertificateHash = |der| Sha256::digest(der).to_vec();
const SHA_384: CertificateHash = |der| Sha384::digest(der).to_vec();
const SHA_512: CertificateHash = |der| Sha512::digest(der).to_vec();

/// Algorithms that certificates are signed with (RFC 8017, RFC 5758): 1.2.840.113549.1.1.N is RSA,
/// 1.2.840.10045.4.3.N is ECDSA.
const NAMES: [(&[u8], CertificateHash); 9] = [
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x04", SHA_256),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x05", SHA_256),
    (b"\x2a\x86\x48\xce\x3d\x04\x01", SHA_256),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0b", SHA_256),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c", SHA_384),
    (b"\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0d", SHA_512),
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x02", SHA_256),
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x03", SHA_384),
    (b"\x2a\x86\x48\xce\x3d\x04\x03\x04", SHA_512),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_follows_the_signature() {
        let sha384 = b"\x30\x0b\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x0c";
        let mut der = vec![0x30, 0x81, 15, 0x30, 0];
        der.extend_from_slice(sha384);
        assert_eq!(certificate_hash(&der), Some(Sha384::digest(&der).to_vec()));
        for cut in 0..der.len() {
            assert_eq!(certificate_hash(&der[..cut]), None);
        }
        assert_eq!(certificate_hash(b"\x30\x85\xff\xff\xff\xff\xff"), None);
    }
}
