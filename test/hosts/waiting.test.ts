// Test run: end-to-end, slow
/**
 * A host that waits for its database refuses like one that has it: requests are counted by network, messages with two readings end the
 * connection, and every answer has its headers. Threats S2 and S5 of `security.md`.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { CLAIMCHECK } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { minuteWithRoom } from '../support/minute.ts'
import { startPostgres } from '../support/postgres.ts'

const NETWORK = 20
const STARTS_WITHIN_MS = 15_000
const HEADERS = {
  'content-security-policy': /^default-src 'none'/,
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': /camera=\(\)/,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
}

async function startHost(t: Test, databaseUrl: string) {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-waiting-'))
  const port = await freePort()
  const env = {
    ...process.env,
    PORT: String(port),
    DATABASE_URL: databaseUrl,
    SECRET_KEY: 'a'.repeat(64),
    TRUST_PROXY: 'loopback',
  }
  const file = JSON.stringify({ plugins: [], rate_limits: { network: NETWORK } })
  await writeFile(join(folder, 'claimcheck.config.json'), file)
  const child = spawn(process.execPath, [CLAIMCHECK, 'serve', '--json'], { cwd: folder, env })
  t.teardown(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  return { child, port, url: `http://127.0.0.1:${port}` }
}

async function says(stream: ChildProcess['stderr'], what: string): Promise<void> {
  let said = ''
  for await (const chunk of stream!.iterator({ destroyOnReturn: false })) {
    said += chunk
    if (said.includes(what)) return
  }
  throw new Error(`it ended without "${what}": ${said}`)
}

async function exchange(port: number, bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.end(bytes)
  return text(socket)
}

const headersOf = async (answer: Response) => {
  await answer.text()
  return { status: answer.status, headers: Object.fromEntries(answer.headers) }
}

t.test('while the database is away', async (t) => {
  const postgres = await startPostgres()
  t.teardown(() => postgres.stop('immediate'))
  await postgres.stop('fast')
  const { child, port, url } = await startHost(t, postgres.url)
  await says(child.stderr, 'Waiting for the database')
  await minuteWithRoom()
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })

  t.match(await headersOf(await fetch(`${url}/healthz`)), { status: 200, headers: HEADERS })
  for (const path of ['/readyz', '/readyz/read', '/v1/claims', '/console', '/r/x'])
    t.match(await headersOf(await fetch(url + path, from('192.0.2.9'))), {
      status: 503,
      headers: { ...HEADERS, 'retry-after': '1' },
    })
  t.match(await headersOf(await fetch(`${url}/%zz`, from('192.0.2.9'))), { status: 404, headers: HEADERS })
  const twoReadings = 'POST /v1/claims HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x, chunked\r\n\r\n0\r\n\r\n'
  const refused = await exchange(port, twoReadings)
  t.match(refused, /^HTTP\/1\.1 400 /)
  t.match(refused, /\r\nx-content-type-options: nosniff/i)
  t.match(await exchange(port, 'nonsense\r\n\r\n'), /^HTTP\/1\.1 400 [\s\S]*\r\nx-content-type-options: nosniff/)

  const statuses: Record<number, number> = {}
  for (let asked = 0; asked < NETWORK + 5; asked++) {
    const { status } = await fetch(`${url}/v1/claims`, { method: 'POST', body: '{}', ...from('192.0.2.1') })
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  t.strictSame(statuses, { 503: NETWORK, 429: 5 })
  t.equal((await fetch(`${url}/v1/claims`, from('192.0.2.2'))).status, 503, 'another network')
  t.equal((await fetch(`${url}/healthz`, from('192.0.2.1'))).status, 200, 'a probe')

  const slow = connect(port, '127.0.0.1')
  slow.on('error', () => {})
  slow.write('POST /v1/claims HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n{')
  await postgres.start()
  const before = performance.now()
  await says(child.stdout, '"url"')
  t.ok(performance.now() - before < STARTS_WITHIN_MS, 'it waits for no slow sender')
  slow.destroy()
  child.kill('SIGTERM')
  t.strictSame(await once(child, 'exit'), [0, null])
})
