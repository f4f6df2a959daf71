// The module against clients/vectors.json, and against filters of a server:
//
//     node clients/js/test.js
//
// The server's are in the folder BLOOMTYPE_SERVER: test/tap/clients.pl.
// Prints lines of the Test Anything Protocol.

import { readFileSync, readdirSync } from 'node:fs'
import { BloomError, BloomFilter, bestParams, hashKey, params } from './bloomtype.js'

const vectors = JSON.parse(readFileSync(new URL('../vectors.json', import.meta.url), 'utf8'))
let number = 0
let failures = 0

function check(ok, text, ...details) {
  console.log(`${ok ? 'ok' : 'not ok'} ${++number} - ${text}`)
  if (ok) return
  failures++
  for (const detail of details) console.log('#  ', detail)
}

function fails(code, text, call) {
  try {
    call()
    check(false, text, 'no error')
  } catch (error) {
    check(error instanceof BloomError && error.code === code, `${text}: ${code}`, error)
  }
}

const hex = (bytes) => Buffer.from(bytes).toString('hex')
const unhex = (text) => new Uint8Array(Buffer.from(text, 'hex'))
const hexHash = (hash) => BigInt.asUintN(64, hash).toString(16).padStart(16, '0')

// The keys of the vectors are in SQL's text form.
const microseconds = (text) => /infinity/.test(text) ? text
  : BigInt(Date.parse(text.replace(' ', 'T').replace(/[.]\d+/, '').replace(/\+(\d\d)$/, '+$1:00').replace(/(:\d\d)$/, '$1Z')
    .replace(/(\+\d\d:\d\d)Z$/, '$1'))) * 1000n + BigInt((/[.](\d+)/.exec(text) || [0, '0'])[1])
const CONVERT = {
  int2: BigInt, int4: Number, int8: BigInt, float4: Number, float8: Number,
  bool: (text) => text === 'true', text: String, varchar: String, name: String, bytea: (text) => unhex(text.slice(2)),
  uuid: String, date: String, timestamp: microseconds, timestamptz: microseconds,
}
const keyOf = ({ type, key }) => type === 'golden_enum' ? key : CONVERT[type] && CONVERT[type](key)
const typeOf = ({ type }) => type === 'golden_enum' ? 'enum golden_enum' : type

// hashes, of keys and of their canonical bytes
const known = new Set()
for (const v of vectors.hashes) {
  let ok = hexHash(hashKey(unhex(v.bytes), 'bytea', BigInt(v.seed))) === v.hash
  if (keyOf(v) !== undefined) {
    known.add(v.type)
    ok &&= hexHash(hashKey(keyOf(v), typeOf(v), BigInt(v.seed))) === v.hash
  }
  if (!ok) check(false, `hash of ${v.type} ${v.key}`, v)
}
check(known.size === 15 && vectors.hashes.length > 90, `${vectors.hashes.length} hashes, keys of ${known.size} SQL types`, [...known])
check(vectors.lengths.every((v) =>
  hexHash(hashKey('bloom'.repeat(600).slice(0, v.length), 'text', BigInt(v.seed))) === v.hash),
`${vectors.lengths.length} hashes of keys of all lengths`)

// sizes
check(vectors.sizes.every((v) => {
  const { bits, hashes } = params(Number(v.capacity), v.fp_prob)
  return bits === v.bits && hashes === v.hashes
}), `${vectors.sizes.length} sizes`)
check(bestParams(0.01).bitsPerKey === 10 && bestParams(0.01).hashes === 5, 'best_params')

// whole filters
for (const v of vectors.filters) {
  const filter = BloomFilter.from(unhex(v.bytes))
  const { info } = filter
  const name = v.sql || `a filter that is only read (${v.form} form)`
  check(hex(filter.toBytes()) === v.bytes && filter.toString() === Buffer.from(v.bytes, 'hex').toString('base64') &&
    info.bits === v.bits && info.hashes === v.hashes && info.seed === BigInt(v.seed) &&
    info.capacity === Number(v.capacity) && info.fpProb === v.fp_prob && info.representation === v.form,
  `read: ${name}`, info, v)
  if (keyOf(v.keys[0] || v.others[0]) === undefined) continue
  check(v.keys.every((k) => filter.has(keyOf(k))) && v.others.every((k) => filter.has(keyOf(k)) === k.contains),
    `tested: ${v.keys.length} keys and ${v.others.length} others`)
  if (v.sql === null || v.keys.length === 0) continue
  if (v.sql.includes('bloom_empty_shaped')) continue       // has no capacity of its own
  const builder = BloomFilter.builder({ capacity: Number(v.capacity), fpProb: v.fp_prob, seed: BigInt(v.seed), keyType: v.keys[0].type, onOverfull() {} })
  builder.addAll(v.keys.map(keyOf)).addAll(v.keys.map(keyOf))
  check(hex(builder.toBytes()) === v.bytes, 'made', hex(builder.toBytes()), v.bytes)
}

// positions: those of a filter of this shape, of a key of any hash
check(vectors.positions.every((v) => {
  const bytes = new Uint8Array(44)
  const view = new DataView(bytes.buffer)
  bytes.set([1, 1, v.hashes])
  view.setUint32(8, v.bits / 64, true)
  bytes[20] = 1
  view.setFloat64(28, 0.5, true)
  return BloomFilter.from(bytes).positionsOfHash(BigInt('0x' + v.hash)).join() === v.positions.join()
}), `${vectors.positions.length} hashes' positions`)

// what is refused
const accepted = vectors.malformed.filter((v) => {
  try {
    BloomFilter.from(unhex(v.bytes))
    return true
  } catch (error) {
    return !(error instanceof BloomError && error.code === '22P03')
  }
})
check(accepted.length === 0, `${vectors.malformed.length} malformed filters are refused`, ...accepted)
check(vectors.counting.every((v) => {
  try {
    BloomFilter.from(unhex(v.bytes))
  } catch (error) {
    return /counting_bloom/.test(error.message)
  }
}), 'a counting_bloom is refused')
for (const { text, reason } of vectors.malformed_text) fails('22P03', `${text || 'an empty text'}: ${reason}`, () => BloomFilter.from(text))

// keys
const ids = BloomFilter.builder({ capacity: 100, keyType: 'bigint' }).addAll([5, -7n, 2 ** 53 - 1, null, undefined]).build()
check(ids.has(5n) && ids.has(-7) && ids.has(BigInt(2 ** 53 - 1)) && !ids.has(6) && ids.info.keys === 3, 'numbers and bigints are one key type')
check(!ids.has(5.5) && !ids.has(2n ** 64n + 5n), 'no integer is equal to these')
fails('22023', 'a number that is not exact', () => ids.has(2 ** 60))
fails('42804', 'a text among integers', () => ids.has('5'))
fails('42804', 'a type that the filter has not', () => ids.has('5', 'text'))
check(ids.has(5, 'smallint') && ids.has(5, 'int8'), 'a type that it has')
const floats = BloomFilter.builder({ capacity: 100, keyType: 'float8' }).addAll([0, NaN, 5, 0.1]).build()
check(floats.has(-0) && floats.has(0 / 0) && floats.has(5) && floats.has(5n) && !floats.has(0.2), 'the filter decides what 5 is')
const reals = BloomFilter.builder({ capacity: 100, keyType: 'real' }).add(0.1).build()
check(reals.has(0.1, 'real') && reals.has(Math.fround(0.1)) && !reals.has(0.1), 'a real is no double')
const times = BloomFilter.builder({ capacity: 100, keyType: 'timestamptz' })
  .addAll([new Date('2026-11-22T10:20:30.5Z'), 1n, 'infinity', new Date(-1), new Date(8.64e15)]).build()
check(times.has(BigInt(Date.parse('2026-11-22T10:20:30.5Z')) * 1000n) && times.has('infinity') && times.has(-1000n) &&
  times.has(8640000000000000000000n) === false && times.has(8640000000000000000n + 1n) === false, 'times: Dates and microseconds')
const days = BloomFilter.builder({ capacity: 100, keyType: 'date' }).addAll(['2024-02-29', new Date('1969-12-31')]).build()
check(days.has(new Date('2024-02-29')) && days.has('1969-12-31') && !days.has('2024-03-01'), 'dates')
fails('42804', 'a day that there is not', () => days.has('2023-02-29'))
fails('22023', 'a Date within a day', () => days.has(new Date('2024-02-29T01:00Z')))
const uuids = BloomFilter.builder({ capacity: 100, keyType: 'uuid' }).add('{A0EEBC99-9c0b-4ef8-bb6d-6bb9bd380a11}').build()
check(uuids.has('a0eebc999c0b4ef8bb6d6bb9bd380a11') && uuids.has(unhex('a0eebc999c0b4ef8bb6d6bb9bd380a11')), 'uuids')
fails('42804', 'no uuid', () => uuids.has('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1'))
const texts = BloomFilter.builder({ capacity: 100, keyType: 'text' }).addAll(['', 'höllé 漢字 🌸', 'x'.repeat(100000)]).build()
check(texts.has('') && texts.has('höllé 漢字 🌸') && texts.has('x'.repeat(100000)) && !texts.has('y'), 'texts')
fails('22023', 'a character 0', () => texts.has('a\0'))
fails('22023', 'half of a surrogate pair', () => texts.has('a\ud800'))
fails('22023', 'the other half', () => texts.has('\udc00a'))
const blobs = BloomFilter.builder({ capacity: 100, keyType: 'bytea' }).add(Buffer.from('abc')).build()
check(blobs.has(new TextEncoder().encode('abc')) && blobs.has(new TextEncoder().encode('abc').buffer), 'bytes')
const flags = BloomFilter.builder({ capacity: 100, keyType: 'boolean' }).add(true).build()
check(flags.has(true) && !flags.has(false), 'booleans')
fails('42804', 'truth', () => flags.has(1))
fails('42804', 'a key type that JavaScript cannot hash', () => BloomFilter.builder({ capacity: 10, keyType: 'numeric' }))
fails('42804', 'keys that JavaScript cannot hash', () => BloomFilter.from(unhex(vectors.filters.find((v) => v.key_type_name === 'int8[]').bytes)).has([1]))
fails('42804', 'no key type', () => BloomFilter.builder({ capacity: 10 }))
for (const [capacity, fpProb, code] of [[0, 0.01, '22023'], [NaN, 0.01, '22023'], [10, 0, '22023'], [10, 1, '22023'], [10, 1e-20, '22023'],
  [429496730, 0.01, '54000'], [2 ** 60, 0.01, '22023']]) {
  fails(code, `capacity ${capacity}, fpProb ${fpProb}`, () => BloomFilter.builder({ capacity, fpProb, keyType: 'text' }))
}
for (const [keyType, key] of [['smallint', 70000], ['int2', -32769n], ['integer', 2 ** 31], ['int', -(2n ** 31n) - 1n], ['bigint', 2n ** 63n], ['bigint', 0.5],
  ['real', 1e39], ['real', -(10n ** 39n)], ['float8', 10n ** 400n]]) {
  fails('22023', `${key} is no ${keyType}`, () => BloomFilter.builder({ capacity: 10, keyType }).add(key))
}
check(BloomFilter.builder({ capacity: 10, keyType: 'smallint' }).addAll([-32768, 32767n]).build().has(32767) &&
  BloomFilter.builder({ capacity: 10, keyType: 'int' }).add(-(2 ** 31)).build().has(-(2n ** 31n)) &&
  BloomFilter.builder({ capacity: 10, keyType: 'real' }).addAll([Infinity, NaN, 3.4e38]).build().has(Infinity), 'the ends of ranges')
check(!ids.has(70000, 'smallint') && !reals.has(1e39, 'real') && ids.has(5, 'smallint'), 'a key out of the range of its type is in no filter')
check([1e6, 1000000n, 999999.5].every((capacity) => BloomFilter.builder({ capacity, keyType: 'text' }).toString() ===
  BloomFilter.builder({ capacity: 1000000, keyType: 'text' }).toString()), 'a capacity is any number')
for (const capacity of ['1000', true, null, Infinity]) fails('22023', `capacity ${capacity}`, () => BloomFilter.builder({ capacity, keyType: 'text' }))
for (const fpProb of ['0.01', true, null, NaN, 1n]) fails('22023', `fpProb ${fpProb}`, () => bestParams(fpProb))
for (const seed of [1.5, NaN, '1', 2 ** 53, -(2n ** 63n) - 1n]) {
  fails('22023', `seed ${seed}`, () => BloomFilter.builder({ capacity: 10, keyType: 'text', seed }))
  fails('22023', `hashKey with seed ${seed}`, () => hashKey('x', 'text', seed))
}
fails('22023', 'a seed of 65 bits', () => BloomFilter.builder({ capacity: 10, keyType: 'text', seed: 2n ** 63n }))
check(BloomFilter.from(' ' + texts.toString().replace(/(.{60})/g, '$1\n')).has('') &&
  BloomFilter.from(Buffer.concat([Buffer.from('x'), texts.toBytes()]).subarray(1)).has(''), 'white space; bytes at any offset')
const empty = BloomFilter.from(unhex(vectors.filters[0].bytes))
check(!empty.has('x') && !empty.has(1), 'a filter without a shape has no keys')

// options
for (const [name, what] of [['fp_prob', /unknown option fp_prob; write fpProb$/], ['keytype', /write keyType$/], ['size', /the options are capacity, fpProb/]]) {
  let message
  fails('22023', `option ${name}`, () => {
    try {
      BloomFilter.builder({ capacity: 1000, keyType: 'text', [name]: 0.001 })
    } catch (error) {
      message = error.message
      throw error
    }
  })
  check(what.test(message), 'which are named', message)
}
fails('22023', 'one text in place of several', () => BloomFilter.builder({ capacity: 1000, keyType: 'text' }).addAll('abc'))
fails('22023', 'no options', () => BloomFilter.builder(1000))
fails('22023', 'onOverfull is no function', () => BloomFilter.builder({ capacity: 1000, keyType: 'text', onOverfull: true }))

// more keys than the capacity
const calls = []
const over = (capacity, n) => BloomFilter.builder({ capacity, keyType: 'bigint', onOverfull: (info) => calls.push(info) }).addAll(Array(n).keys())
check(!over(1000, 1000).build().isOverfull && !over(10, 5).build().isOverfull && !over(2, 5).build().isOverfull && calls.length === 0, 'up to the capacity, all is well')
const heap = over(10, 1000)
check(heap.build().isOverfull && heap.toString() && calls.length === 1 && calls[0].capacity === 10 && calls[0].fpProbNow > 0.99, 'beyond it, one call', ...calls)
const said = []
const { warn } = console
console.warn = (text) => said.push(text)
BloomFilter.builder({ capacity: 10, keyType: 'bigint' }).addAll(Array(1000).keys()).build()
console.warn = warn
check(said.length === 1 && /about \d+ keys, its capacity is 10; its false-positive rate is now 1\.00, not 0.01$/.test(said[0]), 'or a warning', ...said)

// in JSON, and as a parameter
check(JSON.stringify({ texts }) === `{"texts":"${texts}"}` && BloomFilter.from(JSON.parse(JSON.stringify(texts))).has('') &&
  JSON.stringify(heap) === `"${heap}"` && texts.toPostgres() === `${texts}` && heap.toPostgres() === `${heap}`, 'toJSON and toPostgres')

// filters as sets
const few = BloomFilter.builder({ capacity: 1000, keyType: 'bigint' }).addAll([1, 2, 3]).build()
const hundreds = BloomFilter.builder({ capacity: 1000, keyType: 'bigint' }).addAll(Array(900).keys()).build()
const all = BloomFilter.builder({ capacity: 1000, keyType: 'bigint' }).addAll([...Array(1000).keys()]).build()
check(few.union(hundreds).toString() === hundreds.toString() && few.intersect(all).toString() === few.toString() &&
  [...Array(900).keys()].every((i) => all.intersect(hundreds).has(i)), 'unions and intersections')
fails('42804', 'a union of different shapes', () => few.union(ids))
fails('42804', 'an intersection of different types of keys',
  () => few.intersect(BloomFilter.builder({ capacity: 1000, keyType: 'text' }).add('1').build()))

// A filter grows from keys into bits as it goes, and repeats count once.
const many = BloomFilter.builder({ capacity: 20000, keyType: 'bigint' })
for (let i = 0; i < 60000; i++) many.add(i % 20000)
const grown = many.build()
let strangers = 0
for (let i = 0; i < 20000; i++) {
  if (!grown.has(i)) check(false, `${i} is denied`)
  strangers += grown.has(-1 - i)
}
check(grown.info.representation === 'bits' && strangers < 20000 * 0.01 + 5 * Math.sqrt(200) && Math.abs(grown.info.keys - 20000) < 500,
  `no key is denied, and ${strangers} of 20000 others are false positives`, grown.info)

// what a server made and says: test/tap/clients.pl
const folder = process.env.BLOOMTYPE_SERVER
if (folder) {
  const keys = readFileSync(`${folder}/urls`, 'utf8').split('\n').slice(0, -1)
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.bloom'))) {
    const bytes = readFileSync(`${folder}/${file}`)
    const theirs = BloomFilter.from(bytes)
    const { capacity, fpProb, seed, representation } = theirs.info
    const ours = BloomFilter.builder({ capacity, fpProb, seed, keyType: 'text' }).addAll(keys)
    check(hex(ours.toBytes()) === hex(bytes), `${file}: the filter of ${keys.length} keys, byte for byte (${representation} form)`)
    check(keys.every((key) => theirs.has(key)), 'all of them are in the server\'s')
  }
  const pairs = readFileSync(`${folder}/combined`, 'utf8').trim().split('\n').map((line) => line.split(' '))
  const wrong = pairs.filter(([a, b, union, intersection]) => {
    const left = BloomFilter.from(unhex(a)), right = BloomFilter.from(unhex(b))
    return hex(left.union(right).toBytes()) !== union || hex(left.intersect(right).toBytes()) !== intersection
  })
  check(pairs.length > 100 && wrong.length === 0, `unions and intersections of ${pairs.length} pairs`, ...wrong)
  const full = readFileSync(`${folder}/full`, 'utf8').trim().split('\n').map((line) => line.split(' '))
  check(full.length > 20 && full.every(([bytes, isOverfull]) => BloomFilter.from(unhex(bytes)).isOverfull === (isOverfull === 't')), `${full.length} filters are full, or not`)
  const verdicts = readFileSync(`${folder}/verdicts`, 'utf8').trim().split('\n')
  check(verdicts.length > 100 && verdicts.every((line) => {
    const [verdict, file] = line.split(' ')
    try {
      return verdict === (BloomFilter.from(readFileSync(file)) && 'accepted')
    } catch (error) {
      return verdict === 'refused' && error.code === '22P03'
    }
  }), `the server's verdicts on ${verdicts.length} files`)
}

console.log(`1..${number}`)
process.exitCode = failures > 0 ? 1 : 0
