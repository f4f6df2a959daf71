#!/usr/bin/env python3
"""Make a bloomtype filter outside of PostgreSQL, by docs/format.md.

    seq 1 10 | examples/make_filter.py int8 10 0.01 10 5
                                       type, capacity, fp_prob, bits per key, hashes

It reads keys of type int8 or text, one a line, and prints the filter as text,
for COPY or '...'::bloom.  For the bits per key and the hashes, ask the server:
SELECT * FROM best_params(fp_prob).  It needs the module xxhash (Debian:
python3-xxhash).
"""

import base64
import struct
import sys
import xxhash

INT8, TEXT = 20, 25                         # key types
MULTIPLIER, INCREMENT = 0xD1342543DE82EF95, 0x2545F4914F6CDD1D


def positions(key_hash, bits, hashes):
    a = key_hash
    for _ in range(hashes):
        a = (a * MULTIPLIER + INCREMENT) % 2**64
        yield a * bits >> 64


def make_filter(keys, key_type, capacity, fp_prob, bits_per_key, hashes, seed=0):
    words = max(1, -(-capacity * bits_per_key // 64))
    found = sorted({xxhash.xxh3_64_intdigest(key, seed=seed % 2**64) or 1 for key in keys})
    if len(found) < words:                  # keys form
        form, count = 1, len(found)
        content = b''.join(struct.pack('<Q', h) for h in found)
    else:                                   # bits form
        array = bytearray(words * 8)
        for h in found:
            for position in positions(h, words * 64, hashes):
                array[position // 8] |= 1 << position % 8
        form, count, content = 2, bin(int.from_bytes(array, 'little')).count('1'), bytes(array)
    return struct.pack('<BBBBIIqQdQ', 1, form, hashes, 0, key_type if found else 0,
                       words, seed, capacity, fp_prob, count) + content


if __name__ == '__main__':
    lines = sys.stdin.read().splitlines()
    if sys.argv[1] == 'int8':
        key_type, keys = INT8, [struct.pack('<q', int(line)) for line in lines]
    else:
        key_type, keys = TEXT, [line.encode() for line in lines]
    print(base64.b64encode(make_filter(keys, key_type, int(sys.argv[2]), float(sys.argv[3]),
                                       int(sys.argv[4]), int(sys.argv[5]))).decode())
