/** Features plug into a host that knows none: each optional one can be disabled, and one of the test's own is a folder and a line. */
import { join } from 'node:path'
import { createProgram } from '@claimcheck/command-line/program'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { FEATURES } from '@claimcheck/server/features'
import { copyInstallation } from '@claimcheck/server/features/maintenance/copy'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import { schemaOfFeatures } from '@claimcheck/server/host/composition'
import type { Feature } from '@claimcheck/server/host/feature'
import t, { type Test } from 'tap'
import { Installation } from '../support/installation.ts'
import { SCHEMA } from '../support/storage.ts'
import { decisionCounterFeature } from './decision-counter/feature.ts'

const OPTIONAL = (FEATURES as readonly Feature[]).filter(({ isOptional }) => isOptional).map(({ name }) => name)

/** A path of each, which answers where the feature is there. */
const PATHS: Readonly<Record<string, string>> = {
  console: '/console/sign-in',
  oauth: '/.well-known/oauth-authorization-server',
  mcp: '/mcp',
  site: '/docs',
}

async function start(t: Test, file: object, features?: readonly Feature[]): Promise<Installation> {
  const installation = await Installation.start({ file, ...(features ? { features } : {}) })
  t.teardown(() => installation.stop())
  return installation
}

for (const disabled of [...OPTIONAL.map((name) => [name]), OPTIONAL]) {
  t.test(`without ${disabled.join(', ')} the service starts, and decides claims`, async (t) => {
    const installation = await start(t, { disabled_features: disabled })
    const client = await installation.client('workspace')
    t.match((await client.submit()).body, { state: 'decided', verdict: 'verified' })
    t.match(await client.get('/v1/whoami'), { status: 200 })
    for (const path of ['/readyz', '/metrics', '/openapi.json', '/v1/profiles'])
      t.equal((await installation.host.request(path)).status, 200, path)
    for (const [name, path] of Object.entries(PATHS)) {
      const { status } = await installation.host.request(path)
      if (disabled.includes(name)) t.equal(status, 404, path)
    }
    const { storage, secrets, erasure } = installation.claimcheck
    t.strictSame((await diagnose(storage, { schema: SCHEMA, secrets })).problems, [])
    t.match(await erasure.list(10), [], 'what it stored before can still be erased')
  })
}

t.test('a feature that is not there, or that nothing works without, cannot be disabled', async (t) => {
  const { config } = await start(t, {})
  for (const name of ['log', 'elsewhere']) {
    const opened = openClaimcheck({ ...config, disabledFeatures: [name] }, { plugins: false })
    await t.rejects(opened, { message: new RegExp(`${name} cannot be disabled; .*console.* can`) })
  }
})

t.test('a feature of the test: a folder, and a line in the list', async (t) => {
  const installation = await start(t, {}, [decisionCounterFeature])
  const client = await installation.client('workspace')
  await client.submit()
  await client.submit({ params: { see: 'absent' } })
  const { host } = installation
  for (let tries = 0; (await host.request('/v1/decisions')).body.verified === undefined; tries++) {
    if (tries > 100) t.fail('its worker follows the log')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  t.match((await host.request('/v1/decisions')).body, { verified: 1 })
  t.match((await host.request('/metrics')).body, /claimcheck_decisions\{verdict="verified"\} 1/)
  t.match((await host.request('/docs/decision-counter')).body, /Counts decided claims by verdict/)
  t.match((await host.request('/docs')).body, /Decision counter/)

  const schema = schemaOfFeatures([...FEATURES, decisionCounterFeature])
  const to = { ...installation.config, databaseUrl: `sqlite:${join(t.testdir(), 'copy.db')}` }
  const copied = await copyInstallation({ from: installation.config, to, schema })
  t.equal(copied.decisions, 1, 'its rows are copied')
  const { storage } = host.claimcheck
  t.strictSame((await diagnose(storage, { schema })).problems, [])
  await storage.write(({ db }) => db.query('UPDATE decisions SET count = 0'))
  t.strictSame((await diagnose(storage, { schema })).problems, ['decisions verified: count is not positive'])

  const program = createProgram({ name: 'claimcheck', description: 'x', version: '1' })
  const { claimcheck } = host
  decisionCounterFeature.commands(program, (work) => work(claimcheck))
  t.match(
    program.commands.map((command) => command.name()),
    ['decisions'],
  )
})

t.test('where a listener fails, those that listen already are closed, and the start fails', async (t) => {
  const closed: string[] = []
  const first: Feature = {
    name: 'first',
    listen: async () => ({ name: 'first', url: 'http://127.0.0.1', close: async () => void closed.push('first') }),
  }
  const second: Feature = { name: 'second', listen: () => Promise.reject(new Error('its port is taken')) }
  await t.rejects(start(t, {}, [first, second]), { message: 'its port is taken' })
  t.strictSame(closed, ['first'])
})

t.test('a start that fails ends what it began', async (t) => {
  let isIdle = false
  const failing: Feature = {
    name: 'failing',
    routes: async () => [
      {
        scope: 'api',
        cost: 'readiness',
        add: (app) =>
          void app.addHook('onReady', async () => {
            throw new Error('out of paper')
          }),
      },
    ],
    idle: async () => {
      isIdle = true
    },
  }
  await t.rejects(start(t, {}, [failing]), /out of paper/)
  t.ok(isIdle)
})
