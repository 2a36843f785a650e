// Test run: end-to-end, slow
/** What a claim that ends its plugin's process costs: through the whole service, and over its restarts. Threat P4 of `security.md`. */
import { setTimeout } from 'node:timers/promises'
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t from 'tap'
import { destination, installedPlugin, TOKEN } from '../../server/test/plugins/isolation/world.ts'
import { connect } from '../support/connect.ts'
import { Installation, SCRIPTED } from '../support/installation.ts'

const skip = (await isolationProblem()) ?? false
const DEED = { action: 'test.deed.do', target: 'page' }

t.test(
  'a claim that ends the process twice waits for a moment that decides, also after a restart',
  { skip },
  async (t) => {
    const { use } = installedPlugin(t, 'build/server/test/plugins/isolation/deeds.js')
    const { url, port } = await destination(t)
    const installation = await Installation.during(t, {
      inProcess: true,
      plugins: [SCRIPTED, { use }],
      env: { ALLOW_PRIVATE: `127.0.0.1:${port}` },
    })
    const client = await installation.client('acme')
    await connect(installation.claimcheck, client.workspaceId, 'deeds', { base_url: url, token: TOKEN })
    const historyOf = async (claimId: string) =>
      (await installation.claimcheck.claims.detail(client.workspaceId, claimId))!
    const state = () => installation.claimcheck.registry.plugins.find(({ name }) => name === 'deeds')!.parts.state()

    const { body: poison } = await client.submit({ ...DEED, params: { deed: 'exits' } })
    t.equal(poison.state, 'queued')
    for (let ended = 0; ended < 2; await setTimeout(100)) {
      const { history } = await historyOf(poison.claim_id)
      ended = history.length
      for (const record of history) t.match(record, { failure: { code: 'verifier_error', endedProcess: true } })
    }
    t.equal(state().restarts, 4, 'each check is made again once')
    const { claim } = await historyOf(poison.claim_id)
    t.ok(claim.nextCheckAt! > claim.claimedAt + 9 * 60_000, 'it is read again near the end of its tolerance')

    while (state().status !== 'running') await setTimeout(50)
    const good = await client.submit({ ...DEED, params: {} })
    t.match(good.body, { state: 'decided', verdict: 'verified' }, 'others are decided at once')
    t.match((await client.submit()).body, { state: 'decided', verdict: 'verified' }, 'and those of other plugins')

    await installation.stop()
    await installation.resume()
    await setTimeout(4000)
    while (state().status !== 'running') await setTimeout(50)
    t.equal(state().restarts, 0, 'the claim was not given to it')
    t.equal((await historyOf(poison.claim_id)).history.length, 2)
    t.match((await client.submit({ ...DEED, params: {} })).body, { state: 'decided', verdict: 'verified' })
  },
)

t.test('the receipt of a claim that an isolated plugin checked follows from its evidence', { skip }, async (t) => {
  const { use } = installedPlugin(t, 'build/server/test/plugins/isolation/deeds.js')
  const { url, port } = await destination(t)
  const installation = await Installation.during(t, { plugins: [{ use }], env: { ALLOW_PRIVATE: `127.0.0.1:${port}` } })
  const client = await installation.client('acme')
  await connect(installation.claimcheck, client.workspaceId, 'deeds', { base_url: url, token: TOKEN })
  const { body } = await client.submit({ ...DEED, params: {} })
  t.match(body, { verdict: 'verified' })
  const { body: receipt } = await installation.request(`/v1/receipts/${body.receipt_id}`)
  t.match(receipt.body, { observation: { facts: { status: 200 }, source: { provider: 'deeds' } } })
  t.notOk(JSON.stringify(receipt).includes(TOKEN))
})
