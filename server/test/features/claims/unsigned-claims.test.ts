/** Claims that are decided, and that wait for a signature: their recorded checks decide. */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { SigningError } from '@claimcheck/server/features/log/signing/key-store'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import t, { type Test } from 'tap'
import { SCHEMA } from '../../../../test/support/storage.ts'

const MINUTE_MS = 60_000

async function open(t: Test) {
  const folder = t.testdir()
  const plugins = [{ use: resolve('build/test/plugins/scripted.js'), trusted: true }]
  writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify({ plugins }))
  const time = { aheadMs: 0 }
  const now = () => Date.now() + time.aheadMs
  const claimcheck = await openClaimcheck(loadConfig({ LOG_LEVEL: 'silent' }, folder), { plugins: true, now })
  t.teardown(async () => {
    await claimcheck.adjudication.idle()
    await claimcheck.sequencer.idle()
    await claimcheck.close()
  })
  const { adjudication, claims, signingKeys, storage, workspaces } = claimcheck
  await signingKeys.ensureLog()
  const { id } = await workspaces.create('acme')
  const sign = signingKeys.latest
  const signer = { isAway: true }
  Object.assign(signingKeys, {
    latest: () => (signer.isAway ? Promise.reject(new SigningError('unavailable', 'it is away')) : sign()),
  })
  return {
    claimcheck,
    time,
    now,
    signer,
    async submit(action: string, params: { see?: string; later?: { at: number; see: string } }) {
      const submitter = { workspaceId: id, payer: id, submittedBy: 'key_1', speaksFor: 'any' } as const
      const input = { clientClaimId: action, agentId: 'agent-1', action, target: 'there', params, claimedAt: now() }
      const { claim } = await claims.submit(submitter, input)
      return claim.claimId
    },
    /** What the worker does with a due claim. */
    async advance(claimId: string) {
      const [claim] = await storage.read.claims.byIds([claimId])
      const entry = { kind: 'looking', shared: undefined, end() {} } as const
      return adjudication.advance(claim!, await storage.read.claims.history(claimId), entry)
    },
  }
}

t.test('what no plugin checks is decided once, too', async (t) => {
  const { claimcheck, time, now, signer, submit, advance } = await open(t)
  const claimId = await submit('test.unknown.action', {})
  for (let tries = 0; tries < 3; tries++) t.match(await advance(claimId), { state: 'queued', attempts: 1 })
  signer.isAway = false
  time.aheadMs = 60 * MINUTE_MS
  const before = now()
  t.match(await advance(claimId), { state: 'decided', attempts: 1, reasonCode: 'unsupported_action' })
  const { storage } = claimcheck
  t.equal((await storage.read.claims.history(claimId)).length, 1)
  t.ok((await storage.read.claims.decidedAt([claimId])).get(claimId)! >= before, 'its receipt is of when it is signed')
  t.strictSame((await diagnose(storage, { schema: SCHEMA, signatures: true })).problems, [])
})

t.test('while the time is in doubt nothing is signed, and what is decided is not read again', async (t) => {
  const { claimcheck, now, signer, submit, advance } = await open(t)
  const claimId = await submit('test.outcome.reach', { see: 'present', later: { at: now() + 1000, see: 'absent' } })
  signer.isAway = false
  const { clock, storage } = claimcheck
  const { doubt } = clock
  // It ends at once: a read that began in it would count.
  Object.assign(clock, {
    doubt() {
      Object.assign(clock, { doubt })
      return 'the clock was set'
    },
  })
  t.equal(await advance(claimId), undefined)
  t.equal((await storage.read.claims.history(claimId)).length, 1)
  t.match(await advance(claimId), { state: 'decided', attempts: 1, verdict: 'verified' })
})
