//! The 64-bit XXH3 of the xxHash library, with a seed.  Its authors have frozen
//! it.  It is written out, so that the crate needs no other; the test vectors
//! reach every length at which it changes its ways.
//!
//! ```text
//! XXH3 is an algorithm of the xxHash library, from whose source this follows:
//! xxHash - Extremely Fast Hash algorithm
//! Copyright (C) 2012-2020 Yann Collet
//!
//! BSD 2-Clause License (https://www.opensource.org/licenses/bsd-license.php)
//!
//! Redistribution and use in source and binary forms, with or without
//! modification, are permitted provided that the following conditions are
//! met:
//!
//!    * Redistributions of source code must retain the above copyright
//!      notice, this list of conditions and the following disclaimer.
//!    * Redistributions in binary form must reproduce the above
//!      copyright notice, this list of conditions and the following disclaimer
//!      in the documentation and/or other materials provided with the
//!      distribution.
//!
//! THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS
//! "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
//! LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR
//! A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT
//! OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
//! SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT
//! LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
//! DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY
//! THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
//! (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
//! OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
//! ```

const PRIME32_1: u64 = 0x9E37_79B1;
const PRIME32_2: u64 = 0x85EB_CA77;
const PRIME32_3: u64 = 0xC2B2_AE3D;
const PRIME64_1: u64 = 0x9E37_79B1_85EB_CA87;
const PRIME64_2: u64 = 0xC2B2_AE3D_27D4_EB4F;
const PRIME64_3: u64 = 0x1656_67B1_9E37_79F9;
const PRIME64_4: u64 = 0x85EB_CA77_C2B2_AE63;
const PRIME64_5: u64 = 0x27D4_EB2F_1656_67C5;

const STRIPE: usize = 64;

#[rustfmt::skip]
const SECRET: [u8; 192] = [
    0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
    0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
    0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
    0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
    0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
    0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
    0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
    0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
    0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
    0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
    0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
    0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
];

#[inline]
fn load32(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 4];
    word.copy_from_slice(&bytes[at..at + 4]);
    u64::from(u32::from_le_bytes(word))
}

#[inline]
fn load64(bytes: &[u8], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(word)
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn avalanche(mut h: u64) -> u64 {
    h ^= h >> 37;
    h = h.wrapping_mul(0x1656_6791_9E37_79F9);
    h ^ h >> 32
}

#[inline]
fn avalanche64(mut h: u64) -> u64 {
    h ^= h >> 33;
    h = h.wrapping_mul(PRIME64_2);
    h ^= h >> 29;
    h = h.wrapping_mul(PRIME64_3);
    h ^ h >> 32
}

/// `XXH3_64bits_withSeed`.
#[inline]
pub(crate) fn xxh3(bytes: &[u8], seed: u64) -> u64 {
    let n = bytes.len();
    let length = n as u64;
    match n {
        0 => avalanche64(seed ^ load64(&SECRET, 56) ^ load64(&SECRET, 64)),
        1..=3 => {
            let h = u64::from(bytes[0]) << 16
                | u64::from(bytes[n >> 1]) << 24
                | u64::from(bytes[n - 1])
                | length << 8;
            avalanche64(h ^ (load32(&SECRET, 0) ^ load32(&SECRET, 4)).wrapping_add(seed))
        }
        4..=8 => {
            let seed = seed ^ u64::from((seed as u32).swap_bytes()) << 32;
            let flip = (load64(&SECRET, 8) ^ load64(&SECRET, 16)).wrapping_sub(seed);
            let mut h = load32(bytes, n - 4).wrapping_add(load32(bytes, 0) << 32) ^ flip;
            h ^= h.rotate_left(49) ^ h.rotate_left(24);
            h = h.wrapping_mul(0x9FB2_1C65_1E98_DF25);
            h ^= (h >> 35).wrapping_add(length);
            h = h.wrapping_mul(0x9FB2_1C65_1E98_DF25);
            h ^ h >> 28
        }
        9..=16 => {
            let low =
                load64(bytes, 0) ^ (load64(&SECRET, 24) ^ load64(&SECRET, 32)).wrapping_add(seed);
            let high = load64(bytes, n - 8)
                ^ (load64(&SECRET, 40) ^ load64(&SECRET, 48)).wrapping_sub(seed);
            avalanche(
                length
                    .wrapping_add(low.swap_bytes())
                    .wrapping_add(high)
                    .wrapping_add(fold(low, high)),
            )
        }
        _ => longer(bytes, seed),
    }
}

/// 17 bytes or more.
fn longer(bytes: &[u8], seed: u64) -> u64 {
    let n = bytes.len();
    let mix = |at: usize, secret: usize| {
        fold(
            load64(bytes, at) ^ load64(&SECRET, secret).wrapping_add(seed),
            load64(bytes, at + 8) ^ load64(&SECRET, secret + 8).wrapping_sub(seed),
        )
    };
    let mut h = (n as u64).wrapping_mul(PRIME64_1);
    match n {
        0..=128 => {
            for i in 0..=(n - 1) / 32 {
                h = h.wrapping_add(mix(16 * i, 32 * i));
                h = h.wrapping_add(mix(n - 16 * (i + 1), 32 * i + 16));
            }
            avalanche(h)
        }
        129..=240 => {
            for i in 0..8 {
                h = h.wrapping_add(mix(16 * i, 16 * i));
            }
            h = avalanche(h);
            for i in 8..n / 16 {
                h = h.wrapping_add(mix(16 * i, 16 * (i - 8) + 3));
            }
            avalanche(h.wrapping_add(mix(n - 16, 136 - 17)))
        }
        _ => long(bytes, seed),
    }
}

/// More than 240 bytes.
fn long(bytes: &[u8], seed: u64) -> u64 {
    const STRIPES_IN_BLOCK: usize = (SECRET.len() - STRIPE) / 8;

    let mut secret = SECRET;
    for i in (0..SECRET.len()).step_by(16) {
        let low = load64(&SECRET, i).wrapping_add(seed);
        let high = load64(&SECRET, i + 8).wrapping_sub(seed);
        secret[i..i + 8].copy_from_slice(&low.to_le_bytes());
        secret[i + 8..i + 16].copy_from_slice(&high.to_le_bytes());
    }
    let mut acc =
        [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1];
    let accumulate = |acc: &mut [u64; 8], at: usize, from: usize| {
        for i in 0..8 {
            let value = load64(bytes, at + 8 * i);
            let key = value ^ load64(&secret, from + 8 * i);
            acc[i ^ 1] = acc[i ^ 1].wrapping_add(value);
            acc[i] = acc[i].wrapping_add((key & 0xffff_ffff).wrapping_mul(key >> 32));
        }
    };

    for i in 0..(bytes.len() - 1) / STRIPE {
        let in_block = i % STRIPES_IN_BLOCK;
        accumulate(&mut acc, i * STRIPE, in_block * 8);
        if in_block == STRIPES_IN_BLOCK - 1 {
            for (j, a) in acc.iter_mut().enumerate() {
                let key = load64(&secret, SECRET.len() - STRIPE + 8 * j);
                *a = (*a ^ *a >> 47 ^ key).wrapping_mul(PRIME32_1);
            }
        }
    }
    accumulate(&mut acc, bytes.len() - STRIPE, SECRET.len() - STRIPE - 7);

    let mut h = (bytes.len() as u64).wrapping_mul(PRIME64_1);
    for i in 0..4 {
        h = h.wrapping_add(fold(
            acc[2 * i] ^ load64(&secret, 11 + 16 * i),
            acc[2 * i + 1] ^ load64(&secret, 11 + 16 * i + 8),
        ));
    }
    avalanche(h)
}
