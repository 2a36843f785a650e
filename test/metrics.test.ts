// Test run: end-to-end, slow, alone
/** Where a running service tells its metrics, by its configuration. */
import t from 'tap'
import { Installation } from './support/installation.ts'

t.test('at an address of their own', async (t) => {
  const installation = await Installation.during(t, {
    env: { METRICS_LISTEN: '127.0.0.1:0', PUBLIC_URL: 'https://claims.example.com' },
  })
  t.equal((await installation.request('/metrics')).status, 404)
  const url = installation.host.metricsUrl!
  t.match(await (await fetch(url)).text(), /^claimcheck_log_tree_size 0$/m)
  await installation.stop()
  await t.rejects(fetch(url), 'until the service stops')
})

t.test('behind a proxy that nobody named, to nobody without the token', async (t) => {
  const PUBLIC_URL = 'https://claims.example.com'
  t.equal((await (await Installation.during(t, { env: { PUBLIC_URL } })).request('/metrics')).status, 403)
  const METRICS_TOKEN = 'm'.repeat(32)
  const withToken = await Installation.during(t, { env: { PUBLIC_URL, METRICS_TOKEN } })
  t.equal((await withToken.request('/metrics')).status, 401)
  const headers = { authorization: `Bearer ${METRICS_TOKEN}` }
  t.equal((await withToken.request('/metrics', { headers })).status, 200)
  const named = await Installation.during(t, { env: { PUBLIC_URL, TRUST_PROXY: '10.0.0.0/8' } })
  t.equal((await named.request('/metrics')).status, 200, 'this machine, where the proxy is known to be another')
})
