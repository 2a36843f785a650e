// Test run: slow
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type Claimcheck, openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { createRecheckWorker } from '@claimcheck/server/features/claims/recheck-worker'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import t, { type Test } from 'tap'
import { SCHEMA } from '../../../../test/support/storage.ts'

const MINUTE_MS = 60_000

async function open(t: Test, folder = t.testdir()) {
  const plugins = [{ use: resolve('build/test/plugins/scripted.js'), trusted: true }]
  const checks = { concurrency: 16, timeout_ms: 300, first_answer_ms: 50 }
  writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify({ plugins, checks }))
  const clock = { aheadMs: 0 }
  const now = () => Date.now() + clock.aheadMs
  const config = loadConfig({ LOG_LEVEL: 'silent' }, folder)
  const claimcheck = await openClaimcheck(config, { plugins: true, now })
  t.teardown(async () => {
    await claimcheck.recheckWorker.stop()
    await claimcheck.adjudication.idle()
    await claimcheck.sequencer.idle()
    await claimcheck.close()
  })
  await claimcheck.signingKeys.ensureLog()
  const { id } = await claimcheck.workspaces.create('acme')
  let claims = 0
  const submit = async (params: { see: string; later?: { at: number; see: string } }) => {
    const { claim } = await claimcheck.claims.submit(
      { workspaceId: id, payer: id, submittedBy: 'key_1', speaksFor: 'any' },
      {
        clientClaimId: `claim-${++claims}`,
        agentId: 'agent-1',
        action: 'test.outcome.reach',
        target: 'somewhere',
        params,
        claimedAt: now(),
      },
    )
    return claim
  }
  return { claimcheck, clock, now, submit, workspaceId: id }
}

async function decided({ claims }: Claimcheck, workspaceId: string, count: number) {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    const page = await claims.list(workspaceId, { limit: 200, state: 'decided' })
    if (page.claims.length >= count) return page.claims
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('claims are still queued')
}

t.test('a claim that waits is looked at when it is due, and decided', async (t) => {
  const { claimcheck, clock, now, submit, workspaceId } = await open(t)
  const waiting = await submit({ see: 'absent', later: { at: now() + MINUTE_MS, see: 'present' } })
  t.match(waiting, { state: 'queued', attempts: 1 })
  claimcheck.recheckWorker.start()
  await new Promise((resolve) => setTimeout(resolve, 500))
  t.match(await claimcheck.claims.get(workspaceId, waiting.claimId), { attempts: 1 }, 'and not before')
  clock.aheadMs = 2 * MINUTE_MS
  t.match(await decided(claimcheck, workspaceId, 1), [{ verdict: 'verified', attempts: 2 }])
})

t.test('more claims than slots are all looked at, though checks hang', async (t) => {
  const { claimcheck, clock, now, submit, workspaceId } = await open(t)
  const at = now() + MINUTE_MS
  for (const see of ['hang', 'present', 'hang', 'present', 'present', 'throw', 'present']) {
    await submit({ see: 'absent', later: { at, see } })
  }
  clock.aheadMs = 2 * MINUTE_MS
  claimcheck.recheckWorker.start()
  const verdicts = (await decided(claimcheck, workspaceId, 4)).map(({ verdict }) => verdict)
  t.strictSame(verdicts, Array(4).fill('verified'))
})

t.test('a claim whose host died before its first check is taken up when the lease is over', async (t) => {
  const { claimcheck, clock, now, submit, workspaceId } = await open(t)
  const model = (await claimcheck.storage.read.claims.byId(workspaceId, (await submit({ see: 'present' })).claimId))!
  const left = { ...model, claimId: 'clm_left', clientClaimId: 'left', attempts: 0, lastCheck: null, receiptId: null }
  const dueAt = claimcheck.adjudication.leaseEnd(now())
  await claimcheck.storage.write((tx) =>
    tx.claims.insertNew([{ ...left, state: 'queued', verdict: null, dueAt, nextCheckAt: now() }]),
  )
  claimcheck.recheckWorker.start()
  await new Promise((resolve) => setTimeout(resolve, 500))
  t.match(await claimcheck.claims.get(workspaceId, 'clm_left'), { state: 'queued' })
  clock.aheadMs = dueAt - Date.now()
  t.equal((await decided(claimcheck, workspaceId, 2)).length, 2)
})

t.test('stopping finishes what is under way, and takes up nothing new', async (t) => {
  const { claimcheck, clock, now, submit, workspaceId } = await open(t)
  const at = now() + MINUTE_MS
  for (let claim = 0; claim < 20; claim++) await submit({ see: 'absent', later: { at, see: 'hang' } })
  clock.aheadMs = 2 * MINUTE_MS
  const { admission } = claimcheck
  claimcheck.recheckWorker.start()
  const running = () => Object.values(admission.state().running).reduce((sum, count) => sum + count)
  while (running() < 4) await new Promise((resolve) => setTimeout(resolve, 5))
  await claimcheck.recheckWorker.stop()
  t.equal(running(), 0)
  const { claims } = await claimcheck.claims.list(workspaceId, { limit: 30 })
  const looked = claims.filter(({ attempts }) => attempts === 2).length
  t.ok(looked >= 4 && looked < 12, `${looked} checks were finished`)
  await new Promise((resolve) => setTimeout(resolve, 500))
  t.strictSame((await claimcheck.claims.list(workspaceId, { limit: 30 })).claims, claims)
  t.strictSame((await diagnose(claimcheck.storage, { schema: SCHEMA })).problems, [])
})

t.test('it looks at the queue at once when the clock was moved, whatever it does then', async (t) => {
  const { claimcheck, now } = await open(t)
  const looks: number[] = []
  const take = async () => {
    looks.push(now())
    return []
  }
  const worker = createRecheckWorker({ ...claimcheck, dueClaims: { ...claimcheck.dueClaims, take } })
  const lookAgain = async () => {
    const before = looks.length
    worker.lookNow()
    while (looks.length < before + 2) await new Promise((resolve) => setImmediate(resolve))
  }
  worker.start()
  const startedAt = now()
  for (let round = 0; round < 50; round++) await lookAgain()
  const tookMs = now() - startedAt
  t.ok(tookMs < 50 * 500, `${tookMs} ms for fifty looks, whose shortest pauses take a second`)
  await worker.stop()
})

t.test('a queue that cannot be read for a while is read again', async (t) => {
  const { claimcheck, clock, now, submit, workspaceId } = await open(t)
  await submit({ see: 'absent', later: { at: now() + MINUTE_MS, see: 'present' } })
  clock.aheadMs = 2 * MINUTE_MS
  let failures = 1
  const { dueClaims } = claimcheck
  const take: typeof dueClaims.take = (kind, request) =>
    failures-- > 0 ? Promise.reject(new Error('disk full')) : dueClaims.take(kind, request)
  const worker = createRecheckWorker({ ...claimcheck, dueClaims: { ...dueClaims, take } })
  worker.start()
  t.match(await decided(claimcheck, workspaceId, 1), [{ verdict: 'verified' }])
  t.ok(failures < 0, 'it failed once')
  await worker.stop()
  await worker.stop()
})
