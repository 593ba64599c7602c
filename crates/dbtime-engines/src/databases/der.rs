//! Elements of DER, as keys and certificates are made of them. Source: ITU-T X.690, 8.1 and 10.1.

pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const OBJECT: u8 = 0x06;

/// The content of the first element, which must have this tag, and what follows it.
pub(super) fn element(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = der.split_first_chunk::<2>()?;
    let (length, rest) = match first {
        0..=0x7f => (usize::from(first), rest),
        // In one to four bytes; 0x80 is for what has an end in place of a length.
        0x81..=0x84 => {
            let (bytes, rest) = rest.split_at_checked(usize::from(first & 0x7f))?;
            (bytes.iter().fold(0, |sum, byte| (sum << 8) | usize::from(*byte)), rest)
        }
        _ => return None,
    };
    (found == tag).then_some(())?;
    rest.split_at_checked(length)
}
