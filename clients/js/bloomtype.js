/**
 * Bloom filters of the PostgreSQL extension bloomtype, in JavaScript.
 *
 *     const filter = BloomFilter.from(row.filter)     // filter::bytea, or its text
 *     filter.has('https://example.org/')              // false is certain
 *
 *     const ids = BloomFilter.builder({ capacity: 1e6, keyType: 'bigint' })
 *     ids.addAll([1, 2, 3n])
 *     await sql`SELECT * FROM visit WHERE ${ids.toBytes()}::bytea::bloom @> id`
 *
 * Written from docs/format.md.  One module without dependencies, for Node 18,
 * browsers, workers and edge functions: it needs no WebAssembly, and hashes in
 * 32-bit halves, without BigInt.
 */

/** What the server would say: code is its SQLSTATE. */
export class BloomError extends Error {
  constructor(code, message) {
    super(message)
    this.name = 'BloomError'
    this.code = code
  }
}

const malformed = (message) => new BloomError('22P03', message)
const wrongKey = (message) => new BloomError('22023', message)
const wrongType = (message) => new BloomError('42804', message)

// ----------------------------------------------------------------
// Numbers of 64 bits, in halves of 32
//
// A function leaves its result in H and L, both int32.
// ----------------------------------------------------------------

let H = 0
let L = 0

const TWO_32 = 4294967296

/** The high half of the product of two unsigned numbers. */
function multiplyHigh(a, b) {
  const a0 = a & 0xffff, a1 = a >>> 16, b0 = b & 0xffff, b1 = b >>> 16
  const p01 = Math.imul(a0, b1), p10 = Math.imul(a1, b0)
  const middle = (Math.imul(a0, b0) >>> 16) + (p01 & 0xffff) + (p10 & 0xffff)
  return (Math.imul(a1, b1) + (p01 >>> 16) + (p10 >>> 16) + (middle >>> 16)) | 0
}

/** The low 64 bits of a product. */
function multiply(ah, al, bh, bl) {
  H = (multiplyHigh(al, bl) + Math.imul(ah, bl) + Math.imul(al, bh)) | 0
  L = Math.imul(al, bl)
}

/** The low 64 bits of a product of 128, XOR the high ones. */
function multiplyAndFold(ah, al, bh, bl) {
  const second = (multiplyHigh(al, bl) >>> 0) + (Math.imul(ah, bl) >>> 0) + (Math.imul(al, bh) >>> 0)
  const third = (Math.imul(ah, bh) >>> 0) + (multiplyHigh(ah, bl) >>> 0) + (multiplyHigh(al, bh) >>> 0) +
    Math.floor(second / TWO_32)
  L = Math.imul(al, bl) ^ third
  H = second ^ (multiplyHigh(ah, bh) + Math.floor(third / TWO_32))
}

function add(ah, al, bh, bl) {
  L = (al + bl) | 0
  H = (ah + bh + ((L >>> 0) < (bl >>> 0) ? 1 : 0)) | 0
}

function subtract(ah, al, bh, bl) {
  L = (al - bl) | 0
  H = (ah - bh - ((al >>> 0) < (bl >>> 0) ? 1 : 0)) | 0
}

const swap32 = (x) => (x << 24) | ((x << 8) & 0xff0000) | ((x >>> 8) & 0xff00) | (x >>> 24)

// ----------------------------------------------------------------
// XXH3, 64 bits, with a seed
// ----------------------------------------------------------------

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

const SECRET = viewOf(
  'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221' +
  'b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8' +
  'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb' +
  '170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e')

function viewOf(hex) {
  return new DataView(Uint8Array.from(hex.match(/../g), (byte) => parseInt(byte, 16)).buffer)
}

/** XOR of two words of the secret, from these places. */
const secretXor = (at, other) => SECRET.getInt32(at, true) ^ SECRET.getInt32(other, true)

const UP_TO_3 = secretXor(0, 4)
const UP_TO_8_H = secretXor(12, 20), UP_TO_8_L = secretXor(8, 16)
const UP_TO_16_H = secretXor(28, 36), UP_TO_16_L = secretXor(24, 32)
const UP_TO_16_END_H = secretXor(44, 52), UP_TO_16_END_L = secretXor(40, 48)
const EMPTY_H = secretXor(60, 68), EMPTY_L = secretXor(56, 64)

/** The secret for long keys, which depends on the seed; that of the last seed is kept. */
let longSecret = SECRET
let longSeedH = 0
let longSeedL = 0

function secretForLong(seedH, seedL) {
  if (seedH === longSeedH && seedL === longSeedL) return longSecret
  longSecret = new DataView(new ArrayBuffer(192))
  for (let i = 0; i < 192; i += 8) {
    const step = i % 16 === 0 ? add : subtract
    step(SECRET.getInt32(i + 4, true), SECRET.getInt32(i, true), seedH, seedL)
    longSecret.setInt32(i + 4, H, true)
    longSecret.setInt32(i, L, true)
  }
  longSeedH = seedH
  longSeedL = seedL
  return longSecret
}

function avalanche(h, l) {
  multiply(h, l ^ (h >>> 5), 0x16566791, 0x9e3779f9)
  L ^= H
}

/** That of the older XXH64. */
function avalanche64(h, l) {
  multiply(h, l ^ (h >>> 1), 0xc2b2ae3d, 0x27d4eb4f)
  multiply(H ^ (H >>> 29), L ^ ((L >>> 29) | (H << 3)), 0x165667b1, 0x9e3779f9)
  L ^= H
}

/** The sum of a long key's parts, so far. */
let sumH = 0
let sumL = 0

/** Adds 16 bytes of the key, mixed with 16 of the secret, to the sum. */
function addMixed(data, at, s, seedH, seedL) {
  add(SECRET.getInt32(s + 4, true), SECRET.getInt32(s, true), seedH, seedL)
  const ah = data.getInt32(at + 4, true) ^ H, al = data.getInt32(at, true) ^ L
  subtract(SECRET.getInt32(s + 12, true), SECRET.getInt32(s + 8, true), seedH, seedL)
  multiplyAndFold(ah, al, data.getInt32(at + 12, true) ^ H, data.getInt32(at + 8, true) ^ L)
  add(sumH, sumL, H, L)
  sumH = H
  sumL = L
}

function hashUpTo16(data, length, seedH, seedL) {
  if (length > 8) {
    add(UP_TO_16_H, UP_TO_16_L, seedH, seedL)
    const ah = data.getInt32(4, true) ^ H, al = data.getInt32(0, true) ^ L
    subtract(UP_TO_16_END_H, UP_TO_16_END_L, seedH, seedL)
    const bh = data.getInt32(length - 4, true) ^ H, bl = data.getInt32(length - 8, true) ^ L
    multiplyAndFold(ah, al, bh, bl)
    add(H, L, bh, bl)
    add(H, L, swap32(al), swap32(ah))
    add(H, L, 0, length)
    avalanche(H, L)
  } else if (length >= 4) {
    subtract(UP_TO_8_H, UP_TO_8_L, seedH ^ swap32(seedL), seedL)
    const h = data.getInt32(0, true) ^ H, l = data.getInt32(length - 4, true) ^ L
    // XOR itself, rotated left by 49 and by 24
    multiply(h ^ ((l << 17) | (h >>> 15)) ^ ((h << 24) | (l >>> 8)),
      l ^ ((h << 17) | (l >>> 15)) ^ ((l << 24) | (h >>> 8)), 0x9fb21c65, 0x1e98df25)
    multiply(H, L ^ ((H >>> 3) + length), 0x9fb21c65, 0x1e98df25)
    L ^= (L >>> 28) | (H << 4)
    H ^= H >>> 28
  } else if (length > 0) {
    add(0, UP_TO_3, seedH, seedL)
    avalanche64(H, L ^ ((data.getUint8(0) << 16) | (data.getUint8(length >> 1) << 24) |
      data.getUint8(length - 1) | (length << 8)))
  } else {
    avalanche64(seedH ^ EMPTY_H, seedL ^ EMPTY_L)
  }
}

function hashUpTo240(data, length, seedH, seedL) {
  multiply(0, length, 0x9e3779b1, 0x85ebca87)
  sumH = H
  sumL = L
  if (length <= 128) {
    for (let i = (length - 1) >> 5; i >= 0; i--) {
      addMixed(data, 16 * i, 32 * i, seedH, seedL)
      addMixed(data, length - 16 * (i + 1), 32 * i + 16, seedH, seedL)
    }
  } else {
    for (let i = 0; i < 8; i++) addMixed(data, 16 * i, 16 * i, seedH, seedL)
    avalanche(sumH, sumL)
    sumH = H
    sumL = L
    for (let i = 8; i < length >> 4; i++) addMixed(data, 16 * i, 16 * (i - 8) + 3, seedH, seedL)
    addMixed(data, length - 16, 119, seedH, seedL)
  }
  avalanche(sumH, sumL)
}

const accumulators = new Int32Array(16)     // low, high

function accumulate(data, at, secret, s) {
  const acc = accumulators
  for (let i = 0; i < 16; i += 2) {
    const l = data.getInt32(at + 4 * i, true), h = data.getInt32(at + 4 * i + 4, true)
    const keyL = l ^ secret.getInt32(s + 4 * i, true), keyH = h ^ secret.getInt32(s + 4 * i + 4, true)
    const other = i ^ 2

    add(acc[other + 1], acc[other], h, l)
    acc[other + 1] = H
    acc[other] = L
    add(acc[i + 1], acc[i], multiplyHigh(keyL, keyH), Math.imul(keyL, keyH))
    acc[i + 1] = H
    acc[i] = L
  }
}

function hashLong(data, length, seedH, seedL) {
  const acc = accumulators
  const secret = secretForLong(seedH, seedL)
  const stripes = Math.floor((length - 1) / 64)

  acc.set([0xc2b2ae3d, 0, 0x85ebca87, 0x9e3779b1, 0x27d4eb4f, 0xc2b2ae3d, 0x9e3779f9, 0x165667b1,
    0xc2b2ae63, 0x85ebca77, 0x85ebca77, 0, 0x165667c5, 0x27d4eb2f, 0x9e3779b1, 0])
  for (let stripe = 0; stripe < stripes; stripe++) {
    accumulate(data, 64 * stripe, secret, 8 * (stripe % 16))
    if (stripe % 16 !== 15) continue
    for (let i = 0; i < 16; i += 2) {
      const h = acc[i + 1], l = acc[i]
      multiply(h ^ secret.getInt32(128 + 4 * i + 4, true),
        l ^ (h >>> 15) ^ secret.getInt32(128 + 4 * i, true), 0, 0x9e3779b1)
      acc[i + 1] = H
      acc[i] = L
    }
  }
  accumulate(data, length - 64, secret, 121)

  multiply(Math.floor(length / TWO_32), length | 0, 0x9e3779b1, 0x85ebca87)
  for (let i = 0; i < 16; i += 4) {
    const h = H, l = L, s = 11 + 4 * i
    multiplyAndFold(acc[i + 1] ^ secret.getInt32(s + 4, true), acc[i] ^ secret.getInt32(s, true),
      acc[i + 3] ^ secret.getInt32(s + 12, true), acc[i + 2] ^ secret.getInt32(s + 8, true))
    add(h, l, H, L)
  }
  avalanche(H, L)
}

/** The hash of the first bytes of a view into H and L; it is never 0. */
function hash(data, length, seedH, seedL) {
  if (length <= 16) hashUpTo16(data, length, seedH, seedL)
  else if (length <= 240) hashUpTo240(data, length, seedH, seedL)
  else hashLong(data, length, seedH, seedL)
  if ((H | L) === 0) L = 1
}

const bigint = (h, l) => (BigInt(h >>> 0) << 32n) | BigInt(l >>> 0)

// ----------------------------------------------------------------
// Canonical bytes
//
// An encoder writes the bytes of a key into `scratch` and returns how many
// these are, or -1 for a key that is certainly in no filter of this type.
// ----------------------------------------------------------------

let scratch = new DataView(new ArrayBuffer(4096))
let scratchBytes = new Uint8Array(scratch.buffer)

function makeRoom(size) {
  if (size <= scratchBytes.length) return
  scratch = new DataView(new ArrayBuffer(2 * size))
  scratchBytes = new Uint8Array(scratch.buffer)
}

function show(key) {
  const text = typeof key === 'string' ? JSON.stringify(key) : String(key)
  return text.length > 60 ? text.slice(0, 57) + '...' : text
}

function expect(ok, key, type, what) {
  if (!ok) throw wrongType(`${show(key)} is no key of type ${type}: it must be ${what}`)
}

function encodeText(key) {
  expect(typeof key === 'string', key, 'text', 'a string')
  makeRoom(3 * key.length)
  const out = scratchBytes
  let n = 0
  for (let i = 0; i < key.length; i++) {
    let c = key.charCodeAt(i)
    if (c < 0x80) {
      if (c === 0) throw wrongKey('a text has no character 0')
      out[n++] = c
      continue
    }
    if (c < 0x800) {
      out[n++] = 0xc0 | (c >> 6)
    } else {
      if (c < 0xd800 || c > 0xdfff) {
        out[n++] = 0xe0 | (c >> 12)
      } else {
        const low = key.charCodeAt(++i)
        if (c > 0xdbff || !(low >= 0xdc00 && low <= 0xdfff)) throw wrongKey('a text has no half of a surrogate pair')
        c = 0x10000 + ((c & 0x3ff) << 10) + (low & 0x3ff)
        out[n++] = 0xf0 | (c >> 18)
        out[n++] = 0x80 | ((c >> 12) & 0x3f)
      }
      out[n++] = 0x80 | ((c >> 6) & 0x3f)
    }
    out[n++] = 0x80 | (c & 0x3f)
  }
  return n
}

function bytesOf(value) {
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  return ArrayBuffer.isView(value) ? new Uint8Array(value.buffer, value.byteOffset, value.byteLength) : null
}

function encodeBytes(key) {
  const bytes = bytesOf(key)
  expect(bytes, key, 'bytea', 'a Uint8Array, a Buffer or an ArrayBuffer')
  makeRoom(bytes.length)
  scratchBytes.set(bytes)
  return bytes.length
}

/** A number of 8 bytes that is an integer within 2^53. */
function putInteger(value) {
  scratch.setInt32(0, value | 0, true)
  scratch.setInt32(4, Math.floor(value / TWO_32), true)
  return 8
}

function encodeInteger(key) {
  if (typeof key === 'number') {
    if (Number.isSafeInteger(key)) return putInteger(key)
    if (!Number.isInteger(key)) return -1
    throw wrongKey(`${key} may have been rounded, beyond 2^53; take the key as a bigint from where it comes, as in 123n`)
  }
  expect(typeof key === 'bigint', key, 'bigint', 'a number or a bigint')
  if (key !== BigInt.asIntN(64, key)) return -1
  scratch.setBigInt64(0, key, true)
  return 8
}

function encodeFloat(key) {
  if (typeof key === 'bigint') {
    key = Number(key)
    if (!Number.isFinite(key)) return -1
  }
  expect(typeof key === 'number', key, 'double precision', 'a number')
  if (key !== key) {
    scratch.setInt32(0, 0)
    scratch.setInt32(4, 0x7ff80000, true)
  } else scratch.setFloat64(0, key + 0, true)     // -0 + 0 is 0
  return 8
}

function encodeBoolean(key) {
  expect(typeof key === 'boolean', key, 'boolean', 'true or false')
  scratch.setUint8(0, key ? 1 : 0)
  return 1
}

const UUID = /^\{?([0-9a-f]{4}-?){7}[0-9a-f]{4}\}?$/i

function encodeUuid(key) {
  const bytes = bytesOf(key)
  if (bytes) {
    expect(bytes.length === 16, key, 'uuid', 'its text or 16 bytes')
    return encodeBytes(bytes)
  }
  expect(typeof key === 'string' && UUID.test(key) && key.startsWith('{') === key.endsWith('}'), key, 'uuid',
    'its text or 16 bytes')
  const digits = key.replace(/[-{}]/g, '')
  for (let i = 0; i < 4; i++) scratch.setInt32(4 * i, parseInt(digits.slice(8 * i, 8 * i + 8), 16))
  return 16
}

const DAY = 86400000
const DAYS_TO_2000 = 10957
const MICROSECONDS_TO_2000 = BigInt(DAYS_TO_2000 * DAY) * 1000n

function encodeDate(key) {
  let days
  if (key === 'infinity' || key === '-infinity') {
    scratch.setInt32(0, key === 'infinity' ? 0x7fffffff : -0x80000000, true)
    return 4
  }
  if (typeof key === 'string') {
    const time = /^\d{4,6}-\d\d-\d\d$/.test(key) ? Date.parse(key.padStart(13, '+000')) : NaN
    // no 31st of June
    expect(time === time && new Date(time).toISOString().includes(key + 'T'), key, 'date', "a string such as '2026-11-22'")
    days = time / DAY
  } else {
    expect(key instanceof Date, key, 'date', "a string such as '2026-11-22' or a Date")
    days = key.getTime() / DAY
    if (!Number.isInteger(days)) throw wrongKey(`${key} is not midnight UTC; write the date as a string, such as '2026-11-22'`)
  }
  scratch.setInt32(0, days - DAYS_TO_2000, true)
  return 4
}

function encodeTimestamp(key) {
  if (key === 'infinity' || key === '-infinity') {
    scratch.setBigInt64(0, key === 'infinity' ? 2n ** 63n - 1n : -(2n ** 63n), true)
    return 8
  }
  if (typeof key === 'bigint') return encodeInteger(key - MICROSECONDS_TO_2000)
  expect(key instanceof Date, key, 'timestamp', 'a Date, or a bigint of microseconds since 1970')
  if (Number.isNaN(key.getTime())) throw wrongKey('the date is invalid')
  const microseconds = (key.getTime() - DAYS_TO_2000 * DAY) * 1000
  return Number.isSafeInteger(microseconds) ? putInteger(microseconds)
    : encodeInteger(BigInt(key.getTime() - DAYS_TO_2000 * DAY) * 1000n)
}

/** Key types: number, name in SQL, other names, encoder. */
const TYPES = [
  [20, 'bigint', ['int8'], encodeInteger],
  [25, 'text', ['varchar', 'name'], encodeText],
  [17, 'bytea', [], encodeBytes],
  [2950, 'uuid', [], encodeUuid],
  [701, 'double precision', ['float8'], encodeFloat],
  [16, 'boolean', ['bool'], encodeBoolean],
  [1082, 'date', [], encodeDate],
  [1114, 'timestamp without time zone', ['timestamp'], encodeTimestamp],
  [1184, 'timestamp with time zone', ['timestamptz'], encodeTimestamp],
]

/** The name of the key types without an encoder here. */
const OTHER_TYPES = {
  18: '"char"', 26: 'oid', 27: 'tid', 28: 'xid', 29: 'cid', 774: 'macaddr8', 790: 'money', 829: 'macaddr', 869: 'inet',
  1083: 'time without time zone', 1186: 'interval', 1266: 'time with time zone', 1562: 'bit varying',
  1700: 'numeric', 3220: 'pg_lsn', 3802: 'jsonb', 5069: 'xid8',
}

class KeyType {
  constructor(number, name, encode, sqlType = name) {
    this.number = number
    this.name = name                // of a built-in type, that in SQL
    this.sqlType = sqlType          // of the keys: integer, where name is bigint
    this.isNamed = number >= 2 ** 31
    this.encode = encode || (() => {
      throw wrongType(`keys of type ${name} cannot be hashed in JavaScript; send the key to the server`)
    })
  }
}

const BUILT_IN = new Map()
const BY_NAME = new Map()
for (const [number, name, others, encode] of TYPES) {
  const type = new KeyType(number, name, encode)
  BUILT_IN.set(number, type)
  for (const each of [name, ...others]) BY_NAME.set(each, type)
}

// narrower types have the bytes of the wider one, but not all of its values
const narrow = (names, number, name, encode) => {
  for (const each of names) BY_NAME.set(each, new KeyType(number, name, encode, names[0]))
}
for (const [limit, names] of [[2 ** 31, ['integer', 'int', 'int4']], [2 ** 15, ['smallint', 'int2']]]) {
  narrow(names, 20, 'bigint', (key) => {
    const length = encodeInteger(key)
    return key >= -limit && key < limit ? length : -1
  })
}
narrow(['real', 'float4'], 701, 'double precision', (key) => {
  if (typeof key !== 'number' && typeof key !== 'bigint') return encodeFloat(key)
  const real = Math.fround(Number(key))
  return Number.isFinite(real) || !Number.isFinite(key) && typeof key === 'number' ? encodeFloat(real) : -1
})

function namedKeyType(name) {
  const bytes = new TextEncoder().encode(name)
  hash(new DataView(bytes.buffer, bytes.byteOffset, bytes.length), bytes.length, 0, 0)
  const isEnum = /^enum ([a-z_][a-z0-9_]*|"([^"]|"")+")$/.test(name)
  return new KeyType((L | 0x80000000) >>> 0, name, isEnum ? encodeText : null)
}

function keyTypeNamed(name) {
  const known = BY_NAME.get(String(name).toLowerCase())
  if (known) return known
  if (String(name).startsWith('enum ')) return namedKeyType(name)
  throw wrongType(`keys of type ${name} cannot be hashed in JavaScript`)
}

// ----------------------------------------------------------------
// Sizes
// ----------------------------------------------------------------

const MAX_BITS = TWO_32

/** That of the published table: three digits, and 0.092 where 0.0918 is right. */
function publishedRate(bitsPerKey, hashes, rate) {
  if (bitsPerKey === 5 && hashes === 3) return 0.092
  return bitsPerKey >= 2 && bitsPerKey <= 20 ? Number(rate.toPrecision(3)) : rate
}

/**
 * The least whole number of bits per key that reaches a rate, the least hashes,
 * and the rate that these have: best_params of the server.
 */
export function bestParams(fpProb) {
  if (typeof fpProb === 'number' && fpProb > 0 && fpProb < 1) {
    for (let bitsPerKey = 1; bitsPerKey <= 64; bitsPerKey++) {
      for (let hashes = 1; hashes <= Math.ceil(bitsPerKey * Math.LN2); hashes++) {
        const rate = (-Math.expm1(-hashes / bitsPerKey)) ** hashes
        if (publishedRate(bitsPerKey, hashes, rate) <= fpProb) return { bitsPerKey, hashes, fpProb: rate }
      }
    }
  }
  throw wrongKey(`fpProb ${fpProb} is out of range: it must be at least 4.43e-14, and less than 1`)
}

/** The shape of a filter for so many keys: bloom_params of the server. */
export function params(capacity, fpProb = 0.01) {
  const isNumber = typeof capacity === 'number' || typeof capacity === 'bigint'
  if (!(isNumber && capacity >= 1 && capacity <= 2 ** 53)) {
    throw wrongKey(`capacity ${capacity} is out of range: it is a number of keys, at least 1`)
  }
  const { bitsPerKey, hashes } = bestParams(fpProb)
  const keys = Math.ceil(Number(capacity))
  if (keys > Math.floor(MAX_BITS / bitsPerKey)) {
    throw new BloomError('54000',
      `capacity ${keys} is too large for one filter: with fpProb ${fpProb}, at most ${Math.floor(MAX_BITS / bitsPerKey)}`)
  }
  const bits = Math.ceil(keys * bitsPerKey / 64) * 64
  return { bits, hashes, bytes: 44 + bits / 8, fpProb: (-Math.expm1(-hashes * keys / bits)) ** hashes }
}

// ----------------------------------------------------------------
// Positions
// ----------------------------------------------------------------

/**
 * The next position of the hash in H and L, which becomes that of the next one.
 *
 * A position is the high word of the hash times the number of bits.  With the
 * bits in two halves of 16 bits, no product has more than 2^53.
 */
function nextPosition(bitsHigh, bitsLow) {
  multiply(H, L, 0xd1342543, 0xde82ef95)
  add(H, L, 0x2545f491, 0x4f6cdd1d)
  const h = H >>> 0, l = L >>> 0
  const low = Math.floor((l * bitsHigh + Math.floor(l * bitsLow / 65536)) / 65536)
  return Math.floor((h * bitsHigh + Math.floor((h * bitsLow + low) / 65536)) / 65536)
}

// ----------------------------------------------------------------
// The bytes of a filter
// ----------------------------------------------------------------

const HEADER = 44
const KEYS = 1
const BITS = 2

/** The bits set in some bytes. */
function countBits(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let count = 0
  for (let i = 0; i < bytes.length; i += 4) {
    let x = view.getInt32(i, true)
    x -= (x >>> 1) & 0x55555555
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333)
    count += Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
  }
  return count
}

/** A filter's fields, or an error if these are not the bytes of one. */
function decode(bytes) {
  if (bytes.length < HEADER) throw malformed('there are fewer bytes than a header has')
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const form = view.getUint8(1)
  const typeWords = view.getUint8(3)
  const number = view.getUint32(4, true)
  const words = view.getUint32(8, true)
  const capacity = view.getBigUint64(20, true)
  const bigCount = view.getBigUint64(36, true)
  const start = HEADER + 8 * typeWords
  const fields = {
    form,
    hashes: view.getUint8(2),
    keyType: null,
    bits: 64 * words,
    seedH: view.getInt32(16, true),
    seedL: view.getInt32(12, true),
    capacity,
    fpProb: view.getFloat64(28, true),
    count: Number(bigCount),
    content: bytes.subarray(start),
  }
  const { hashes, fpProb, count, content } = fields

  if (view.getUint8(0) !== 1) throw malformed('the version is unknown')
  if (form === KEYS + 16 || form === BITS + 16) throw malformed('it is a counting_bloom; cast it to bloom, in the server')
  if (form !== KEYS && form !== BITS) throw malformed('the representation is unknown')
  if (number >= 10000 && number < 2 ** 31) throw malformed('the key type is not a built-in type')
  if (number >= 2 ** 31 !== typeWords > 0 || typeWords > 128) throw malformed('the name of the key type has a wrong size')
  if (words === 0) {
    if (bytes.length !== HEADER || bytes.some((byte, i) => byte !== (i < 2 ? 1 : 0))) {
      throw malformed('a filter without a shape is not all zero')
    }
    return fields
  }
  if (words > MAX_BITS / 64) throw malformed('the number of bits is out of range')
  if (hashes < 1 || hashes > 64) throw malformed('the number of hashes is out of range')
  if (capacity < 1n || capacity >= 2n ** 63n) throw malformed('the capacity is out of range')
  if (!(fpProb > 0 && fpProb < 1)) throw malformed('the fp_prob is out of range')
  if (bigCount > 0n && number === 0) throw malformed('there are keys, but no key type')
  if (form === KEYS && bigCount >= words) throw malformed('there are too many keys for the keys form')
  if (form === BITS && bigCount === 0n) throw malformed('no bit is set in the bits form')
  if (bytes.length !== start + 8 * (form === KEYS ? count : words)) {
    throw malformed('the number of bytes does not match the header')
  }
  if (typeWords > 0) fields.keyType = decodeName(bytes.subarray(HEADER, start), number)
  else if (number > 0) fields.keyType = BUILT_IN.get(number) || new KeyType(number, OTHER_TYPES[number] || `${number}`)

  if (form === BITS) {
    if (countBits(content) !== count) throw malformed('the number of bits set does not match')
  } else {
    for (let at = start, h = 0, l = 0; at < bytes.length; at += 8) {
      const nextL = view.getUint32(at, true), nextH = view.getUint32(at + 4, true)
      if (nextH < h || (nextH === h && nextL <= l)) throw malformed('the keys are not ascending')
      h = nextH
      l = nextL
    }
  }
  return fields
}

function decodeName(bytes, number) {
  let length = bytes.indexOf(0)
  if (length < 0) length = bytes.length
  if (bytes.subarray(length).some((byte) => byte !== 0)) throw malformed('the name of the key type is not padded with zeros')
  if (bytes.length - length >= 8) throw malformed('the name of the key type has a wrong size')
  let name
  try {
    name = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length))
  } catch {
    throw malformed('the name of the key type is not UTF-8')
  }
  // eslint-disable-next-line no-control-regex
  if (/[\x00-\x1f\x7f]/.test(name)) throw malformed('the name of the key type has a control character')
  const type = namedKeyType(name)
  if (type.number !== number) throw malformed('the number of the key type does not match its name')
  return type
}

const NO_DIGIT = 64
const SPACE = 65
const PADDING = '='.charCodeAt(0)

/** By the code of a character: its value in base64. */
const BASE64 = new Uint8Array(128).fill(NO_DIGIT)
for (const space of ' \t\n\r\f\v') BASE64[space.charCodeAt(0)] = SPACE
for (const [i, digit] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  BASE64[digit.charCodeAt(0)] = i
}

function decodeBase64(text) {
  const bytes = new Uint8Array(Math.ceil(text.length / 4) * 3)
  let n = 0, digits = 0, padding = 0, group = 0
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    const value = c < 128 ? BASE64[c] : NO_DIGIT
    if (value === SPACE) continue
    if (c === PADDING && padding < 2) {
      padding++
      group <<= 6
    } else if (value < NO_DIGIT && padding === 0) {
      group = (group << 6) | value
    } else throw malformed('it is not base64')
    if (++digits % 4 === 0) {
      bytes[n++] = group >> 16
      bytes[n++] = group >> 8
      bytes[n++] = group
      group = 0
    }
  }
  // the bits that the padding stands for are zero
  if (digits % 4 !== 0 || bytes.subarray(n - padding, n).some((byte) => byte !== 0)) throw malformed('it is not base64')
  return bytes.slice(0, n - padding)
}

function encodeBase64(bytes) {
  let text = ''
  for (let i = 0; i < bytes.length; i += 0x6000) {
    text += btoa(String.fromCharCode(...bytes.subarray(i, i + 0x6000)))
  }
  return text
}

/** The key type of a key, given those that the caller and the filter name. */
function agree(own, given) {
  if (given === undefined) {
    if (own) return own
    throw wrongType('the filter has no key type yet; name that of the key')
  }
  const type = keyTypeNamed(given)
  if (own && own.name !== type.name) {
    throw wrongType(`key type ${type.name} does not match the Bloom filter's key type ${own.name}`)
  }
  return type
}

function setHash(hash) {
  H = Number(BigInt.asIntN(32, hash >> 32n))
  L = Number(BigInt.asIntN(32, hash))
  if ((H | L) === 0) L = 1
}

/** The halves of a seed. */
function halves(seed) {
  const isInteger = typeof seed === 'bigint' || Number.isSafeInteger(seed)
  if (!isInteger || BigInt(seed) !== BigInt.asIntN(64, BigInt(seed))) {
    throw wrongKey(`seed ${seed} is out of range: it is an integer of 64 bits, with a sign`)
  }
  return [Number(BigInt.asIntN(32, BigInt(seed) >> 32n)), Number(BigInt.asIntN(32, BigInt(seed)))]
}

/** The hash of a key, as a signed number: bloom_hash of the server. */
export function hashKey(key, type, seed = 0n) {
  const length = keyTypeNamed(type).encode(key)
  if (length < 0) throw wrongKey(`${show(key)} is no ${type}`)
  hash(scratch, length, ...halves(seed))
  return BigInt.asIntN(64, bigint(H, L))
}

// ----------------------------------------------------------------
// A filter, to be tested
// ----------------------------------------------------------------

let fieldsOf

export class BloomFilter {
  #bytes
  #fields
  #view             // of the content
  #bitsHigh
  #bitsLow

  /** BloomFilter.from makes one. */
  constructor(bytes) {
    const fields = decode(bytes)
    this.#bytes = bytes
    this.#fields = fields
    this.#view = new DataView(fields.content.buffer, fields.content.byteOffset, fields.content.length)
    this.#bitsHigh = Math.floor(fields.bits / 65536)
    this.#bitsLow = fields.bits % 65536
  }

  /**
   * The filter of the bytes of filter::bytea, which are not copied, or of its text.
   */
  static from(source) {
    if (typeof source === 'string') return new BloomFilter(decodeBase64(source))
    const bytes = bytesOf(source)
    if (!bytes) throw new TypeError('a filter is read from a Uint8Array, a Buffer, an ArrayBuffer or a string of base64')
    return new BloomFilter(bytes)
  }

  static builder(options) {
    return new BloomBuilder(options)
  }

  /** Is the key possibly in the filter?  False is certain. */
  has(key, type) {
    const { keyType, seedH, seedL } = this.#fields
    const length = (type === undefined && keyType !== null ? keyType : this.#agree(type, key)).encode(key)
    if (length < 0) return false
    hash(scratch, length, seedH, seedL)
    return this.#test()
  }

  /** Without a key type, the filter has no key. */
  #agree(type, key) {
    if (type === undefined && this.#fields.keyType === null) return { encode: () => -1 }
    return agree(this.#fields.keyType, type, key)
  }

  static {
    fieldsOf = (filter) => filter.#fields
  }

  /** The same by a hash: a bigint, as bloom_hash and hashKey return it. */
  hasHash(hash) {
    setHash(hash)
    return this.#test()
  }

  /** Is the hash in H and L in the filter? */
  #test() {
    const { form, hashes, content } = this.#fields
    if (form === KEYS) return this.#find(H >>> 0, L >>> 0)
    for (let i = 0; i < hashes; i++) {
      const position = nextPosition(this.#bitsHigh, this.#bitsLow)
      if (((content[position >>> 3] >> (position & 7)) & 1) === 0) return false
    }
    return true
  }

  /** Binary search in the keys. */
  #find(h, l) {
    const view = this.#view
    let low = 0
    let high = this.#fields.count
    while (low < high) {
      const middle = (low + high) >>> 1
      const otherH = view.getUint32(8 * middle + 4, true), otherL = view.getUint32(8 * middle, true)
      if (otherH === h && otherL === l) return true
      if (otherH < h || (otherH === h && otherL < l)) low = middle + 1
      else high = middle
    }
    return false
  }

  /** The bits that a key sets, as bloom_positions returns them. */
  positions(key, type) {
    const { keyType, seedH, seedL } = this.#fields
    const length = agree(keyType, type).encode(key)
    if (length < 0) return []
    hash(scratch, length, seedH, seedL)
    return this.#positions()
  }

  positionsOfHash(hash) {
    setHash(hash)
    return this.#positions()
  }

  #positions() {
    return Array.from({ length: this.#fields.hashes }, () => nextPosition(this.#bitsHigh, this.#bitsLow))
  }

  /** The filter of the keys of both, which have the same shape and type of keys. */
  union(other) {
    const a = this.#fields, b = other.#fields
    if (a.bits === 0) return other
    if (b.bits === 0) return this
    const fields = combine(a, b)
    const content = new Content(fields)
    for (const filter of [this, other]) {
      if (filter.#fields.form === BITS) content.addBits(filter.#fields.content)
      else filter.#eachKey(() => content.add(H, L))
    }
    return new BloomFilter(content.encode(fields))
  }

  /** A filter of at least the keys that are in both: its rate is higher. */
  intersect(other) {
    const a = this.#fields, b = other.#fields
    if (a.bits === 0) return this
    if (b.bits === 0) return other
    const fields = combine(a, b)
    const content = new Content(fields)
    if (!a.keyType || !b.keyType) {
      fields.keyType = null
    } else if (a.form === BITS && b.form === BITS) {
      const both = a.content.map((byte, i) => byte & b.content[i])
      if (both.some((byte) => byte !== 0)) content.addBits(both)
    } else {
      const [keys, tested] = a.form === KEYS ? [this, other] : [other, this]
      keys.#eachKey((h, l) => {
        if (tested.#test()) content.add(h, l)
      })
    }
    return new BloomFilter(content.encode(fields))
  }

  /** Calls visit with the halves of each hash of a filter in keys form, which are in H and L, too. */
  #eachKey(visit) {
    for (let at = 0; at < 8 * this.#fields.count; at += 8) {
      H = this.#view.getInt32(at + 4, true)
      L = this.#view.getInt32(at, true)
      visit(H, L)
    }
  }

  /** What bloom_info of the server returns. */
  get info() {
    const { form, hashes, keyType, bits, seedH, seedL, capacity, fpProb } = this.#fields
    const { keys, fpProbNow, fill } = measure(this.#fields)
    return {
      keyType: keyType && keyType.name,
      bits,
      hashes,
      seed: BigInt.asIntN(64, bigint(seedH, seedL)),
      capacity: Number(capacity),
      fpProb,
      keys: Math.round(keys),
      fpProbNow,
      fill,
      bytes: this.#bytes.length,
      representation: form === KEYS ? 'keys' : 'bits',
    }
  }

  /** Does it hold more keys than it is sized for?  bloom_is_overfull of the server, and its WARNING. */
  get isOverfull() {
    return isOverfull(this.#fields)
  }

  /** The bytes that the server takes: $1::bytea::bloom.  They are not copied. */
  toBytes() {
    return this.#bytes
  }

  /** The text form, base64. */
  toString() {
    return encodeBase64(this.#bytes)
  }

  /** In JSON, the text form, which BloomFilter.from reads. */
  toJSON() {
    return this.toString()
  }

  /** As a parameter of node-postgres, the text form. */
  toPostgres() {
    return this.toString()
  }
}

// ----------------------------------------------------------------
// What a filter holds, while it changes
// ----------------------------------------------------------------

/** Whether a word of 64 bits has its low half first in memory. */
const LOW_FIRST = new Uint8Array(Uint32Array.of(1).buffer)[0]

/**
 * As long as there are fewer keys than words, these are the hashes of the keys:
 * a sorted list, and behind it those that were added since.
 */
class Content {
  #bits
  #hashes
  #list = new BigUint64Array(64)
  #halves = new Uint32Array(this.#list.buffer)
  #used = 0
  #array = null           // of bits, in place of the list

  constructor({ bits, hashes }) {
    this.#bits = bits
    this.#hashes = hashes
  }

  add(h, l) {
    if (!this.#array && this.#used === this.#list.length) this.#makeRoom()
    if (this.#array) return this.#set(h, l)
    this.#halves[2 * this.#used + LOW_FIRST] = h
    this.#halves[2 * this.#used + 1 - LOW_FIRST] = l
    this.#used++
  }

  #set(h, l) {
    const bitsHigh = Math.floor(this.#bits / 65536), bitsLow = this.#bits % 65536
    H = h
    L = l
    for (let i = 0; i < this.#hashes; i++) {
      const position = nextPosition(bitsHigh, bitsLow)
      this.#array[position >>> 3] |= 1 << (position & 7)
    }
  }

  #makeRoom() {
    this.#sort()
    if (this.#array || 2 * this.#used < this.#list.length) return
    const list = new BigUint64Array(2 * this.#list.length)
    list.set(this.#list)
    this.#list = list
    this.#halves = new Uint32Array(list.buffer)
  }

  /** Sorts the list, without repeats; as many keys as words become bits. */
  #sort() {
    const halves = this.#halves
    let distinct = 0
    this.#list.subarray(0, this.#used).sort()
    for (let at = 0; at < 2 * this.#used; at += 2) {
      if (distinct > 0 && halves[at] === halves[2 * distinct - 2] && halves[at + 1] === halves[2 * distinct - 1]) continue
      halves[2 * distinct] = halves[at]
      halves[2 * distinct + 1] = halves[at + 1]
      distinct++
    }
    this.#used = distinct
    if (distinct > 0 && distinct >= this.#bits / 64) this.#toBits()
  }

  #toBits() {
    const halves = this.#halves
    this.#array = new Uint8Array(this.#bits / 8)
    for (let i = 0; i < this.#used; i++) this.#set(halves[2 * i + LOW_FIRST], halves[2 * i + 1 - LOW_FIRST])
    this.#list = this.#halves = null
  }

  /** Adds an array of bits. */
  addBits(bits) {
    if (!this.#array) this.#toBits()
    for (let i = 0; i < bits.length; i++) this.#array[i] |= bits[i]
  }

  /** The bytes of a filter with these fields and this content. */
  encode({ bits, hashes, keyType, seedH, seedL, capacity, fpProb }) {
    if (!this.#array) this.#sort()
    const count = this.#array ? countBits(this.#array) : this.#used
    const name = keyType && keyType.isNamed ? new TextEncoder().encode(keyType.name) : []
    const start = HEADER + Math.ceil(name.length / 8) * 8
    const bytes = new Uint8Array(start + (this.#array ? bits / 8 : 8 * count))
    const view = new DataView(bytes.buffer)

    bytes.set([1, this.#array ? BITS : KEYS, hashes, (start - HEADER) / 8])
    view.setUint32(4, keyType ? keyType.number : 0, true)
    view.setUint32(8, bits / 64, true)
    view.setInt32(12, seedL, true)
    view.setInt32(16, seedH, true)
    view.setBigUint64(20, capacity, true)
    view.setFloat64(28, fpProb, true)
    view.setBigUint64(36, BigInt(count), true)
    bytes.set(name, HEADER)
    if (this.#array) bytes.set(this.#array, start)
    else for (let i = 0; i < 2 * count; i++) view.setUint32(start + 4 * i, this.#halves[i ^ 1 ^ LOW_FIRST], true)
    return bytes
  }
}

/** What the keys of a filter have made of it: how many they are, the rate now, the fraction of bits that are set. */
function measure({ form, hashes, bits, count }) {
  if (form === KEYS) {
    return { keys: count, fpProbNow: count / 2 ** 64, fill: bits === 0 ? 0 : -Math.expm1(-hashes * count / bits) }
  }
  // a full filter has at least as many keys as fill all bits but one
  const keys = -bits / hashes * Math.log1p(-Math.min(count, bits - 1) / bits)
  return { keys, fpProbNow: (count / bits) ** hashes, fill: count / bits }
}

/** A rate above fpProb, and more keys than the capacity by four standard errors of the estimate. */
function isOverfull(fields) {
  const { bits, hashes, fpProb } = fields
  const { keys, fpProbNow } = measure(fields)
  const capacity = Number(fields.capacity), c = hashes * capacity / bits
  return fields.form === BITS && fpProbNow > fpProb &&
    keys > capacity + 4 * Math.sqrt(bits * (Math.expm1(c) - c)) / hashes
}

function warn({ keys, capacity, fpProb, fpProbNow }) {
  console.warn(`bloomtype: the filter holds about ${keys} keys, its capacity is ${capacity}; ` +
    `its false-positive rate is now ${fpProbNow.toPrecision(3)}, not ${fpProb}`)
}

/** The fields of a combination: the larger capacity, with its rate. */
function combine(a, b) {
  if (a.bits !== b.bits || a.hashes !== b.hashes || a.seedH !== b.seedH || a.seedL !== b.seedL) {
    throw wrongType('Bloom filters of different shapes cannot be combined')
  }
  if (a.keyType && b.keyType && a.keyType.name !== b.keyType.name) {
    throw wrongType(`a Bloom filter of ${a.keyType.name} cannot be combined with one of ${b.keyType.name}`)
  }
  const { capacity, fpProb } = a.capacity > b.capacity || (a.capacity === b.capacity && a.fpProb > b.fpProb) ? a : b
  return { ...a, keyType: a.keyType || b.keyType, capacity, fpProb }
}

// ----------------------------------------------------------------
// A filter, to be filled
// ----------------------------------------------------------------

const OPTIONS = ['capacity', 'fpProb', 'keyType', 'seed', 'onOverfull']

/** An option by this name would be ignored: it may be another's, such as fp_prob. */
function checkOptions(options) {
  if (typeof options !== 'object' || options === null) throw wrongKey('the options are an object, such as { capacity: 1000 }')
  for (const name of Object.keys(options)) {
    if (OPTIONS.includes(name)) continue
    const plain = (text) => text.toLowerCase().replace(/[^a-z]/g, '')
    const meant = OPTIONS.find((option) => plain(option) === plain(name))
    throw wrongKey(`unknown option ${name}; ` + (meant ? `write ${meant}` : `the options are ${OPTIONS.join(', ')}`))
  }
}

export class BloomBuilder {
  #fields
  #content
  #onOverfull

  constructor(options) {
    checkOptions(options)
    const { capacity, fpProb = 0.01, keyType, seed = 0, onOverfull = warn } = options
    if (typeof onOverfull !== 'function') throw wrongKey('onOverfull is not a function')
    const { bits, hashes } = params(capacity, fpProb)
    if (keyType === undefined) throw wrongType("name the keyType, such as 'text' or 'bigint'")
    const [seedH, seedL] = halves(seed)
    this.#fields = {
      bits,
      hashes,
      keyType: keyTypeNamed(keyType),
      seedH,
      seedL,
      capacity: BigInt(Math.ceil(Number(capacity))),
      fpProb,
    }
    this.#content = new Content(this.#fields)
    this.#onOverfull = onOverfull
  }

  /** Adds a key; null and undefined are no keys, as in SQL. */
  add(key) {
    if (key === null || key === undefined) return this
    const { keyType, seedH, seedL } = this.#fields
    const length = keyType.encode(key)
    if (length < 0) throw wrongKey(`${show(key)} is no ${keyType.sqlType}`)
    hash(scratch, length, seedH, seedL)
    this.#content.add(H, L)
    return this
  }

  addAll(keys) {
    // a text is iterable, and is one key
    if (typeof keys === 'string') throw wrongKey('several keys are needed, such as an array, not one string')
    for (const key of keys) this.add(key)
    return this
  }

  /** The bytes that the server takes: $1::bytea::bloom.  More keys can be added afterwards. */
  toBytes() {
    const bytes = this.#content.encode(this.#fields)
    const count = Number(new DataView(bytes.buffer).getBigUint64(36, true))
    if (this.#onOverfull && isOverfull({ ...this.#fields, form: bytes[1], count })) {
      const onOverfull = this.#onOverfull
      this.#onOverfull = null         // once
      onOverfull(new BloomFilter(bytes).info)
    }
    return bytes
  }

  /** The text form, base64. */
  toString() {
    return encodeBase64(this.toBytes())
  }

  /** In JSON, the text form, which BloomFilter.from reads. */
  toJSON() {
    return this.toString()
  }

  /** As a parameter of node-postgres, the text form. */
  toPostgres() {
    return this.toString()
  }

  /** The filter, to be tested. */
  build() {
    return new BloomFilter(this.toBytes())
  }
}

/** Only what has() does to hash a key: for bench.js. */
export function hashOnly(filter, key) {
  const { keyType, seedH, seedL } = fieldsOf(filter)
  hash(scratch, keyType.encode(key), seedH, seedL)
  return L
}
