// What docs/clients.md says of JavaScript's drivers, tried on the server of PGHOST.
//
//     npm install pg postgres && node drivers.mjs
//
// Prints the Test Anything Protocol.  A driver that is not installed is skipped.

import { BloomFilter } from '../../clients/js/bloomtype.js'

const ids = BloomFilter.builder({ capacity: 1000, keyType: 'bigint' }).addAll([1, 2, 9007199254740993n])
const options = {
  host: process.env.PGHOST, port: Number(process.env.PGPORT ?? 5432),
  user: process.env.PGUSER ?? 'postgres', database: process.env.PGDATABASE ?? 'postgres',
}
const url = 'https://example.org/1'
let number = 0, failures = 0

function check (got, expected, text) {
  const ok = JSON.stringify(got) === JSON.stringify(expected)
  console.log(`${ok ? 'ok' : 'not ok'} ${++number} - ${text}`)
  if (!ok) {
    failures++
    console.log(`# got ${JSON.stringify(got)}, expected ${JSON.stringify(expected)}`)
  }
}

async function load (name) {
  try {
    return (await import(name)).default
  } catch {
    console.log(`ok ${++number} # SKIP no module ${name} here`)
    return null
  }
}

const pg = await load('pg')
if (pg) {
  const client = new pg.Client(options)
  await client.connect()
  const one = async (sql, values) => Object.values((await client.query(sql, values)).rows[0])[0]
  check(await one('SELECT urls @> $1 AS seen FROM visited', [url]), true, 'node-postgres: text')
  check(await one('SELECT ids @> $1::bigint AS seen FROM visited', [42]), true, 'node-postgres: bigint')
  check(await one('SELECT bloom_missing(ids, $1::bigint[]) AS missing FROM visited', [[1, 2000]]), ['2000'],
    'node-postgres: list')
  check(await one('SELECT $1::bytea::bloom @> $2', [await one('SELECT urls::bytea FROM visited'), url]), true,
    'node-postgres: bytes')
  check(BloomFilter.from(await one('SELECT urls::bytea FROM visited')).has(url), true, 'node-postgres: a filter, read')
  check(await one('SELECT array_agg(i) FROM generate_series(1, 9) AS i WHERE $1::bytea::bloom @> i', [ids.toBytes()]), [1, 2],
    'node-postgres: a filter as a parameter')
  const receive = "INSERT INTO activity SELECT $1, $2 WHERE bloom_set_add('received', $1)"
  const counts = []
  for (let i = 0; i < 2; i++) counts.push((await client.query(receive, ['node-postgres', 'x'])).rowCount)
  check(counts, [1, 0], 'node-postgres: stored if new')
  check([await one("SELECT bloom_set_add('received', $1)", [['n1', 'n2']]), await one("SELECT bloom_set_add('received', $1)", ['{"n1","n2"}'])],
    [true, false], 'node-postgres: a list given to bloom_set_add is one text')
  check(await one("SELECT bloom_set_add_all('received', $1::text[])", [['n1', 'n2']]), ['n1', 'n2'],
    'node-postgres: a list given to bloom_set_add_all')
  const code = await one('SELECT ids @> $1 AS seen FROM visited', [42]).catch(error => error.code)
  check(code, '42804', 'node-postgres: without a cast, an error')
  await client.end()
}

const postgres = await load('postgres')
if (postgres) {
  const sql = postgres(options)
  check((await sql`SELECT urls @> ${url} AS seen FROM visited`)[0].seen, true, 'postgres.js: text')
  check((await sql`SELECT ids @> ${42}::bigint AS seen FROM visited`)[0].seen, true, 'postgres.js: bigint')
  check((await sql`SELECT bloom_missing(ids, ${[1, 2000]}::bigint[]) AS missing FROM visited`)[0].missing, ['2000'],
    'postgres.js: list')
  check((await sql`SELECT array_agg(i) AS ids FROM generate_series(1, 9) AS i WHERE ${ids.toBytes()}::bytea::bloom @> i`)[0].ids, [1, 2],
    'postgres.js: a filter as a parameter')
  const counts = []
  for (let i = 0; i < 2; i++) {
    counts.push((await sql`INSERT INTO activity SELECT ${'postgres.js'}, ${'x'} WHERE bloom_set_add('received', ${'postgres.js'})`).count)
  }
  check(counts, [1, 0], 'postgres.js: stored if new')
  check((await sql`SELECT bloom_set_add_all('received', ${['m1', 'm2']}::text[]) AS added`)[0].added, ['m1', 'm2'],
    'postgres.js: a list given to bloom_set_add_all')
  await sql.end()
}
console.log(`1..${number}`)
process.exit(failures > 0 ? 1 : 0)
