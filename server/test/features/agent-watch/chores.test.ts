/** Agents that fall silent, and agents whose claims hold less often than before: each is told once. */
import type { Instant, VerdictValue } from '@claimcheck/core/rules'
import { BY_SERVICE } from '@claimcheck/server/base/actor'
import { createAgentWatchChores } from '@claimcheck/server/features/agent-watch/chores'
import { hasJumped } from '@claimcheck/server/features/agent-watch/rate-jump'
import { createSilenceService } from '@claimcheck/server/features/agent-watch/silence'
import t, { type Test } from 'tap'
import { claimNumber } from '../../support/claim-row.ts'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const LOG = {
  logId: 'log',
  name: 'log',
  number: 0,
  keyId: 'key',
  treeSize: 0,
  rootHash: Buffer.alloc(32),
  issuedAt: NOON,
}

async function begin(t: Test, dialect: (typeof DIALECTS)[number]) {
  const storage = await opened(t, await newDatabase(t, dialect))
  await storage.write(async (tx) => {
    for (const id of ['ws_1', 'ws_2']) await tx.workspaces.insert({ id, name: id, createdAt: NOON })
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    await tx.log.create({ ...LOG, signed: '{}' })
    // Workspaces that ever had an event are looked at.
    tx.events.record({ workspaceId: 'ws_1', type: 'claim.decided', at: NOON, subject: 'clm_x', detail: null })
  })
  const clock = { at: NOON, doubt: undefined as string | undefined }
  const now = () => clock.at
  const logger = { error: (problem: unknown) => void t.fail(String((problem as { err: Error }).err.stack)) }
  const logGuard = { maySign: async () => true }
  const host = () => createAgentWatchChores({ storage, clock: { doubt: () => clock.doubt }, logGuard, now, logger })
  const chores = host()
  let version = 0
  let made = 0
  async function claim(
    agentId: string,
    at: Instant,
    verdict: VerdictValue | null = null,
    count = 1,
    workspaceId = 'ws_1',
  ) {
    const newClaims = Array.from({ length: count }, () => {
      const claimId = `clm_${String(++made).padStart(6, '0')}`
      return claimNumber(made, { claimId, agentId, workspaceId, submittedAt: at, verdict })
    })
    await storage.apply({
      log: { ...LOG, number: version },
      head: { ...LOG, number: ++version, signed: '{}' },
      newClaims,
    })
  }
  return {
    storage,
    clock,
    claim,
    host,
    silence: createSilenceService({ storage, now }),
    round: (by = chores) => by.round(new AbortController().signal),
    told: async () =>
      (await storage.read.events.after('ws_1', 1, 1000)).map(({ type, subject, detail }) => [type, subject, detail]),
  }
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, an agent that stops is told once for each silence`, async (t) => {
    const { clock, claim, silence, round, told, host } = await begin(t, dialect)
    await claim('before', NOON - 3 * HOUR_MS)
    await silence.set('ws_1', { hours: 2, agents: [] }, BY_SERVICE)
    await claim('bot', NOON)
    await claim('busy', NOON)
    await claim('theirs', NOON, null, 1, 'ws_2')
    clock.at = NOON + 2 * HOUR_MS - 1
    await claim('busy', clock.at)
    await round()
    t.strictSame(await told(), [], 'those who fell silent before are none')
    clock.at += MINUTE_MS
    await Promise.all([round(), round(host())])
    await round()
    t.strictSame(await told(), [['agent.silent', 'clm_000002', '2']])
    await claim('bot', clock.at)
    clock.at += 5 * HOUR_MS
    await round()
    t.strictSame(
      (await told())
        .slice(1)
        .map(([, subject]) => subject)
        .toSorted(),
      ['clm_000005', 'clm_000006'],
    )
  })

  t.test(`on ${dialect}, a rate that jumped is told once a day`, async (t) => {
    const { clock, claim, round, told } = await begin(t, dialect)
    for (const agent of ['good', 'bad', 'new']) {
      if (agent !== 'new') await claim(agent, NOON - 10 * DAY_MS, 'verified', 95)
      if (agent !== 'new') await claim(agent, NOON - 9 * DAY_MS, 'failed', 5)
      await claim(agent, NOON - HOUR_MS, 'verified', 20)
      await claim(agent, NOON - HOUR_MS, 'unverifiable', 20)
    }
    await claim('bad', NOON - 30 * MINUTE_MS, 'mismatch', 5)
    await claim('new', NOON - 30 * MINUTE_MS, 'failed', 15)
    await round()
    const [first, ...others] = await told()
    t.strictSame(others, [])
    t.match(first, ['rate.jumped', /^clm_/, '5 25 5 100'])
    clock.at += HOUR_MS
    await claim('bad', clock.at, 'failed', 5)
    await round()
    t.equal((await told()).length, 1)
    clock.at += 23 * HOUR_MS
    await claim('bad', clock.at, 'failed', 20)
    clock.at += MINUTE_MS
    await round()
    t.equal((await told()).length, 2)
  })
}

t.test('saving the same hours again forgets no silence that was not told yet', async (t) => {
  const { clock, claim, silence, round, told } = await begin(t, 'sqlite')
  await silence.set('ws_1', { hours: 1, agents: [] }, BY_SERVICE)
  await claim('bot', NOON)
  clock.at += HOUR_MS + MINUTE_MS
  await silence.set('ws_1', { hours: 1, agents: ['bot'] }, BY_SERVICE)
  await round()
  t.strictSame(await told(), [['agent.silent', 'clm_000001', '1']])
  await claim('bot', clock.at)
  clock.at += 2 * HOUR_MS + MINUTE_MS
  await silence.set('ws_1', { hours: 2, agents: [] }, BY_SERVICE)
  await round()
  t.equal((await told()).length, 1, 'other hours begin anew')
})

t.test('nothing is told while the time is in doubt, and of no silence once that is off', async (t) => {
  const { clock, claim, silence, round, told } = await begin(t, 'sqlite')
  await silence.set('ws_1', { hours: 1, agents: ['bot'] }, BY_SERVICE)
  await claim('bot', NOON)
  await claim('other', NOON)
  clock.at += 2 * HOUR_MS
  clock.doubt = 'another clock says otherwise'
  await round()
  t.strictSame(await told(), [])
  clock.doubt = undefined
  await round()
  t.strictSame(await told(), [['agent.silent', 'clm_000001', '1']], 'the agents that are named alone')
  await claim('bot', clock.at)
  await silence.set('ws_1', null, BY_SERVICE)
  clock.at += 2 * HOUR_MS
  await round()
  t.equal((await told()).length, 1)
  for (const wrong of [
    { hours: 0 },
    { hours: 1.5 },
    { hours: 721 },
    { agents: ['\u202e'] },
    { agents: ['x'.repeat(257)] },
  ])
    await t.rejects(silence.set('ws_1', { hours: 1, agents: [], ...wrong }, BY_SERVICE), { code: 'bad_request' })
})

t.test('the rule for a rate asks for enough claims, and for a clear change', (t) => {
  const jumped = (blamed: number, judged: number, blamedBefore: number, judgedBefore: number) =>
    hasJumped({ blamed, judged }, { blamed: blamedBefore, judged: judgedBefore })
  t.ok(jumped(5, 20, 0, 50))
  t.notOk(jumped(4, 20, 0, 50))
  t.notOk(jumped(5, 19, 0, 50))
  t.notOk(jumped(5, 20, 0, 49))
  t.notOk(jumped(9, 100, 0, 1000), 'by less than ten points')
  t.ok(jumped(20, 100, 100, 1000))
  t.notOk(jumped(19, 100, 100, 1000), 'by less than twice')
  t.end()
})
