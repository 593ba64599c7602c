//! Reading numbers off the front of a slice.

/// A slice that is read from its front; every read says `None` when it is too short.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteCursor<'a>(pub(crate) &'a [u8]);

impl<'a> ByteCursor<'a> {
    pub(crate) fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(crate) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(crate) fn u16_le(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(crate) fn u32_le(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(crate) fn u16_be(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(crate) fn u32_be(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// A text that a zero byte ends, without it.
    pub(crate) fn until_zero(&mut self) -> Option<&'a [u8]> {
        let length = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.take(length)?;
        self.take(1)?;
        Some(text)
    }

    /// MySQL's length-encoded integer; `None` also for the markers of NULL and of an error.
    pub(crate) fn lenenc(&mut self) -> Option<u64> {
        match self.u8()? {
            byte @ 0..=0xfa => Some(byte.into()),
            0xfc => self.u16_le().map(u64::from),
            0xfd => self.array::<3>().map(|[a, b, c]| u64::from(u32::from_le_bytes([a, b, c, 0]))),
            0xfe => self.array().map(u64::from_le_bytes),
            _ => None,
        }
    }
}
