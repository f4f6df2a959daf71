// explore.html in Chromium, by clicks and typed keys:
//
//     node clients/js/test-page.js [SCREENSHOT]
//
// Chromium (CHROMIUM, by default chromium) is told what to do by its DevTools
// protocol, over a pipe.  Prints lines of the Test Anything Protocol.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
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
  await send('Page.enable')
  check(await until(`document.readyState === 'complete' && document.getElementById('size')?.textContent > ''`), 'the page is there')

  // how large
  check(await text('size') === '1.25 MB' && await text('hashes') === '5' && await text('bits') === '10,000,000', 'a million keys at 1 %')
  await type('#capacity', '24902')
  await type('#percent', '0.1')
  check(await text('bits-per-key') === '15' && await text('hashes') === '7' && await text('bits') === '373,568' &&
    await text('size') === '46.7 kB' && await text('rate') === '0.1 %', 'typed: 24902 keys at 0.1 %', await text('bits'), await text('rate'))
  await type('#percent', '0')
  check(/out of range/.test(await text('size-error')) && await text('size') === '–', 'a rate that cannot be')
  await type('#percent', '1')
  await type('#capacity', '1,000,000')
  check(await text('size') === '1.25 MB' && await text('size-error') === '', 'and back')

  // which bits
  const ones = () => value(`[...document.querySelectorAll('#drawing rect')].map((r) => r.classList.contains('set') ? 1 : 0).join('')`)
  check(await ones() === '1001001100000010', 'mary sets bits 3, 0 and 14, peter 7, 3 and 6', await ones())
  check(/a false positive/.test(await text('small-answer')), 'rose is a false positive')
  await type('#test-key', 'anna')
  check(/certainly not/.test(await text('small-answer')), 'anna is not there')
  await type('#new-key', 'anna')
  await press('Enter', 13)
  check(/and so it is/.test(await text('small-answer')) && await ones() === '1001011100000110', 'anna is added, by Enter', await ones())
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
  await click('#text')
  await send('Input.insertText', { text: times.toString() })
  check(await until(`/timestamp/.test(document.getElementById('info').textContent)`) && await text('open-error') === '', 'a pasted text')
  await type('#key', '2026-11-22 12:30:00.25')
  check(await text('answer') === 'probably in the filter', 'a time')

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
