// Test run: end-to-end, slow
/** Nothing that a client or a destination sends holds the main thread of a host for more than 50 ms. Threat S5 of `security.md`. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import t, { type Test } from 'tap'
import { HostProcess } from '../crash/host-process.ts'
import { connect } from '../support/connect.ts'
import { createDatabase } from '../support/database.ts'
import { LONG } from '../support/extent.ts'
import { NO_LIMITS } from '../support/installation.ts'
import { LONGEST_STALL_MS, measureStalls } from '../support/stalls.ts'

const CODEHOST = createRequire(join(process.cwd(), 'package.json')).resolve('@claimcheck/plugin-codehost')
const SHA = 'a'.repeat(40)
const BODY_LIMIT = 64 * 1024
/** Just below what is parsed, and just below what is read. */
const ANSWER_SIZES = [512 * 1024 - 1024, 5 * 1024 * 1024 - 1024]

async function startHost(t: Test, answer: RequestListener) {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-stalls-'))
  const server = createServer(answer)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const place = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const database = await createDatabase()
  const env = { PORT: '0', LOG_LEVEL: 'silent', ALLOW_PRIVATE: place, ...database.env }
  const file = { plugins: [{ use: CODEHOST }], rate_limits: { ...NO_LIMITS, refusals: 0 } }
  await writeFile(join(folder, 'claimcheck.config.json'), JSON.stringify(file))
  const claimcheck = await openClaimcheck(loadConfig(env, folder), { plugins: true })
  const { id } = await claimcheck.workspaces.create('stalls')
  const { key } = await claimcheck.keys.create(id, 'stalls')
  await connect(claimcheck, id, 'github', { base_url: `http://${place}`, token: 'token' })
  await claimcheck.close()
  const host = new HostProcess(folder, env)
  t.teardown(async () => {
    await host.kill()
    server.closeAllConnections()
    server.close()
    await database.remove()
    await rm(folder, { recursive: true, force: true })
  })
  await host.start()
  const send = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...init.headers }
    const response = await fetch(host.url + path, { ...init, headers })
    await response.text()
    return response.status
  }
  return { host, send }
}

async function isShort(t: Test, host: HostProcess, what: string, work: () => Promise<unknown>): Promise<void> {
  const measured = await measureStalls(async () => {
    await host.stalls()
    await work()
    return host.stalls()
  })
  const { longestMs, delayMs } = measured.at(-1)!
  t.ok(
    longestMs < LONGEST_STALL_MS,
    `${what}: held for ${longestMs.toFixed(1)} ms, delayed by ${delayMs.toFixed(1)} ms`,
  )
}

let claims = 0
function claim(over: object = {}) {
  return {
    client_claim_id: `claim-${++claims}`,
    agent_id: 'agent',
    action: 'codehost.commit.push',
    target: 'acme/api',
    params: { sha: SHA, branch: 'main' },
    claimed_at: new Date().toISOString(),
    ...over,
  }
}

/** Bodies up to the limit that make work for a parser, a validator or a regular expression. */
const BODIES: [what: string, body: () => string][] = [
  ['deep arrays', () => `${'['.repeat(BODY_LIMIT / 2)}${']'.repeat(BODY_LIMIT / 2)}`],
  ['deep objects', () => `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`],
  ['many members', () => `{${Array.from({ length: 6000 }, (_, index) => `"m${index}":1`).join()}}`],
  ['one member many times', () => `{${Array(9000).fill('"a":1').join()}}`],
  ['many numbers', () => `[${Array(16_000).fill('1e9').join()}]`],
  ['a long number', () => `[${'9'.repeat(BODY_LIMIT - 2)}]`],
  ['long text of escapes', () => `["${'\\u0061'.repeat(10_000)}"]`],
  ['surrogates', () => `["${'\\ud800'.repeat(10_000)}"]`],
  ['a long target', () => JSON.stringify(claim({ target: `${'a/'.repeat(20_000)}` }))],
  ['a long branch', () => JSON.stringify(claim({ params: { sha: SHA, branch: `${'a/.'.repeat(15_000)}` } }))],
  [
    'a branch for a regular expression',
    () => JSON.stringify(claim({ params: { sha: SHA, branch: `${'a.'.repeat(120)}!` } })),
  ],
  [
    'many params',
    () =>
      JSON.stringify(
        claim({
          params: Object.fromEntries(
            Array(5000)
              .fill(0)
              .map((_, i) => [`p${i}`, i]),
          ),
        }),
      ),
  ],
  ['a long time', () => JSON.stringify(claim({ claimed_at: `2026-11-22T00:00:00.${'0'.repeat(60_000)}Z` }))],
  ['no JSON', () => 'x'.repeat(BODY_LIMIT)],
  ['more than may be', () => 'x'.repeat(8 * BODY_LIMIT)],
]

const json = (text: () => string): RequestListener => {
  const body = text()
  return (_request, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(body)
}
const compressed = (bytes: number): RequestListener => {
  const body = gzipSync(Buffer.alloc(bytes, ' '))
  const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
  return (_request, response) => response.writeHead(200, headers).end(body)
}

/** What a destination answers, in place of GitHub's repository. */
const answersOf = (bytes: number): [what: string, answer: RequestListener][] => [
  ['deep arrays', json(() => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`)],
  [
    'many objects',
    json(
      () =>
        `[${Array(Math.floor(bytes / 16))
          .fill('{"id":1,"a":""}')
          .join()}]`,
    ),
  ],
  [
    'many numbers',
    json(
      () =>
        `[${Array(Math.floor(bytes / 2))
          .fill('1')
          .join()}]`,
    ),
  ],
  [
    'many members',
    json(
      () =>
        `{${Array.from({ length: Math.floor(bytes / 16) }, (_, i) => `"m${String(i).padStart(8, '0')}":1`).join()}}`,
    ),
  ],
  ['one long text', json(() => `{"id":"${'a'.repeat(bytes)}"}`)],
  ['text of escapes', json(() => `{"id":"${'\\u00e4'.repeat(bytes / 6)}"}`)],
  ['a bomb', compressed(200 * 1024 * 1024)],
  [
    'many headers',
    (_request, response) => response.writeHead(200, { 'x-many': Array(1500).fill('a'.repeat(10)) }).end('{}'),
  ],
  ['a long link', (_request, response) => response.writeHead(200, { link: '<'.repeat(15_000) }).end('{}')],
  ['no UTF-8', (_request, response) => response.end(Buffer.alloc(bytes, 0xff))],
]

t.test('requests', LONG, async (t) => {
  const { host, send } = await startHost(t, (_request, response) => response.writeHead(404).end())
  const post = (body: string) => send('/v1/claims', { method: 'POST', body })
  // What is compiled and read once is not what a request costs.
  for (let times = 0; times < 3; times++) await post(JSON.stringify(claim()))
  for (const [what, body] of BODIES) {
    const text = body()
    await isShort(t, host, what, async () => {
      const status = await post(text)
      t.ok([202, 413, 422].includes(status), `${what}: ${status}`)
    })
  }
  const long = 'a'.repeat(7000)
  for (const path of [
    `/v1/claims?cursor=${long}`,
    `/v1/claims/${long}`,
    `/v1/receipts/${long}`,
    `/v1/log/entries?start=${'9'.repeat(7000)}`,
  ]) {
    const name = path.slice(0, 20)
    await isShort(t, host, name, async () => {
      const status = await send(path)
      t.ok(status >= 400 && status < 500, `${name}: ${status}`)
    })
  }
})

t.test('answers', LONG, async (t) => {
  let answer: RequestListener = (_request, response) => response.writeHead(404).end()
  const { host, send } = await startHost(t, (request, response) => answer(request, response))
  const post = () => send('/v1/claims', { method: 'POST', body: JSON.stringify(claim()) })
  for (let times = 0; times < 3; times++) await post()
  for (const [what, next] of ANSWER_SIZES.flatMap(answersOf)) {
    answer = next
    await isShort(t, host, what, async () => t.equal(await post(), 202))
  }
})
