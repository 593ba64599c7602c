//! What a byte can begin, in every dialect.

/// What a byte can begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstByte {
    /// It stands for itself.
    Symbol,
    Word,
    Digit,
    Space,
    /// Something that depends on the dialect, or on what follows.
    Special,
}

const CLASSES: [FirstByte; 256] = {
    let mut classes = [FirstByte::Symbol; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.. => FirstByte::Word,
            b'0'..=b'9' => FirstByte::Digit,
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => FirstByte::Space,
            b'\'' | b'"' | b'`' | b'[' | b'/' | b'-' | b'#' | b'$' | b'.' | b'*' => {
                FirstByte::Special
            }
            _ => FirstByte::Symbol,
        };
        byte += 1;
    }
    classes
};

#[inline]
pub(crate) fn class_of(byte: u8) -> FirstByte {
    CLASSES[usize::from(byte)]
}
