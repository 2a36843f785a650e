/** Recordings: what a proxy keeps of a destination, that no credential is in it, and that it is replayed over real HTTP. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import {
  readRecording,
  recorded,
  recordingProxy,
  runConformance,
  verifierConformance,
  writeRecording,
} from '@claimcheck/core/testkit'
import t, { type Test } from 'tap'
import { LONG } from '../../test/support/extent.ts'
import { examine, options } from './bad-plugins/cases.ts'
import { ticketPlugin } from './bad-plugins/good.ts'
import { TOKEN, tracker } from './bad-plugins/tracker.ts'

t.setTimeout(120_000)

/** A destination that repeats everything it is sent. */
async function repeating(t: Test): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    response.setHeader('set-cookie', 'session=cookie-value-1')
    response.setHeader('x-repeated', request.headers.authorization ?? '')
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString() }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test('no credential of a request is in a recording, also where the destination repeats it', async (t) => {
  const proxy = await recordingProxy({ to: await repeating(t) })
  t.teardown(() => proxy.stop())
  const secrets = ['bearer-secret-1', 'basic-secret-1', 'private-secret-1', 'query-secret-1', 'cookie-value-1']
  const [bearer, basic, own, query] = secrets
  const ask = async (path: string, headers: Record<string, string>) =>
    (await fetch(proxy.url + path, { headers })).text()
  t.match(await ask('/a', { authorization: `Bearer ${bearer}` }), bearer, 'who asks gets the whole answer')
  await ask('/b', { authorization: `Basic ${Buffer.from(`user:${basic}`).toString('base64')}` })
  await ask('/c', { 'private-token': own! })
  await ask(`/d?access_token=${query}&page=2`, {})
  const text = JSON.stringify(proxy.recording())
  for (const secret of [...secrets, Buffer.from(`user:${basic}`).toString('base64')]) t.notMatch(text, secret)
  t.notMatch(text, 'set-cookie')
  t.match(text, 'page=2')
})

t.test('a recording is replayed as it was, calls by their params, and no gap of it is an absence', async (t) => {
  const proxy = await recordingProxy({ to: await repeating(t) })
  t.teardown(() => proxy.stop())
  const call = (params: number[]) => ({
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'get', params }),
  })
  for (const params of [[1], [2]]) await (await fetch(`${proxy.url}/rpc`, call(params))).text()
  await (await fetch(`${proxy.url}/list?page=2`)).text()
  const file = join(t.testdir(), 'recording.json')
  await writeRecording(file, proxy.recording())
  t.strictSame(await readRecording(file), proxy.recording())

  const replay = await recorded(file).start({ now: Date.now })
  t.teardown(() => replay.stop())
  t.match(await (await fetch(`${replay.url}/rpc`, call([2]))).json(), { body: /"params":\[2\]/ })
  t.equal((await fetch(`${replay.url}/rpc`, call([3]))).status, 501)
  t.match(await (await fetch(`${replay.url}/list?page=2`)).json(), { url: '/list?page=2' })
  t.equal((await fetch(`${replay.url}/list?page=3`)).status, 501)
})

t.test('a file that is no recording is refused', async (t) => {
  const folder = t.testdir({ 'other.json': '{"log": {"entries": []}}' })
  await t.rejects(readRecording(join(folder, 'other.json')))
})

/** @param more what is recorded besides what the checks ask */
async function recordings(t: Test, more: readonly string[]): Promise<Record<string, string>> {
  const live = tracker()
  const running = await live.start({ now: Date.now })
  t.teardown(() => running.stop())
  const folder = t.testdir()
  const files: Record<string, string> = {}
  for (const situation of ['open', 'closed'] as const) {
    await live.set!(situation)
    const proxy = await recordingProxy({ to: running.url })
    const paths = ['/projects/ACME', '/projects/ACME/tickets/7', ...more]
    if (situation === 'closed') paths.push('/projects/ACME/tickets/7/events')
    for (const path of paths) {
      await (await fetch(proxy.url + path, { headers: { authorization: `Bearer ${TOKEN}` } })).text()
    }
    files[situation] = join(folder, `${situation}.json`)
    await writeRecording(files[situation], proxy.recording())
    await proxy.stop()
  }
  return files
}

t.test('a plugin passes on recordings of its destination as it does live', LONG, async (t) => {
  const files = await recordings(t, ['/account'])
  const { unprivileged: _, ...rest } = options(ticketPlugin(), ['closed', 'open'])
  const tests: [string, () => Promise<void>][] = []
  // As `test` of another runner.
  const report = await verifierConformance((name, run) => void tests.push([name, run]), {
    ...rest,
    destination: recorded(files) as never,
  })
  t.strictSame(
    report.checks.filter(({ ok }) => !ok),
    [],
  )
  t.match(report.untested, [/^absence\.hides-permission/])
  t.ok(tests.length > 50)
  for (const [, run] of tests) await run()
})

t.test('a probe that was not recorded is not tested, and is no fault of the plugin', async (t) => {
  const destination = recorded(await recordings(t, [])) as never
  const { unprivileged: _, ...rest } = options(ticketPlugin(), ['closed'])
  const { ok, untested } = await runConformance({ ...rest, destination })
  t.ok(ok)
  t.match(untested, [/^absence\.hides-permission/, /^probe: record what the probe asks/])
})

t.test('a check that fails is a test that fails, with the route in its text', async (t) => {
  const tests: [string, () => Promise<void>][] = []
  const plugin = ticketPlugin({
    parts: { ticket: async ({ context, ticket, auth }) => (await context.fetch(ticket, { auth })).json() },
  })
  await verifierConformance(
    { test: (name: string, run: () => Promise<void>) => void tests.push([name, run]) },
    options(plugin, ['closed']),
  )
  const [, run] = tests.find(([name]) => name.includes('fault.html-for-json'))!
  await t.rejects(run(), { message: /tickets\/7/ })
  t.notOk((await examine(plugin, ['closed'])).ok)
})
