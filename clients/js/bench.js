// Tests a second, as a ratio to hashing the same keys alone:
//
//     node clients/js/bench.js [KEYS]
//
// Each time is the least of several rounds, alternating.

import { BloomFilter, hashOnly } from './bloomtype.js'

const n = Number(process.argv[2] || 1e6)
const ROUNDS = 7

const url = (i) => `https://www.example-${i % 9973}.org/path/${i}`
const kinds = {
  text: url,
  bigint: (i) => i * 7919,
  uuid: (i) => `a0eebc99-9c0b-4ef8-bb6d-${i.toString(16).padStart(12, '0')}`,
}

console.log(`a filter of ${n} keys at 1 %: nanoseconds a key, and the ratio to hashing it`)
for (const [keyType, keyOf] of Object.entries(kinds)) {
  const members = Array.from({ length: n }, (_, i) => keyOf(i))
  const strangers = Array.from({ length: n }, (_, i) => keyOf(n + i))
  const filter = BloomFilter.builder({ capacity: n, keyType }).addAll(members).build()
  const seconds = { hash: Infinity, member: Infinity, stranger: Infinity }
  let found = 0
  const work = {
    hash: () => { for (const key of members) hashOnly(filter, key) },
    member: () => { for (const key of members) found += filter.has(key) },
    stranger: () => { for (const key of strangers) found += filter.has(key) },
  }
  for (let round = 0; round < ROUNDS; round++) {
    for (const name of Object.keys(work)) {
      const start = process.cpuUsage().user
      work[name]()
      seconds[name] = Math.min(seconds[name], process.cpuUsage().user - start)
    }
  }
  const report = Object.entries(seconds).map(([name, micro]) =>
    `${name} ${(micro * 1000 / n).toFixed(0)} (${(micro / seconds.hash).toFixed(2)})`)
  console.log(`${keyType}: ${report.join(', ')}; ${(1e6 / seconds.member * n / 1e6).toFixed(1)} million tests of members a second` +
    (found < ROUNDS * n ? ' DENIED' : ''))
}
