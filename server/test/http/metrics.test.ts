/** Who may read the metrics. */
import type { AddressInfo } from 'node:net'
import { buildMetricsApp } from '@claimcheck/server/features/monitoring/routes/metrics-app'
import pino from 'pino'
import t from 'tap'
import { exchange, startApp } from './support/server.ts'

const TOKEN = 'm'.repeat(32)
const METRICS = { contentType: 'text/plain; version=0.0.4', text: async () => 'claimcheck_log_tree_size 1\n' }

t.test('without a token, programs of this machine read them, and nobody through a proxy', async (t) => {
  const app = await startApp()
  t.teardown(app.close)
  t.equal((await app.ask('/metrics')).text, 'claimcheck_log_tree_size 1\n')
  for (const name of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'via']) {
    const refused = await app.ask('/metrics', { headers: { [name]: '127.0.0.1' } })
    t.equal(refused.status, 403, name)
    t.match(refused.json.detail, /METRICS_TOKEN, or at the address of METRICS_LISTEN/)
  }
  const behind = await startApp({ trustProxy: 1 })
  t.teardown(behind.close)
  t.equal((await behind.ask('/metrics')).status, 200)
  for (const address of ['192.0.2.1', '127.0.0.1', '::1', 'nonsense', '']) {
    t.equal((await behind.ask('/metrics', { headers: { 'x-forwarded-for': address } })).status, 403, address)
  }
  const unknown = await startApp({ publicUrl: 'https://claims.example' })
  t.teardown(unknown.close)
  t.equal((await unknown.ask('/metrics')).status, 403)
})

t.test('with a token, whoever shows it reads them, from anywhere', async (t) => {
  const app = await startApp({ metricsSettings: { token: TOKEN } })
  t.teardown(app.close)
  const read = (authorization?: string) =>
    app.ask('/metrics', { headers: { 'x-forwarded-for': '192.0.2.1', ...(authorization ? { authorization } : {}) } })
  t.equal((await read(`Bearer ${TOKEN}`)).status, 200)
  t.equal((await read(`bearer ${TOKEN}`)).status, 200)
  for (const wrong of [undefined, 'Bearer', `Bearer ${TOKEN}m`, `Bearer ${TOKEN.slice(1)}`, TOKEN, `Basic ${TOKEN}`]) {
    const refused = await read(wrong)
    t.match(refused, { status: 401, headers: { 'www-authenticate': 'Bearer' } }, String(wrong))
    t.notMatch(refused.text, /claimcheck_|mmm/)
  }
})

t.test('at an address of their own they are alone, and the service tells none', async (t) => {
  const app = await startApp({ metricsSettings: { listen: { host: '127.0.0.1', port: 0 } } })
  t.teardown(app.close)
  t.equal((await app.ask('/metrics')).status, 404)

  for (const [token, status] of [
    [undefined, 200],
    [TOKEN, 401],
  ] as const) {
    const own = buildMetricsApp({ metrics: METRICS, token, logger: pino({ level: 'silent' }) })
    t.teardown(() => own.close())
    await own.listen({ host: '127.0.0.1', port: 0 })
    const { port } = own.server.address() as AddressInfo
    t.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, status)
    const shown = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
    t.equal(await shown.text(), 'claimcheck_log_tree_size 1\n')
    for (const path of ['/', '/healthz', '/v1/log/head', '/console', '/%zz']) {
      t.equal((await fetch(`http://127.0.0.1:${port}${path}`)).status, 404, path)
    }
    t.match(await exchange(port, 'GARBAGE\r\n\r\n'), /^HTTP\/1\.1 400 /)
  }
})
