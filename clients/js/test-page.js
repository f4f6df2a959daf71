// explore.html in Chromium, by clicks and typed keys:
//
//     node clients/js/test-page.js [SCREENSHOT]
//
// Chromium (CHROMIUM, by default chromium) is told what to do by its DevTools
// protocol, over a pipe.  What psql prints is in the folder BLOOMTYPE_SERVER:
// test/tap/clients.pl.  Prints lines of the Test Anything Protocol.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BloomFilter } from './bloomtype.js'
import { page } from './make-page.js'

let number = 0
let failures = 0

function check(ok, text, ...details) {
  console.log(`${ok ? 'ok' : 'not ok'} ${++number} - ${text}`)
  if (ok) return
  failures++
  for (const detail of details) console.log('#  ', detail)
}

// ----------------------------------------------------------------
// Chromium
// ----------------------------------------------------------------

const home = mkdtempSync(join(tmpdir(), 'explore-'))
const browser = spawn(process.env.CHROMIUM || 'chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic',
  '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--disable-dev-shm-usage', `--user-data-dir=${home}`, '--remote-debugging-pipe', '--window-size=920,1250', 'about:blank'],
{ stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'], env: { ...process.env, HOME: home } })
const [, , log, toBrowser, fromBrowser] = browser.stdio
const waiting = new Map()
let session
let last = 0
let rest = ''
let messages = ''
const exceptions = []
const complaints = []           // in the console

log.on('data', (data) => { messages += data })
browser.on('exit', () => {
  for (const { reject } of waiting.values()) reject(new Error(`Chromium has ended: ${messages.slice(-500)}`))
})
fromBrowser.on('data', (data) => {
  const parts = (rest + data).split('\0')
  rest = parts.pop()
  for (const part of parts) {
    const { id, result, error, method, params } = JSON.parse(part)
    if (method === 'Runtime.exceptionThrown') exceptions.push(params.exceptionDetails.exception?.description)
    if (method === 'Log.entryAdded' && params.entry.level === 'error') complaints.push(params.entry.text)
    if (method === 'Runtime.consoleAPICalled' && params.type === 'error') complaints.push(JSON.stringify(params.args))
    if (!waiting.has(id)) continue
    const { resolve, reject } = waiting.get(id)
    waiting.delete(id)
    if (error) reject(new Error(error.message))
    else resolve(result)
  }
})

function send(method, params = {}) {
  return new Promise((resolve, reject) => {
    waiting.set(++last, { resolve, reject })
    toBrowser.write(JSON.stringify({ id: last, method, params, sessionId: session }) + '\0')
  })
}

/** The value of an expression in the page. */
async function value(expression) {
  const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
  if (exceptionDetails) throw new Error(exceptionDetails.exception.description)
  return result.value
}

const text = (id) => value(`document.getElementById('${id}').textContent`)

async function middle(selector) {
  const box = await value(`(() => {
    const node = document.querySelector(${JSON.stringify(selector)})
    node.scrollIntoView({ block: 'center' })
    const { x, y, width, height } = node.getBoundingClientRect()
    return { x: x + width / 2, y: y + height / 2 }
  })()`)
  return box
}

async function click(selector, times = 1) {
  const place = { ...await middle(selector), button: 'left', clickCount: times }
  await send('Input.dispatchMouseEvent', { type: 'mousePressed', ...place })
  await send('Input.dispatchMouseEvent', { type: 'mouseReleased', ...place })
}

/** Puts a text into a field at once, as by pasting it. */
async function fill(selector, content) {
  await value(`document.querySelector('${selector}').select()`)
  await click(selector)
  await value(`document.querySelector('${selector}').select()`)
  if (content === '') await press('Backspace', 8)
  else await send('Input.insertText', { text: content })
}

/** Types a text into a field, key by key, in place of what is there. */
async function type(selector, keys) {
  await click(selector, 3)
  await press('Backspace', 8)
  for (const key of keys) {
    await send('Input.dispatchKeyEvent', { type: 'keyDown', key, text: key })
    await send('Input.dispatchKeyEvent', { type: 'keyUp', key })
  }
}

async function press(key, code) {
  const event = { key, windowsVirtualKeyCode: code, text: key === 'Enter' ? '\r' : undefined }
  await send('Input.dispatchKeyEvent', { type: 'keyDown', ...event })
  await send('Input.dispatchKeyEvent', { type: 'keyUp', ...event })
}

async function drop(file) {
  const place = { ...await middle('#drop'), data: { items: [], files: [file], dragOperationsMask: 1 } }
  for (const kind of ['dragEnter', 'dragOver', 'drop']) await send('Input.dispatchDragEvent', { type: kind, ...place })
}

/** Waits until an expression in the page is true; a file is read in the background. */
async function until(expression) {
  for (let i = 0; i < 200; i++) {
    if (await value(expression)) return true
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return false
}

// ----------------------------------------------------------------
// The page
// ----------------------------------------------------------------

async function test() {
  const html = new URL('explore.html', import.meta.url)
  check(readFileSync(html, 'utf8') === page(), 'explore.html is what make-page.js makes')

  const { targetId } = await send('Target.createTarget', { url: html.href })
  session = (await send('Target.attachToTarget', { targetId, flatten: true })).sessionId
  await send('Runtime.enable')
  await send('Log.enable')
  await send('Page.enable')
  check(await until(`document.readyState === 'complete' && document.getElementById('size')?.textContent > ''`), 'the page is there')

  // how large
  check(await text('size') === '1.25 MB' && await text('hashes') === '5' && await text('bits') === '10,000,000', 'a million keys at 1 %')
  await type('#capacity', '24902')
  await type('#percent', '0.1')
  check(await text('bits-per-key') === '15' && await text('hashes') === '7' && await text('bits') === '373,568' &&
    await text('size') === '46.7 kB' && await text('rate') === '0.1 %', 'typed: 24902 keys at 0.1 %', await text('bits'), await text('rate'))
  // what is typed, and what to say, or the size
  const sizes = [
    ['1,000,000', '1', '1.25 MB'], ['1.000.000', '1', '1.25 MB'], ['1 000 000', '1', '1.25 MB'], ["1'000'000", '1 %', '1.25 MB'],
    ['1_000_000', '1%', '1.25 MB'], ['1e6', '1,0', '1.25 MB'], ['1.000', '1', '1.3 kB'], ['1.5e6', '0,1', '2.81 MB'],
    ['1000000', '0', /percent/], ['1000000', '100', /percent/], ['1000000', '1e-12', /percent/], ['1000000', 'x', /percent/],
    ['0', '1', /number of keys/], ['-5', '1', /number of keys/], ['many', '1', /number of keys/],
    ['1.000,5', '1', /number of keys/], ['NaN', '1', /number of keys/], ['429496730', '1', /at most 429,496,729 keys/],
    ['429496729', '1', '537 MB'], ['1e300', '1', /at most/], ['', '1', ''], ['1000000', '', ''],
  ]
  for (const [keys, rate, expected] of sizes) {
    await fill('#capacity', keys)
    await fill('#percent', rate)
    const error = await text('size-error')
    const shown = await text('size')
    check(typeof expected !== 'string' ? expected.test(error) && shown === '–' && !/NaN|fpProb|capacity/.test(error)
      : error === '' && shown === (expected || '–'), `${keys || 'nothing'} keys at ${rate || 'nothing'}`, error, shown)
  }
  await fill('#capacity', '1,000,000')
  await fill('#percent', '1')

  // which bits
  const ones = () => value(`[...document.querySelectorAll('#drawing rect')].map((r) => r.classList.contains('set') ? 1 : 0).join('')`)
  check(await ones() === '1001001100000010', 'mary sets bits 3, 0 and 14, peter 7, 3 and 6', await ones())
  check(/a false positive/.test(await text('small-answer')), 'rose is a false positive')
  await type('#test-key', 'anna')
  check(/certainly not/.test(await text('small-answer')), 'anna is not there')
  await type('#new-key', 'anna')
  await press('Enter', 13)
  check(/it was added/.test(await text('small-answer')) && await ones() === '1001011100000110', 'anna is added, by Enter', await ones())
  await type('#new-key', '<b>&')
  await click('#add button')
  check(await value(`document.querySelectorAll('#drawing b, #keys b').length`) === 0 &&
    await value(`document.querySelectorAll('#keys .chip').length`) === 4, 'a key is text, whatever it has')
  await click('#again')
  await type('#test-key', 'rose')
  if (process.argv[2]) {
    await value('document.activeElement.blur(), scrollTo(0, 0)')
    const height = await value(`document.querySelectorAll('section')[1].getBoundingClientRect().bottom + 16`)
    const { data } = await send('Page.captureScreenshot', { format: 'png', clip: { x: 0, y: 0, width: 904, height, scale: 1 } })
    writeFileSync(process.argv[2], Buffer.from(data, 'base64'))
  }
  await click('#keys button[title="remove mary"]')
  check(/^peter: added, never removed, and yet the filter denies it/.test(await text('small-denied')), 'mary is removed, and peter denied')
  await click('#again')
  check(await text('small-denied') === '', 'started again')

  // a filter of PostgreSQL
  const filter = BloomFilter.builder({ capacity: 1000, keyType: 'text' }).addAll(['https://example.org/', 'höllé']).build()
  const ids = BloomFilter.builder({ capacity: 10, keyType: 'bigint' }).addAll([1, 2n, -3]).build()
  const times = BloomFilter.builder({ capacity: 10, keyType: 'timestamptz' }).add(new Date('2026-11-22T12:30:00.25Z')).build()
  const files = { text: filter + '\n', hex: '\\x' + Buffer.from(ids.toBytes()).toString('hex') + '\n', bytes: ids.toBytes(), damaged: ids.toBytes().slice(0, -1) }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content)
  const info = (name) => value(`[...document.querySelectorAll('#info div')].find((d) => d.lastChild.textContent === '${name}')?.firstChild.textContent`)

  await drop(join(home, 'text'))
  check(await until(`!document.getElementById('opened').hidden`), 'a dropped file is opened')
  check(await info('type of the keys') === 'text' && await info('keys') === '2' && await info('capacity') === '1,000', 'its numbers')
  await type('#key', 'https://example.org/')
  check(await text('answer') === 'probably in the filter', 'a key that is there')
  await type('#key', 'https://example.com/')
  check(await text('answer') === 'certainly not in the filter', 'a key that is not')
  for (const name of ['bytes', 'hex']) {
    await drop(join(home, name))
    check(await until(`/bigint/.test(document.getElementById('info').textContent)`), `a file of ${name}`)
    await type('#key', '-3')
    check(await text('answer') === 'probably in the filter', 'an integer that is there')
    await type('#key', '3x')
    check(/integer/.test(await text('answer')), 'what is no integer')
    await drop(join(home, 'text'))
    await until(`/text/.test(document.getElementById('info').textContent)`)
  }
  await drop(join(home, 'damaged'))
  check(await until(`/number of bytes/.test(document.getElementById('open-error').textContent)`) &&
    await value(`document.getElementById('opened').hidden`), 'a damaged file is refused')
  writeFileSync(join(home, 'utf-16'), '\ufeff' + files.text.replace(/\n/, '\r\n'), 'utf16le')
  await drop(join(home, 'utf-16'))
  check(await until(`/text/.test(document.getElementById('info').textContent)`), 'a text in UTF-16, as a shell of Windows writes it')

  // what can stand around a filter
  const base64 = ids.toString()
  const hex = Buffer.from(ids.toBytes()).toString('hex')
  const lines = base64.replace(/(.{20})/g, '$1\n')
  const printed = {
    'base64': base64, 'base64 in lines': lines, 'hex': hex, '\\x': '\\x' + hex, '0x': '0x' + hex, 'HEX': hex.toUpperCase(), 'COPY': '\\\\x' + hex,
    "quotes": `'${base64}'`, 'a literal': `SELECT '${base64}'::bloom @> 5`, 'JSON': JSON.stringify({ f: base64, g: '\\x00' }), 'X': `X'${hex}'`,
    'an assignment': `f=${base64};`, 'a frame': ` id |  f  \n----+-----\n  1 | ${base64}\n(1 row)\n`, 'expanded': `-[ RECORD 1 ]---\nf | \\x${hex}\n`,
    'two rows': ` f\n---\n ${base64}\n ${base64}\n(2 rows)\n`,
  }
  const folder = process.env.BLOOMTYPE_SERVER
  if (folder) for (const name of readdirSync(`${folder}/printed`)) printed[`psql: ${name}`] = readFileSync(`${folder}/printed/${name}`, 'utf8')
  else console.log(`ok ${++number} # SKIP no BLOOMTYPE_SERVER with what psql prints`)
  for (const [name, content] of Object.entries(printed)) {
    await fill('#text', content)
    await fill('#key', '-3')
    check(await text('open-error') === '' && /bigint/.test(await text('info')) && await text('answer') === 'probably in the filter', `pasted: ${name}`,
      await text('open-error'), content)
    check(/rows$/.test(name) ? /^2 filters/.test(await text('found')) : await text('found') === '', 'and how many there are', await text('found'))
    await fill('#text', '')
    check(await text('open-error') === '' && await text('found') === '' && await value(`document.getElementById('opened').hidden`), 'an emptied field is no error')
  }
  for (const [content, error] of [['hello', /no long word/], ['x'.repeat(99), /not base64/], ['02' + hex.slice(2), /version is unknown/],
    [hex + '0', /odd/], [base64.slice(0, -4), /number of bytes/], [' f \n---\n\n(1 row)\n', /no long word/]]) {
    await fill('#text', content)
    check(error.test(await text('open-error')) && await value(`document.getElementById('opened').hidden`), `refused: ${content.slice(0, 20)}`, await text('open-error'))
  }

  // keys of each type: typed texts that are in the filter, that are not, and that are no keys
  const yes = 'probably in the filter', no = 'certainly not in the filter'
  const many = BloomFilter.builder({ capacity: 8000000, keyType: 'bigint' }).addAll(Array(100000).keys()).build()
  const typed = [
    ['bigint', [7n, -(2n ** 63n)], ['7', ' +7 ', '-9223372036854775808'], ['8', '-7'], ['', '7.0', '7x', 'seven', '9223372036854775808', '0x7']],
    ['double precision', [0.5, 100, NaN, Infinity, 0], ['0.5', '.5', '5e-1', '+100', '1E2', '100.', 'NaN', 'infinity', '+Inf', '-0'], ['0.25', '-inf'],
      ['abc', ' ', '0,5', '1 2', '0x10', '1e999', 'e5', '.']],
    ['boolean', [true], ['true', 't', 'T', 'yes', 'y', 'on', '1', ' tru '], ['false', 'f', 'no', 'off', '0', 'n'], ['maybe', 'o', '2', 'truee']],
    ['bytea', [Uint8Array.of(0, 255)], ['\\x00ff', '0x00FF', '00ff'], ['\\x', 'ff'], ['zz', '\\x0', '\\xzz', 'a b']],
    ['uuid', ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'], ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', '{A0EEBC999C0B4EF8BB6D6BB9BD380A11}'],
      ['a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'], ['a0eebc99', '{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'x']],
    ['date', ['2026-11-22', 'infinity'], ['2026-11-22', ' 2026-11-22 ', 'Infinity'], ['2026-11-23', '-infinity', '12026-11-22'], ['2026-02-30', '22.11.2026', 'today', '2026-11-22 00:00']],
    ['timestamp', [new Date('2026-11-22T12:30:00.25Z'), new Date('2026-11-22T00:00Z'), '-infinity'],
      ['2026-11-22 12:30:00.25', '2026-11-22T12:30:00.250000', '2026-11-22', '2026-11-22 00:00', '-infinity'], ['2026-11-22 12:30:00.250001', '2026-11-22 12:30'],
      ['2026-11-22 12:30:00.25+00', 'noon', '2026-02-30 12:00', '2026-11-22 25:00', '2026-11-22 12:60', '2026-11-22 12', '2026-11-22T', '12:30']],
    ['timestamptz', [new Date('2026-11-01T00:00:01Z'), new Date('2026-11-22T12:30:00.25Z')],
      ['2026-11-01 00:00:01+00', '2026-11-01 00:00:01', '2026-11-01 02:00:01+02', '2026-10-31 21:30:01-02:30', '2026-11-01T00:00:01Z', '2026-11-22 12:30:00.25+00', '2026-11-22 18:00:00.25+0530', '2026-11-22 12:49:32.25+00:19:32'],
      ['2026-11-01 00:00:01+01', '2026-11-01'], ['2026-11-01 00:00:01 CET', '2026-11-31 00:00+00', 'x']],
    ['enum mood', ['sad'], ['sad'], ['happy'], []],
  ]
  for (const [type, keys, found, missing, wrong] of typed) {
    await fill('#text', BloomFilter.builder({ capacity: 1000, keyType: type }).addAll(keys).toString())
    for (const [keys, expected] of [[found, yes], [missing, no]]) {
      for (const key of keys) {
        await fill('#key', key)
        check(await text('answer') === expected, `${type} ${key}: ${expected}`, await text('answer'))
      }
    }
    for (const key of wrong) {
      await fill('#key', key)
      check(key === '' ? await text('answer') === '' : /^This is not of type .* Type .*[.]$/.test(await text('answer')), `'${key}' is not of type ${type}`, await text('answer'))
    }
  }
  await fill('#text', BloomFilter.builder({ capacity: 1000, keyType: 'real' }).add(0.1).toString())
  await fill('#key', '0.1')
  check(await text('answer') === 'probably in the filter, as a real', 'a key of a column of type real')
  await fill('#text', BloomFilter.builder({ capacity: 1000, keyType: 'text' }).toString())
  await fill('#key', 'x')
  check(await text('answer') === no, 'a filter without keys')
  const vectors = JSON.parse(readFileSync(new URL('../vectors.json', import.meta.url), 'utf8'))
  await fill('#text', vectors.filters.find((v) => v.key_type_name === 'int8[]').bytes)
  check(/cannot test keys of type int8\[\]/.test(await text('answer')), 'a type of keys that the page cannot hash', await text('answer'))
  await fill('#text', vectors.filters[0].bytes)
  check(await text('answer') === no, 'a filter without a shape')

  // large: neither a regular expression nor the arguments of a call may have that many characters
  writeFileSync(join(home, 'large'), ` f\n---\n ${many}\n(1 row)\n`)
  await drop(join(home, 'large'))
  check(await until(`/100,000/.test(document.getElementById('info').textContent)`), 'a large filter in a frame', await text('open-error'))
  await fill('#text', '')
  await fill('#text', Buffer.from(many.toBytes()).toString('hex'))
  check(/100,000/.test(await text('info')) && await value(`document.getElementById('text').value.length`) < 5000, 'a large filter is pasted; the field gets its beginning')
  await fill('#key', '99999')
  check(await text('answer') === yes, 'its last key')

  // narrow and wide windows, with all that the page shows at its longest
  await fill('#text', BloomFilter.builder({ capacity: 4000000, seed: -(2n ** 63n), keyType: 'timestamp with time zone' }).add(1n).toString())
  await fill('#key', 'x'.repeat(200))
  await fill('#test-key', 'y'.repeat(200))
  await fill('#new-key', 'z'.repeat(200))
  await press('Enter', 13)
  await fill('#capacity', '9'.repeat(60))
  for (const [width, mobile] of [[320, true], [390, true], [1280, false]]) {
    await send('Emulation.setDeviceMetricsOverride', { width, height: 800, deviceScaleFactor: 1, mobile })
    check(await until(`document.documentElement.clientWidth <= ${width} && Math.abs(document.getElementById('drawing').viewBox.baseVal.width - document.getElementById('drawing').clientWidth) < 1`),
      `${width} pixels: the bits are drawn again`)
    const [widest, beyond] = await value(`[document.documentElement.scrollWidth, [...document.querySelectorAll('body *')]
      .filter((node) => node.getBoundingClientRect().right > ${width} || node.getBoundingClientRect().left < 0).map((node) => node.outerHTML.slice(0, 100))]`)
    check(widest <= width && beyond.length === 0, 'nothing is wider', widest, ...beyond)
    const digits = await value(`[...document.querySelectorAll('#drawing rect + text')].map((node) => node.getBoundingClientRect()).map(({ width, height }) => [width, height])`)
    const cells = await value(`[...document.querySelectorAll('#drawing rect')].map((node) => node.getBoundingClientRect()).map(({ left, right }) => [left, right])`)
    check(digits.length === 16 && digits.every(([w, h]) => h >= 14 && w >= 7) && cells.every(([l, r], i) => r - l >= 12 && (i === 0 || l > cells[i - 1][1])),
      'the bits are as large as other letters, side by side', digits[0], cells)
  }
  // as while a browser measures the page for a picture of all of it
  for (const size of [0, 1, 20]) {
    await value(`new Promise((resolve) => {
      document.body.style.width = '${size}px'
      window.dispatchEvent(new Event('resize'))
      setTimeout(resolve, 50)
    })`)
  }
  check(complaints.length === 0, 'nothing in the console, also without any width', complaints.length, complaints[0])
  await value(`document.body.style.width = ''`)
  await send('Emulation.clearDeviceMetricsOverride')

  // the module itself, in a worker
  const source = readFileSync(new URL('bloomtype.js', import.meta.url), 'utf8') +
    'onmessage = ({ data }) => postMessage(BloomFilter.from(data).has("höllé"))'
  check(await value(`new Promise((resolve, reject) => {
    const worker = new Worker('data:text/javascript,' + encodeURIComponent(${JSON.stringify(source)}), { type: 'module' })
    worker.onmessage = ({ data }) => resolve(data)
    worker.onerror = ({ message }) => reject(new Error(message))
    worker.postMessage('${filter}')
  })`) === true, 'a worker finds a key')
  check(exceptions.length === 0, 'no exception', ...exceptions)
}

try {
  await test()
} catch (error) {
  check(false, 'it runs to its end', error.stack)
} finally {
  session = undefined
  await send('Browser.close').catch(() => {})
  await new Promise((resolve) => browser.exitCode === null ? browser.on('exit', resolve) : resolve())
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}
console.log(`1..${number}`)
process.exitCode = failures > 0 ? 1 : 0
