/*
 * XXH3 is an algorithm of the xxHash library, from whose source this follows:
 * xxHash - Extremely Fast Hash algorithm
 * Copyright (C) 2012-2020 Yann Collet
 *
 * BSD 2-Clause License (https://www.opensource.org/licenses/bsd-license.php)
 *
 * Redistribution and use in source and binary forms, with or without
 * modification, are permitted provided that the following conditions are
 * met:
 *
 *    * Redistributions of source code must retain the above copyright
 *      notice, this list of conditions and the following disclaimer.
 *    * Redistributions in binary form must reproduce the above
 *      copyright notice, this list of conditions and the following disclaimer
 *      in the documentation and/or other materials provided with the
 *      distribution.
 *
 * THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS AND CONTRIBUTORS
 * "AS IS" AND ANY EXPRESS OR IMPLIED WARRANTIES, INCLUDING, BUT NOT
 * LIMITED TO, THE IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS FOR
 * A PARTICULAR PURPOSE ARE DISCLAIMED. IN NO EVENT SHALL THE COPYRIGHT
 * OWNER OR CONTRIBUTORS BE LIABLE FOR ANY DIRECT, INDIRECT, INCIDENTAL,
 * SPECIAL, EXEMPLARY, OR CONSEQUENTIAL DAMAGES (INCLUDING, BUT NOT
 * LIMITED TO, PROCUREMENT OF SUBSTITUTE GOODS OR SERVICES; LOSS OF USE,
 * DATA, OR PROFITS; OR BUSINESS INTERRUPTION) HOWEVER CAUSED AND ON ANY
 * THEORY OF LIABILITY, WHETHER IN CONTRACT, STRICT LIABILITY, OR TORT
 * (INCLUDING NEGLIGENCE OR OTHERWISE) ARISING IN ANY WAY OUT OF THE USE
 * OF THIS SOFTWARE, EVEN IF ADVISED OF THE POSSIBILITY OF SUCH DAMAGE.
 */
package bloomtype;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * The 64-bit XXH3 of the xxHash library, with a seed.
 *
 * Its authors have frozen it. It is written out, so that the client needs no
 * library; the test vectors reach every length at which it changes its ways.
 */
final class Xxh3 {
    private static final long PRIME32_1 = 0x9E3779B1L;
    private static final long PRIME32_2 = 0x85EBCA77L;
    private static final long PRIME32_3 = 0xC2B2AE3DL;
    private static final long PRIME64_1 = 0x9E3779B185EBCA87L;
    private static final long PRIME64_2 = 0xC2B2AE3D27D4EB4FL;
    private static final long PRIME64_3 = 0x165667B19E3779F9L;
    private static final long PRIME64_4 = 0x85EBCA77C2B2AE63L;
    private static final long PRIME64_5 = 0x27D4EB2F165667C5L;
    private static final long LOW = 0xffffffffL;

    private static final int STRIPE = 64;

    /** The 192 bytes of the secret, as little-endian longs. */
    private static final long[] SECRET_WORDS = {
        0xbe4ba423396cfeb8L, 0x1cad21f72c81017cL, 0xdb979083e96dd4deL, 0x1f67b3b7a4a44072L,
        0x78e5c0cc4ee679cbL, 0x2172ffcc7dd05a82L, 0x8e2443f7744608b8L, 0x4c263a81e69035e0L,
        0xcb00c391bb52283cL, 0xa32e531b8b65d088L, 0x4ef90da297486471L, 0xd8acdea946ef1938L,
        0x3f349ce33f76faa8L, 0x1d4f0bc7c7bbdcf9L, 0x3159b4cd4be0518aL, 0x647378d9c97e9fc8L,
        0xc3ebd33483acc5eaL, 0xeb6313faffa081c5L, 0x49daf0b751dd0d17L, 0x9e68d429265516d3L,
        0xfca1477d58be162bL, 0xce31d07ad1b8f88fL, 0x280416958f3acb45L, 0x7e404bbbcafbd7afL,
    };

    private static final VarHandle LONGS =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS =
            MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private static final byte[] SECRET = new byte[192];

    static {
        for (int i = 0; i < SECRET_WORDS.length; i++) {
            LONGS.set(SECRET, 8 * i, SECRET_WORDS[i]);
        }
    }

    private static final long FLIP_0 = longAt(SECRET, 56) ^ longAt(SECRET, 64);
    private static final long FLIP_1 = intAt(SECRET, 0) ^ intAt(SECRET, 4);
    private static final long FLIP_4 = longAt(SECRET, 8) ^ longAt(SECRET, 16);
    private static final long FLIP_9_LOW = longAt(SECRET, 24) ^ longAt(SECRET, 32);
    private static final long FLIP_9_HIGH = longAt(SECRET, 40) ^ longAt(SECRET, 48);

    private Xxh3() {
    }

    static long longAt(byte[] bytes, int at) {
        return (long) LONGS.get(bytes, at);
    }

    static void putLong(byte[] bytes, int at, long value) {
        LONGS.set(bytes, at, value);
    }

    static long intAt(byte[] bytes, int at) {
        return (int) INTS.get(bytes, at) & LOW;
    }

    static void putInt(byte[] bytes, int at, int value) {
        INTS.set(bytes, at, value);
    }

    /** The high word of the unsigned product. */
    static long multiplyHigh(long a, long b) {
        return Math.multiplyHigh(a, b) + ((a >> 63) & b) + ((b >> 63) & a);
    }

    private static long fold(long a, long b) {
        return a * b ^ multiplyHigh(a, b);
    }

    private static long avalanche(long h) {
        h ^= h >>> 37;
        h *= 0x165667919E3779F9L;
        return h ^ h >>> 32;
    }

    private static long avalanche64(long h) {
        h ^= h >>> 33;
        h *= PRIME64_2;
        h ^= h >>> 29;
        h *= PRIME64_3;
        return h ^ h >>> 32;
    }

    private static long of4to8(long first, long last, long length, long seed) {
        seed ^= (long) Integer.reverseBytes((int) seed) << 32;
        long h = last + (first << 32) ^ FLIP_4 - seed;
        h ^= Long.rotateLeft(h, 49) ^ Long.rotateLeft(h, 24);
        h *= 0x9FB21C651E98DF25L;
        h ^= (h >>> 35) + length;
        h *= 0x9FB21C651E98DF25L;
        return h ^ h >>> 28;
    }

    /** The hash of the 4 little-endian bytes of a number. */
    static long hash(int value, long seed) {
        return of4to8(value & LOW, value & LOW, 4, seed);
    }

    /** The hash of the 8 little-endian bytes of a number. */
    static long hash(long value, long seed) {
        return of4to8(value & LOW, value >>> 32, 8, seed);
    }

    /** The hash of the 16 bytes of two numbers. */
    static long hash(long first, long last, long seed) {
        return of9to16(first, last, 16, seed);
    }

    private static long of9to16(long first, long last, long length, long seed) {
        long low = first ^ FLIP_9_LOW + seed;
        long high = last ^ FLIP_9_HIGH - seed;
        return avalanche(length + Long.reverseBytes(low) + high + fold(low, high));
    }

    static long hash(byte[] b, long seed) {
        int n = b.length;
        if (n > 16) {
            return n <= 240 ? middle(b, seed) : large(b, seed);
        } else if (n > 8) {
            return of9to16(longAt(b, 0), longAt(b, n - 8), n, seed);
        } else if (n >= 4) {
            return of4to8(intAt(b, 0), intAt(b, n - 4), n, seed);
        } else if (n > 0) {
            long h = (b[0] & 255L) << 16 | (b[n >> 1] & 255L) << 24 | b[n - 1] & 255L | n << 8;
            return avalanche64(h ^ FLIP_1 + seed);
        }
        return avalanche64(seed ^ FLIP_0);
    }

    private static long mix(byte[] b, int at, int secret, long seed) {
        return fold(longAt(b, at) ^ longAt(SECRET, secret) + seed,
                longAt(b, at + 8) ^ longAt(SECRET, secret + 8) - seed);
    }

    /** 17 to 240 bytes. */
    private static long middle(byte[] b, long seed) {
        int n = b.length;
        long h = n * PRIME64_1;
        if (n <= 128) {
            for (int i = 0; i <= (n - 1) / 32; i++) {
                h += mix(b, 16 * i, 32 * i, seed) + mix(b, n - 16 * (i + 1), 32 * i + 16, seed);
            }
            return avalanche(h);
        }
        for (int i = 0; i < 8; i++) {
            h += mix(b, 16 * i, 16 * i, seed);
        }
        h = avalanche(h);
        for (int i = 8; i < n / 16; i++) {
            h += mix(b, 16 * i, 16 * (i - 8) + 3, seed);
        }
        return avalanche(h + mix(b, n - 16, 136 - 17, seed));
    }

    /** More than 240 bytes. */
    private static long large(byte[] b, long seed) {
        final int stripesInBlock = (SECRET.length - STRIPE) / 8;
        byte[] secret = new byte[SECRET.length];
        for (int i = 0; i < secret.length; i += 16) {
            putLong(secret, i, longAt(SECRET, i) + seed);
            putLong(secret, i + 8, longAt(SECRET, i + 8) - seed);
        }
        long[] acc = {PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5,
            PRIME32_1};

        for (int i = 0; i < (b.length - 1) / STRIPE; i++) {
            accumulate(acc, b, i * STRIPE, secret, i % stripesInBlock * 8);
            if (i % stripesInBlock == stripesInBlock - 1) {
                for (int j = 0; j < 8; j++) {
                    long key = longAt(secret, secret.length - STRIPE + 8 * j);
                    acc[j] = (acc[j] ^ acc[j] >>> 47 ^ key) * PRIME32_1;
                }
            }
        }
        accumulate(acc, b, b.length - STRIPE, secret, secret.length - STRIPE - 7);

        long h = b.length * PRIME64_1;
        for (int i = 0; i < 4; i++) {
            h += fold(acc[2 * i] ^ longAt(secret, 11 + 16 * i),
                    acc[2 * i + 1] ^ longAt(secret, 11 + 16 * i + 8));
        }
        return avalanche(h);
    }

    private static void accumulate(long[] acc, byte[] b, int at, byte[] secret, int from) {
        for (int i = 0; i < 8; i++) {
            long value = longAt(b, at + 8 * i);
            long key = value ^ longAt(secret, from + 8 * i);
            acc[i ^ 1] += value;
            acc[i] += (key & LOW) * (key >>> 32);
        }
    }
}
