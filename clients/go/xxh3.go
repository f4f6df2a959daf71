package bloomtype

import (
	"encoding/binary"
	"math/bits"
)

// The 64-bit XXH3 of the xxHash library, with a seed.  Its authors have frozen
// it.  It is written out, since the standard library does not have it, and the
// test vectors reach every length at which it changes its ways.
//
// XXH3 is an algorithm of the xxHash library, from whose source this follows:
// xxHash - Extremely Fast Hash algorithm
// Copyright (C) 2012-2020 Yann Collet
//
// BSD 2-Clause License (https://www.opensource.org/licenses/bsd-license.php)
//
// Redistribution and use in source and binary forms, with or without
// modification, are permitted provided that the following conditions are
// met:
//
//    * Redistributions of source code must retain the above copyright
//      notice, this list of conditions and the following disclaimer.
//    * Redistributions in binary form must reproduce the above
//      copyright notice, this list of conditions and the following disclaimer
//      in the documentation and/or other materials provided with the
//      distribution.
//
// THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS
// "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
// LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR
// A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT
// OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
// SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT
// LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
// DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY
// THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
// (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
// OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.

const (
	prime32a = 0x9E3779B1
	prime32b = 0x85EBCA77
	prime32c = 0xC2B2AE3D
	prime64a = 0x9E3779B185EBCA87
	prime64b = 0xC2B2AE3D27D4EB4F
	prime64c = 0x165667B19E3779F9
	prime64d = 0x85EBCA77C2B2AE63
	prime64e = 0x27D4EB2F165667C5

	stripe = 64
)

var defaultSecret = [192]byte{
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
}

func secret64(at int) uint64 { return binary.LittleEndian.Uint64(defaultSecret[at:]) }

// The words of the secret that short inputs use, so that they are constants
// when a key is hashed.
var (
	flip0  = secret64(56) ^ secret64(64)
	flip1  = uint64(uint32(secret64(0)) ^ uint32(secret64(4)))
	flip4  = secret64(8) ^ secret64(16)
	flip9a = secret64(24) ^ secret64(32)
	flip9b = secret64(40) ^ secret64(48)
)

func load32[T string | []byte](b T, at int) uint64 {
	b = b[at : at+4]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24
}

func load64[T string | []byte](b T, at int) uint64 {
	b = b[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

func avalanche(h uint64) uint64 {
	h ^= h >> 37
	h *= 0x165667919E3779F9
	return h ^ h>>32
}

func avalanche64(h uint64) uint64 {
	h ^= h >> 33
	h *= prime64b
	h ^= h >> 29
	h *= prime64c
	return h ^ h>>32
}

// xxh3of4to8 is the hash of 4 to 8 bytes: the first four and the last four.
func xxh3of4to8(first, last, length, seed uint64) uint64 {
	seed ^= uint64(bits.ReverseBytes32(uint32(seed))) << 32
	h := (last + first<<32) ^ (flip4 - seed)
	h ^= bits.RotateLeft64(h, 49) ^ bits.RotateLeft64(h, 24)
	h *= 0x9FB21C651E98DF25
	h ^= h>>35 + length
	h *= 0x9FB21C651E98DF25
	return h ^ h>>28
}

// xxh3of8 is the hash of the 8 little-endian bytes of n.
func xxh3of8(n, seed uint64) uint64 {
	return xxh3of4to8(n&0xffffffff, n>>32, 8, seed)
}

// xxh3of9to16 is the hash of 9 to 16 bytes: the first eight and the last eight.
func xxh3of9to16(first, last, length, seed uint64) uint64 {
	low := first ^ (flip9a + seed)
	high := last ^ (flip9b - seed)
	return avalanche(length + bits.ReverseBytes64(low) + high + fold(low, high))
}

// xxh3 is XXH3_64bits_withSeed.
func xxh3[T string | []byte](b T, seed uint64) uint64 {
	n := len(b)
	length := uint64(n)
	switch {
	case n == 0:
		return avalanche64(seed ^ flip0)
	case n <= 3:
		h := uint64(b[0])<<16 | uint64(b[n>>1])<<24 | uint64(b[n-1]) | length<<8
		return avalanche64(h ^ (flip1 + seed))
	case n <= 8:
		return xxh3of4to8(load32(b, 0), load32(b, n-4), length, seed)
	case n <= 16:
		return xxh3of9to16(load64(b, 0), load64(b, n-8), length, seed)
	case n <= 128:
		h := length * prime64a
		for i := (n - 1) / 32; i >= 0; i-- {
			h += mix16(b, 16*i, 32*i, seed) + mix16(b, n-16*(i+1), 32*i+16, seed)
		}
		return avalanche(h)
	case n <= 240:
		h := length * prime64a
		for i := 0; i < 8; i++ {
			h += mix16(b, 16*i, 16*i, seed)
		}
		h = avalanche(h)
		for i := 8; i < n/16; i++ {
			h += mix16(b, 16*i, 16*(i-8)+3, seed)
		}
		return avalanche(h + mix16(b, n-16, 136-17, seed))
	}
	return xxh3long(b, seed)
}

func mix16[T string | []byte](b T, at, secret int, seed uint64) uint64 {
	return fold(load64(b, at)^(secret64(secret)+seed), load64(b, at+8)^(secret64(secret+8)-seed))
}

func xxh3long[T string | []byte](b T, seed uint64) uint64 {
	secret := defaultSecret
	for i := 0; i < len(secret); i += 16 {
		binary.LittleEndian.PutUint64(secret[i:], secret64(i)+seed)
		binary.LittleEndian.PutUint64(secret[i+8:], secret64(i+8)-seed)
	}
	acc := [8]uint64{prime32c, prime64a, prime64b, prime64c, prime64d, prime32b, prime64e, prime32a}
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(secret[at:]) }
	accumulate := func(at, from int) {
		for i := range acc {
			value := load64(b, at+8*i)
			key := value ^ word(from+8*i)
			acc[i^1] += value
			acc[i] += (key & 0xffffffff) * (key >> 32)
		}
	}

	const stripesInBlock = (len(defaultSecret) - stripe) / 8
	for i := 0; i < (len(b)-1)/stripe; i++ {
		accumulate(i*stripe, i%stripesInBlock*8)
		if i%stripesInBlock == stripesInBlock-1 {
			for j := range acc {
				acc[j] = (acc[j] ^ acc[j]>>47 ^ word(len(secret)-stripe+8*j)) * prime32a
			}
		}
	}
	accumulate(len(b)-stripe, len(secret)-stripe-7)

	h := uint64(len(b)) * prime64a
	for i := 0; i < 4; i++ {
		h += fold(acc[2*i]^word(11+16*i), acc[2*i+1]^word(11+16*i+8))
	}
	return avalanche(h)
}
