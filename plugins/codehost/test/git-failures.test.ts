// Test run: end-to-end, slow
/** Checks at a git server that fails or misbehaves. */
import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { DestinationError } from '@claimcheck/core/plugin'
import t from 'tap'
import { brokenOff, type Fault, html, redirectTo, silence, status } from '../../../test/destinations/faults.ts'
import { outcome } from './context.ts'
import { atGitServer } from './git-fixture.ts'

const FAILURES: readonly (readonly [string, Fault, string, number?])[] = [
  ['401', status(401), 'unauthorized'],
  ['403', status(403), 'forbidden'],
  ['404', status(404), 'forbidden'],
  ['429 with Retry-After', status(429, { 'retry-after': '30' }), 'rate_limited', 30_000],
  ['500', status(500), 'unavailable'],
  ['503 with Retry-After', status(503, { 'retry-after': '5' }), 'unavailable', 5000],
  ['HTML', html(), 'unexpected_response'],
  [
    'a redirect to another host',
    redirectTo('http://localhost:9/acme/app.git/info/refs?service=git-upload-pack'),
    'unexpected_response',
  ],
]

t.test('each failure of a server has its code, with the time to wait', async (t) => {
  const { server, first, look, leftBehind } = await atGitServer(t)
  for (const [name, fault, code, retryAfterMs] of FAILURES) {
    server.faults.inject({ fault, times: 1 })
    const error = await look(first).then(
      () => undefined,
      (error: unknown) => error,
    )
    t.ok(error instanceof DestinationError, name)
    t.match(error, { code, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }, name)
  }
  t.equal(await outcome(look(first)), 'as claimed', 'after the failures the commit is found')
  t.same(await leftBehind(), [])
})

const UNREAD = /^(?:forbidden|unavailable|unexpected_response)$/

t.test('a commit is never absent when one of the requests fails', async (t) => {
  const { server, repository, connect, look, leftBehind } = await atGitServer(t)
  const sha = await repository.commit()
  t.equal(await outcome(look(sha)), 'absent')
  const requests = server.requests.length
  const faults = [status(500), status(403), status(404), html(), brokenOff(), redirectTo('http://localhost:9/')]
  for (const fault of faults) {
    for (let after = 0; after < requests; after++) {
      server.faults.clear()
      server.faults.inject({ fault, after })
      // Nothing is kept for this one.
      const connection = { ...connect(), id: `conn_${server.requests.length}` }
      const result = await outcome(look(sha, { connection }))
      t.match(result, UNREAD, `${server.requests.at(-1)}: ${result}`)
    }
  }
  t.same(await leftBehind(), [])
})

t.test('nor when a request fails for which something is kept', async (t) => {
  const { server, repository, look } = await atGitServer(t)
  const sha = await repository.commit()
  for (let after = 0, requests = 1; after < requests; after++) {
    t.equal(await outcome(look(sha)), 'absent')
    const before = server.requests.length
    t.equal(await outcome(look(sha)), 'absent')
    requests = server.requests.length - before
    server.faults.inject({ fault: brokenOff(), after })
    t.match(await outcome(look(sha)), UNREAD)
    server.faults.clear()
  }
})

t.test('a server that is down is unavailable', async (t) => {
  const { server, base, look } = await atGitServer(t)
  await server.stopListening()
  t.equal(await outcome(look(base)), 'unavailable')
  await server.listen()
  t.equal(await outcome(look(base)), 'as claimed')
})

t.test('a check of a silent server ends with its time, and leaves no process or file of git behind', async (t) => {
  const { server, first, connect, look, leftBehind } = await atGitServer(t)
  server.faults.inject({ fault: silence(), on: /POST .*git-upload-pack/ })
  const connection = connect({ username: 'reader', password: 'open sesame' })
  const looking = outcome(look(first, { timeoutMs: 1500, connection }))
  await setTimeout(800)
  const during = await commandLines(server.url)
  t.ok(during.length > 0, 'git is waiting')
  const secrets = ['open sesame', Buffer.from('reader:open sesame').toString('base64')]
  t.notOk(
    during.some((line) => secrets.some((secret) => line.includes(secret))),
    'no credentials on a command line',
  )
  t.equal(await looking, 'timeout')
  await setTimeout(200)
  t.same(await commandLines(server.url), [])
  t.same(await leftBehind(), [])
})

t.test('a history that is too large is not fetched', async (t) => {
  const { server, look, leftBehind } = await atGitServer(t, { max_pack_mib: 1 })
  const large = await server.createRepository('acme/large', { filters: false })
  const sha = await large.commit({ content: randomBytes(1_500_000).toString('base64') })
  await large.push('main', await large.commit({ parents: [sha] }))
  t.equal(await outcome(look(sha, { target: 'acme/large' })), 'unexpected_response')
  t.same(await leftBehind(), [])
})

t.test('git connects to the address that was checked, and does not resolve the name again', async (t) => {
  const { server, base, connect, look } = await atGitServer(t)
  const connection = connect({ base_url: server.url.replace('127.0.0.1', 'localhost') })
  t.equal(await outcome(look(base, { connection, address: '127.0.0.1' })), 'as claimed')
  t.equal(await outcome(look(base, { connection, address: '127.0.0.99' })), 'unavailable')
})

t.test("git ignores the host's own configuration and environment", async (t) => {
  const { base, look } = await atGitServer(t)
  const hostile = {
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'url.http://127.0.0.1:9/.insteadOf',
    GIT_CONFIG_VALUE_0: 'http://127.0.0.1',
    GIT_DIR: '/nonexistent',
    GIT_TRACE: '2',
    http_proxy: 'http://127.0.0.1:9',
    HTTPS_PROXY: 'http://127.0.0.1:9',
  }
  Object.assign(process.env, hostile)
  t.teardown(() => {
    for (const name of Object.keys(hostile)) delete process.env[name]
  })
  t.equal(await outcome(look(base)), 'as claimed')
})

/** The command lines of running programs that contain the server's URL. */
async function commandLines(url: string): Promise<string[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'latin1').catch(() => '')))
  return lines.filter((line) => line.includes(url))
}

t.test('a history of which the server lacks a part is unavailable, and not fetched piece by piece', async (t) => {
  const { server, repository, base, first, look, leftBehind } = await atGitServer(t)
  await writeFile(join(repository.folder, 'shallow'), `${base}\n`)
  t.equal(await outcome(look(first)), 'unavailable')
  t.ok(server.requests.length <= 7, `${server.requests.length} requests`)
  t.same(await leftBehind(), [])
})
