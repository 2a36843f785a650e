/** The benchmark of costs measures each class by a request of that class, which the service answers. Threat S5 of `security.md`. */
import { subscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { COSTS, type CostClass } from '@claimcheck/server/http/costs'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { enterWorld, PLUGINS, prepareWorld, SAMPLES } from '../scripts/bench/samples.ts'
import { Installation } from './support/installation.ts'

let last: CostClass | undefined
subscribe('fastify.initialization', (message) => {
  const { fastify } = message as { readonly fastify: FastifyInstance }
  fastify.addHook('onRequest', (request, _reply, done) => {
    last = request.routeOptions.config.cost
    done()
  })
})

t.test('each class is measured by what it is', async (t) => {
  const healthy = createServer((_request, response) => response.end())
  await new Promise<void>((listening) => healthy.listen(0, '127.0.0.1', listening))
  const place = `127.0.0.1:${(healthy.address() as AddressInfo).port}`
  const installation = await Installation.start({
    inProcess: true,
    plugins: PLUGINS,
    env: { ALLOW_PRIVATE: place, METRICS_TOKEN: '' },
    file: { rate_limits: { refusals: 0, sign_in: 0 } },
  })
  t.teardown(async () => {
    await installation.remove()
    healthy.closeAllConnections()
    healthy.close()
  })
  const prepared = await prepareWorld(installation.claimcheck, `http://${place}`)
  const world = await enterWorld(installation.url, prepared, 3)
  for (const name of Object.keys(COSTS) as CostClass[]) {
    const [path, init] = SAMPLES[name](world)
    const answer = await fetch(installation.url + path, { ...init, redirect: 'manual' })
    const text = await answer.text()
    t.ok(answer.status < 400, `${name}: ${answer.status} ${answer.status < 400 ? '' : text.slice(0, 300)}`)
    t.equal(last, name === 'verification' ? 'mcp' : name, path)
  }
})
