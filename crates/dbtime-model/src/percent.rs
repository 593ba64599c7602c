//! Percent-encoding in targets.

/// Undoes percent-encoding; `None` where a `%` is not followed by two hexadecimal digits, or by
/// those of a zero byte.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        let byte = match byte {
            b'%' => (digit(bytes.next())? * 16 + digit(bytes.next())?) as u8,
            byte => byte,
        };
        if byte == 0 {
            return None;
        }
        decoded.push(byte);
    }
    Some(decoded)
}

/// Writes a text so that it has no meaning in a target.
pub fn encode(text: &str) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.~/".contains(byte);
    let one = |byte: u8| match is_plain(&byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_encoded_is_decoded() {
        let text = "a b/ü@:?&%";
        assert_eq!(encode(text), "a%20b/%C3%BC%40%3A%3F%26%25");
        assert_eq!(decode(&encode(text)).as_deref(), Some(text.as_bytes()));
        for bad in ["%", "%4", "%x4", "a%00b"] {
            assert_eq!(decode(bad), None, "{bad}");
        }
    }
}
