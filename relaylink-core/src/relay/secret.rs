use std::fmt;

use sha2::{Digest, Sha256};

/// What every key begins with, so that a leaked one can be told from other text.
const PREFIX: &str = "rlk_";
/// Characters of randomness: 178 bits.
const RANDOM: usize = 30;
/// Characters of the checksum: CRC-32 (ISO-HDLC) of the random characters, in Base62.
const CHECKSUM: usize = 6;
const BASE62: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// An API key in full: `rlk_`, 30 random characters, 6 of checksum. It is shown once, when the key
/// is made; the store has its SHA-256 alone, and its `Debug` form shows nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// A new key from this randomness.
    pub(crate) fn mint(randomness: [[u8; 16]; 2]) -> Self {
        let mut number = *randomness.as_flattened().first_chunk::<32>().unwrap_or(&[0; 32]);
        let random: String = (0..RANDOM).map(|_| digit(divide(&mut number))).collect();
        Self(format!("{PREFIX}{random}{}", checksum(&random)))
    }

    /// The key in this text; `None` where its form or its checksum is wrong.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        let formed = rest.len() == RANDOM + CHECKSUM && rest.bytes().all(|byte| BASE62.contains(&byte));
        let (random, sum) = rest.split_at_checked(RANDOM).filter(|_| formed)?;
        (checksum(random) == sum).then(|| Self(text.to_owned()))
    }

    /// The key itself, to be handed to whoever will use it and to nobody else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What the store keeps of it: SHA-256, in lower-case hex. A key has more randomness than can
    /// be searched, so a slow hash would protect nothing more.
    pub(crate) fn hash(&self) -> String {
        data_encoding::HEXLOWER.encode(&Sha256::digest(self.0.as_bytes()))
    }

    /// What a list shows of it: the first six characters, an ellipsis, the last six.
    pub(crate) fn shown(&self) -> String {
        let (first, last) = (self.0.get(..6), self.0.get(self.0.len().saturating_sub(6)..));
        format!("{}…{}", first.unwrap_or_default(), last.unwrap_or_default())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

fn digit(value: u32) -> char {
    BASE62.get(value as usize).copied().map_or('0', char::from)
}

/// Divides a number of many bytes by 62 and gives the rest.
fn divide(number: &mut [u8]) -> u32 {
    number.iter_mut().fold(0, |rest, byte| {
        let value = rest << 8 | u32::from(*byte);
        *byte = u8::try_from(value / 62).unwrap_or(u8::MAX);
        value % 62
    })
}

fn checksum(random: &str) -> String {
    let mut sum = crc32(random.as_bytes());
    let mut digits = [0; CHECKSUM];
    for place in digits.iter_mut().rev() {
        *place = sum % 62;
        sum /= 62;
    }
    digits.into_iter().map(digit).collect()
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, byte| {
        (0..8).fold(
            sum ^ u32::from(*byte),
            |sum: u32, _| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 },
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_crc32() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn a_key_is_read_back_and_a_wrong_one_is_not() {
        let secret = Secret::mint([[0xa5; 16], [0x3c; 16]]);
        assert_eq!(secret.expose().len(), 40);
        assert_eq!(Secret::parse(secret.expose()).as_ref(), Some(&secret));
        for at in 0..40 {
            let mut wrong = secret.expose().to_owned().into_bytes();
            wrong[at] = if wrong[at] == b'x' { b'y' } else { b'x' };
            assert_eq!(Secret::parse(&String::from_utf8(wrong).unwrap()), None, "{at}");
        }
        for text in ["", "rlk_", "rlk_é", "Bearer rlk_0", &format!("{} ", secret.expose()), &"é".repeat(20)]
        {
            assert_eq!(Secret::parse(text), None, "{text}");
        }
    }

    #[test]
    fn every_bit_of_the_randomness_counts() {
        let mut one = [[0; 16]; 2];
        one[1][15] = 61;
        assert!(Secret::mint(one).0.starts_with("rlk_z00000"));
        let mut all = std::collections::BTreeSet::new();
        for bit in 0..256 {
            let mut randomness = [[0; 16]; 2];
            randomness[bit / 128][bit % 128 / 8] = 1_u8 << (bit % 8);
            all.insert(Secret::mint(randomness).0);
        }
        assert_eq!(all.len(), 256);
    }

    #[test]
    fn what_is_shown_and_kept_opens_nothing() {
        let secret = Secret::mint([[1; 16], [2; 16]]);
        let shown = secret.shown();
        assert_eq!(shown.chars().count(), 13);
        assert!(
            secret.expose().starts_with(&shown[..6]) && secret.expose().ends_with(&shown[shown.len() - 6..])
        );
        assert_eq!(Secret::parse(&shown), None);
        assert_eq!(Secret::parse(&secret.hash()), None);
        assert_eq!(format!("{secret:?}"), "Secret(…)");
    }
}
