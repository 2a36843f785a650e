// Test run: end-to-end, slow
/** What a plugin's author who has a workspace gets of another workspace: nothing. Threat P7 of `security.md`. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { withoutSecretValues } from '@claimcheck/core/hosting'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import { connectedBy } from '@claimcheck/server/plugins/connected'
import { loadPlugins } from '@claimcheck/server/plugins/plugins'
import t, { type Test } from 'tap'
import { installedPlugin } from './world.ts'

const skip = (await isolationProblem()) ?? false
const PIN = '0417'
const SECRET_TARGET = 'the-acquisition-of-acme'

/** Victims and attackers with a workspace each, and the destination that they all read. */
async function start(t: Test) {
  const asked: string[] = []
  const server = createServer(({ url, headers }, response) => {
    asked.push(`${url} ${headers.authorization}`)
    response.end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}`

  const { folder, use } = installedPlugin(t, 'build/server/test/plugins/isolation/neighbours.js')
  const silent = () => {}
  const logger = { debug: silent, info: silent, warn: silent, child: () => logger }
  const config = { plugins: [{ use, with: {} }], pluginDir: folder, dataDir: join(folder, 'data') }
  const registry = await loadPlugins(config, { logger, now: Date.now })
  const outbound = createOutbound({ allowPrivate: [`127.0.0.1:${port}`] })
  const { parts } = registry.plugins[0]!
  t.teardown(async () => {
    await parts.close()
    await outbound.close()
  })
  const { verifier } = registry.verifierFor('test.neighbour.visit')!
  const type = registry.connectionType('neighbours')!

  function member(payer: string, token: string) {
    const tenant = { workspaceId: `wsp_of_${payer}`, payer }
    const options = { base_url: url, token }
    const connection = { id: `conn_of_${payer}`, provider: 'neighbours', options }
    return {
      async does(deed: string, at = '0', target = 'page'): Promise<string> {
        const timer = new AbortController()
        const { secrets } = withoutSecretValues(type, options)
        const { reach, limits } = verifier
        const origin = new URL(url).origin
        const requests = outbound.forCheck({
          timer,
          now: Date.now,
          origin,
          connected: connectedBy(type, connection),
          reach,
          secrets,
          limits,
        })
        const now = Date.now()
        const times = { claimedAt: now, deadlineAt: now + 60_000, submittedAt: now }
        const claim = { action: 'test.neighbour.visit', target, params: { deed, at }, ...times }
        try {
          const call = { claim, connection, previous: [], requests, timer, tenant, origin: url }
          return ((await verifier.check(call)) as { facts: { told: string } }).facts.told.replaceAll('·', ' ')
        } finally {
          timer.abort()
        }
      },
      normalizes: async (target: string) =>
        ((await verifier.normalize!({ target, params: {} }, tenant)) as { target: string }).target,
      address: () => type.baseUrl(options, tenant),
    }
  }
  let count = 0
  return {
    asked,
    url,
    two() {
      count++
      return { victim: member(`victim_${count}`, PIN), attacker: member(`attacker_${count}`, 'its own') }
    },
  }
}

t.jobs = 2
/** One plugin for all, as in a service. */
const world = skip ? undefined : await start(t)

t.test('a check tells nothing of what another workspace claims, configures or reads', { skip }, async (t) => {
  const { victim, attacker } = world!.two()
  await victim.does('waits a while', '0', SECRET_TARGET)
  await victim.normalizes(SECRET_TARGET)
  await victim.address()
  t.equal(await attacker.does('tells what it kept', SECRET_TARGET), 'nothing')
  t.equal(await attacker.does('tells what it kept', 'conn_of_victim'), 'nothing')
})

t.test('a normalized claim tells nothing of the claims of another workspace', { skip }, async (t) => {
  const { victim, attacker } = world!.two()
  await victim.normalizes(SECRET_TARGET)
  t.equal(await attacker.normalizes(`tell ${SECRET_TARGET}`), `tell ${SECRET_TARGET}`)
})

t.test('no process asks with the credentials of another workspace', { skip }, async (t) => {
  const { victim, attacker } = world!.two()
  const waiting = victim.does('waits a while', '700')
  await setTimeout(300)
  await attacker.does('asks as every run', `${world!.url}/stolen`)
  await waiting
  t.strictSame(
    world!.asked.filter((one) => one.includes(PIN)),
    [],
  )
})

t.test('no process answers for another workspace', { skip }, async (t) => {
  const { victim, attacker } = world!.two()
  const waiting = victim.does('waits a while', '500')
  await setTimeout(200)
  await attacker.does('answers every run', 'a forged answer')
  t.equal(await waiting, 'an honest answer')
})

t.test('a plugin does not move the connection of another workspace', { skip }, async (t) => {
  const { victim, attacker } = world!.two()
  await attacker.does('moves connections', 'https://attacker.example')
  t.equal(await attacker.address(), 'https://attacker.example')
  t.equal(await victim.address(), world!.url)
})

t.test('what a plugin gets of the host says neither its credentials nor its workspace', { skip }, async (t) => {
  const { victim } = world!.two()
  t.equal(await victim.does('guesses the PIN'), 'nothing')
  t.notMatch(await victim.does('tells its share'), /wsp_/)
  t.equal(await victim.does('tells what it kept', 'wsp_of_victim'), 'nothing')
})

t.test('what one workspace makes a plugin do stops no other one', { skip }, async (t) => {
  const { victim, attacker } = world!.two()
  const before = await victim.does('tells its process')
  t.not(await attacker.does('tells its process'), before)
  await t.rejects(attacker.does('exits'), { name: 'PluginEndedError' })
  t.equal(await victim.does('tells its process'), before)
})
