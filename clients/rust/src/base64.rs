//! RFC 4648 with padding, of which one text stands for each sequence of bytes.

use alloc::string::String;
use alloc::vec::Vec;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity((bytes.len() + 2) / 3 * 4);
    for group in bytes.chunks(3) {
        let at = |i: usize| u32::from(*group.get(i).unwrap_or(&0));
        let word = at(0) << 16 | at(1) << 8 | at(2);
        for i in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * i)) as usize & 63];
            text.push(if i <= group.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

/// White space may stand anywhere.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let mut digits = 0;
    let mut padding = 0;
    let mut word = 0;
    for c in text.bytes() {
        let digit = match c {
            b' ' | b'\t' | b'\n' | b'\r' => continue,
            b'=' => 0,
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        if c == b'=' {
            padding += 1;
        } else if padding > 0 {
            return None;
        }
        word = word << 6 | u32::from(digit);
        digits += 1;
        if digits % 4 == 0 {
            let group = word.to_be_bytes();
            if padding > 2 || group[4 - padding..].iter().any(|&spare| spare != 0) {
                return None;
            }
            bytes.extend(&group[1..4 - padding]);
            word = 0;
        }
    }
    if digits % 4 == 0 {
        Some(bytes)
    } else {
        None
    }
}
