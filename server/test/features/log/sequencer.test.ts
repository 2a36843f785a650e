import { join } from 'node:path'
import { claimDigest, DOMAINS, type Signer } from '@claimcheck/core/receipts'
import type { CheckRecord } from '@claimcheck/core/rules'
import { createBatch } from '@claimcheck/server/base/batch'
import { NO_TRACING } from '@claimcheck/server/base/tracing'
import { createLogPlanner } from '@claimcheck/server/features/log/log-planner'
import type { Decided } from '@claimcheck/server/features/log/receipt-content'
import { createSequencer, type Outcome } from '@claimcheck/server/features/log/sequencer'
import { SigningError } from '@claimcheck/server/features/log/signing/key-store'
import { createSigningKeys, type KeyVault } from '@claimcheck/server/features/log/signing/signing-keys'
import { createStoredLog } from '@claimcheck/server/features/log/stored-log'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import { type ClaimRow, checks } from '@claimcheck/server/storage/claim-row'
import type { BeforeStatement } from '@claimcheck/server/storage/pools'
import { insertRows } from '@claimcheck/server/storage/rows'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { query } from '../../../../test/support/sql.ts'
import { openSqlite, SCHEMA } from '../../../../test/support/storage.ts'
import { claimNumber } from '../../support/claim-row.ts'
import { openLogGuard } from '../../support/log-guard.ts'
import { plainKeyFiles } from '../../support/plain-key-files.ts'

const NOON = Date.UTC(2026, 8, 25, 12)

interface Opening {
  folder?: string
  /** Where the host remembers what it signed. */
  memory?: string
  now?: () => number
  beforeStatement?: BeforeStatement
  /** Whether the signer is away for a signature of this domain. */
  isAway?: (domain: string) => boolean
}

async function open(
  t: Test,
  { folder = t.testdir(), memory = folder, now = () => NOON, beforeStatement, isAway = () => false }: Opening = {},
) {
  const storage = await openSqlite(join(folder, 'claimcheck.db'), { beforeStatement })
  t.teardown(() => storage.close())
  const config = { issuerName: undefined, publicUrl: undefined }
  const logGuard = openLogGuard(storage, memory)
  const vault = awayAtTimes(plainKeyFiles(folder), isAway)
  const signingKeys = createSigningKeys({ storage, vault, logGuard, now, config })
  await signingKeys.ensureLog()
  const logPlanner = createLogPlanner({ signingKeys, logGuard, signedReceipts: { add() {} }, config })
  await storage.write((tx) => tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON }))
  const sequencer = createSequencer({ storage, logPlanner, tracing: NO_TRACING })
  return { folder, storage, signingKeys, logPlanner, logGuard, sequencer }
}

function awayAtTimes(vault: KeyVault, isAway: (domain: string) => boolean): KeyVault {
  const wrap = (signer: Signer): Signer => ({
    ...signer,
    async sign(domain, body) {
      if (isAway(domain)) throw new SigningError('unavailable', 'the signer is away')
      return signer.sign(domain, body)
    },
  })
  return {
    ...vault,
    create: async (tx) => wrap(await vault.create(tx)),
    load: async (keyId) => wrap(await vault.load(keyId)),
  }
}

let claims = 0

function unstored(over: Partial<ClaimRow> = {}): ClaimRow {
  const claim = claimNumber(++claims, { params: {}, submittedAt: NOON, ...over })
  return { ...claim, claimDigest: claimDigest(claim) }
}

async function newClaim(storage: Storage): Promise<ClaimRow> {
  const claim = unstored()
  await storage.write((tx) => tx.claims.insertNew([claim]))
  return claim
}

const record: CheckRecord = {
  sentAt: NOON,
  answeredAt: NOON + 10,
  clockOffsetMs: 0,
  observation: { kind: 'present', facts: {}, differs: [] },
}
const decision: Decided = {
  verdict: { value: 'verified' },
  basis: record,
  facts: {},
  source: undefined,
  evidence: undefined,
}
const decided = (claim: ClaimRow): Outcome => ({ claim, record, at: NOON + 10, decided: decision, next: null })
const waiting = (claim: ClaimRow): Outcome => ({
  claim,
  record,
  at: NOON + 10,
  decided: undefined,
  next: { at: NOON + 5000, momentAt: NOON + 60_000 },
})

t.test('a decision, its check, its receipt and the head come together', async (t) => {
  const { storage, sequencer } = await open(t)
  const claim = await newClaim(storage)
  const recorded = await sequencer.advance(decided(claim))
  t.match(recorded, { state: 'decided', attempts: 1, verdict: 'verified', receiptId: /^rcpt_/, dueAt: null })
  const [receipt] = await storage.read.log.receipts((await storage.read.log.state())!.logId, 0, 1)
  t.match(receipt, { leafIndex: 0, receiptId: recorded!.receiptId, claimId: claim.claimId })
  t.equal(receipt!.issuedAt, record.answeredAt, 'not before what it tells of')
  t.match(await storage.read.log.newestHead(), { treeSize: 1 })
  t.strictSame(await storage.read.claims.history(claim.claimId), [record])
})

t.test('a check without a decision is kept, and the claim waits for its next', async (t) => {
  const { storage, sequencer } = await open(t)
  const claim = await newClaim(storage)
  t.match(await sequencer.advance(waiting(claim)), {
    state: 'queued',
    attempts: 1,
    dueAt: NOON + 5000,
    receiptId: null,
  })
  t.match(await storage.read.log.newestHead(), { treeSize: 0 })
})

for (const domain of [DOMAINS.receipt, DOMAINS.treeHead]) {
  t.test(`while nobody signs ${domain}, checks are kept and decisions wait; the others go on`, async (t) => {
    let away = false
    const { storage, sequencer } = await open(t, { isAway: (asked) => away && asked === domain })
    const [claim, other] = [await newClaim(storage), await newClaim(storage)]
    away = true
    const again = { state: 'queued', attempts: 1, verdict: null, receiptId: null, dueAt: record.answeredAt + 30_000 }
    const fresh = unstored()
    const [advanced, stored, looked, isStored] = await Promise.all([
      sequencer.advance(decided(claim)),
      sequencer.storeChecked(decided(fresh)),
      sequencer.advance(waiting(other)),
      sequencer.store(unstored()),
    ])
    t.match([advanced, stored], [again, again])
    t.match([looked, isStored], [{ attempts: 1, dueAt: NOON + 5000 }, true])
    t.strictSame(await storage.read.claims.history(fresh.claimId), [record])
    t.match(await storage.read.log.newestHead(), { treeSize: 0 })
    const byRecorded: Outcome = { ...decided(advanced!), record: undefined, at: NOON + 40_000 }
    t.match(await sequencer.advance(byRecorded), { attempts: 1, dueAt: NOON + 70_000, lastCheck: record })
    const due = await storage.read.claims.dueCounts(NOON + 70_000)
    t.match(due, { deciding: 1, looking: 2 }, 'checks that decide go first: those can come too late')
    t.strictSame(await storage.read.claims.history(claim.claimId), [record], 'what is not checked adds no check')
    away = false
    t.match(
      await sequencer.advance({ ...byRecorded, claim: { ...claim, lastCheck: record } }),
      undefined,
      'of a claim that has been checked since: no',
    )
    const [kept] = await Promise.all([sequencer.advance(byRecorded), sequencer.advance(byRecorded)])
    t.match(kept, { state: 'decided', attempts: 1, lastCheck: record })
    const issued = await storage.read.claims.decidedAt([claim.claimId])
    t.equal(issued.get(claim.claimId), NOON + 40_000, 'its receipt is of then, and not of the check')
    t.match(await sequencer.advance(decided(stored!)), { state: 'decided', attempts: 2 })
    t.match(await storage.read.log.newestHead(), { treeSize: 2 })
    t.ok((await diagnose(storage, { schema: SCHEMA })).ok)
  })
}

t.test('one claim has one receipt, however often it is decided', async (t) => {
  const { storage, sequencer } = await open(t)
  const claim = await newClaim(storage)
  const together = await Promise.all([
    sequencer.advance(decided(claim)),
    sequencer.advance(decided(claim)),
    sequencer.advance(decided(claim)),
  ])
  t.equal(together.filter(Boolean).length, 1)
  t.equal(await sequencer.advance(decided(claim)), undefined, 'nor later')
  t.equal(await sequencer.advance(waiting(claim)), undefined)
  t.equal((await storage.read.log.state())!.treeSize, 1)
})

t.test('a new claim is stored with its first check, once for its client_claim_id', async (t) => {
  const { storage, sequencer } = await open(t)
  const first = unstored()
  const same = unstored({ clientClaimId: first.clientClaimId })
  const kept = await Promise.all([sequencer.storeChecked(decided(first)), sequencer.storeChecked(decided(same))])
  t.equal(kept.filter(Boolean).length, 1)
  t.equal(await sequencer.storeChecked(decided(same)), undefined, 'nor later')
  t.equal(await sequencer.store(unstored({ clientClaimId: first.clientClaimId })), false)
  const { claimId, receiptId } = kept.find(Boolean)!
  t.match(await storage.read.claims.byId('ws_1', claimId), { state: 'decided', attempts: 1, receiptId })
  t.equal((await storage.read.log.state())!.treeSize, 1, 'and what was not kept has no receipt')
  t.ok((await diagnose(storage, { schema: SCHEMA })).ok)
})

t.test('a new claim whose first check decides nothing is stored with it, and is due again', async (t) => {
  const { storage, sequencer } = await open(t)
  const claim = unstored()
  await sequencer.storeChecked(waiting(claim))
  t.match(await storage.read.claims.byId('ws_1', claim.claimId), { state: 'queued', attempts: 1, dueAt: NOON + 5000 })
  t.strictSame(await storage.read.claims.history(claim.claimId), [record])
})

t.test('an outcome that another host was faster with is dropped whole', async (t) => {
  const { storage, sequencer } = await open(t)
  const claim = await newClaim(storage)
  await sequencer.advance(waiting(claim))
  t.equal(await sequencer.advance(decided(claim)), undefined)
  t.equal((await storage.read.claims.history(claim.claimId)).length, 1)
})

t.test('what fails in the middle never happened, and the next append is right', async (t) => {
  const { folder, storage, sequencer } = await open(t)
  const url = `sqlite:${join(folder, 'claimcheck.db')}`
  const points = ['UPDATE ON claims', ...['tree_heads', 'checks', 'receipts'].map((table) => `INSERT ON ${table}`)]
  // Under the lock, and on what this host knows.
  for (const point of [...points, ...points]) {
    const claim = await newClaim(storage)
    const before = (await storage.read.log.state())!.treeSize
    await query(url, `CREATE TRIGGER crash AFTER ${point} BEGIN SELECT RAISE(ABORT, 'crashed at ${point}'); END`)
    await t.rejects(sequencer.advance(decided(claim)), { message: `SQLITE_CONSTRAINT: crashed at ${point}` })
    await query(url, 'DROP TRIGGER crash')
    t.equal((await storage.read.log.state())!.treeSize, before)
    t.match(await storage.read.claims.byId('ws_1', claim.claimId), { state: 'queued', attempts: 0 })
    t.match(await sequencer.advance(decided(claim)), { state: 'decided' })
  }
  t.match(await diagnose(storage, { schema: SCHEMA }), { leaves: 2 * points.length, problems: [] })
})

t.test('a host that knows the log writes in one statement, and under the lock what has moved on', async (t) => {
  const statements: string[] = []
  const first = await open(t, { beforeStatement: (sql) => statements.push(sql) })
  const second = await open(t, { folder: first.folder, memory: join(first.folder, 'other') })
  const flush = async (...outcomes: Promise<unknown>[]) => {
    statements.length = 0
    await Promise.all(outcomes)
    return statements.filter((sql) => !sql.startsWith('SELECT')).map((sql) => sql.split(' ').slice(0, 3).join(' '))
  }
  const known = ['INSERT INTO changes']
  const store = () => first.sequencer.storeChecked(decided(unstored()))
  t.strictSame((await flush(store())).slice(0, 1), ['BEGIN IMMEDIATE'], 'the first of a host')
  t.strictSame(await flush(store()), known)
  t.strictSame(await flush(first.sequencer.store(unstored())), known)
  await second.sequencer.storeChecked(decided(unstored()))
  t.strictSame((await flush(store())).slice(0, 2), [...known, 'BEGIN IMMEDIATE'], 'after another host')
  for (let flushes = 0; flushes < 16; flushes++) t.strictSame((await flush(store())).slice(0, 1), ['BEGIN IMMEDIATE'])
  t.strictSame(await flush(store()), known, 'and in the end again')

  const stored = unstored()
  await first.sequencer.store(stored)
  const again = first.sequencer.storeChecked(decided(unstored({ clientClaimId: stored.clientClaimId })))
  const written = await flush(store(), again)
  t.notOk(written.includes('BEGIN IMMEDIATE'), 'a claim that is stored already makes nobody lock')
  t.equal(await again, undefined)
  t.strictSame(await flush(store()), known)

  const claim = unstored()
  await flush(first.sequencer.store(claim))
  const outcomes = [waiting(claim), waiting(claim)].map((outcome) => first.sequencer.advance(outcome))
  t.strictSame(await flush(...outcomes), known, 'one of them is made')
  t.equal((await Promise.all(outcomes)).filter(Boolean).length, 1)
  await flush(first.sequencer.advance(decided(claim)), store())
  t.match(await diagnose(first.storage, { schema: SCHEMA }), { leaves: 24, problems: [] })
})

t.test('two hosts on one database make one log', async (t) => {
  const first = await open(t)
  const second = await open(t, { folder: first.folder })
  const outcomes = await Promise.all(Array.from({ length: 20 }, async () => decided(await newClaim(first.storage))))
  await Promise.all(outcomes.map((outcome, i) => (i % 2 ? first : second).sequencer.advance(outcome)))
  t.equal((await first.storage.read.log.state())!.treeSize, 20)
  const leaves = await first.storage.read.log.leaves((await first.storage.read.log.state())!.logId, 0, 20)
  t.strictSame(
    leaves.map((leaf) => leaf.leafIndex),
    Array.from({ length: 20 }, (_, index) => index),
  )
  t.strictSame((await diagnose(first.storage, { schema: SCHEMA })).problems, [])
})

t.test('proofs hold across full tiles, also for a host that has just started', async (t) => {
  const { folder, storage, sequencer } = await open(t)
  for (const size of [200, 100, 250]) {
    const made = await Promise.all(Array.from({ length: size }, () => newClaim(storage)))
    await Promise.all(made.map((claim) => sequencer.advance(decided(claim))))
  }
  const restarted = await open(t, { folder })
  await restarted.sequencer.advance(decided(await newClaim(restarted.storage)))
  t.equal((await restarted.storage.read.log.state())!.treeSize, 551)
  t.strictSame((await diagnose(restarted.storage, { schema: SCHEMA })).problems, [])
  const log = createStoredLog(
    restarted.storage.read.log,
    async () => (await restarted.storage.read.log.anchoredState())!,
  )
  const view = await log.view()
  const { rootHash } = (await restarted.storage.read.log.newestHead())!
  t.same((await view.proveInclusion(255, 551)).rootHash, rootHash)
  t.same((await view.proveConsistency(256, 551)).secondRoot, rootHash)
  await t.rejects(view.proveInclusion(551, 551), { name: 'RangeError' })
  await t.rejects(view.proveInclusion(551, 552), { code: 'short_tile' })
})

t.test('a clock that is set back leaves receipts and heads in order', async (t) => {
  let now = NOON
  const { storage, sequencer, signingKeys } = await open(t, { now: () => now })
  await sequencer.advance(decided(await newClaim(storage)))
  now = NOON - 3_600_000
  await sequencer.advance(decided(await newClaim(storage)))
  await signingKeys.rotate()
  await sequencer.advance(decided(await newClaim(storage)))
  const issued = (await storage.read.log.leaves((await storage.read.log.state())!.logId, 0, 3)).map(
    (leaf) => leaf.issuedAt,
  )
  t.strictSame(issued, [NOON + 10, NOON + 10, NOON + 11])
  const [old, next] = await storage.read.log.signingKeys()
  t.equal(old!.revokedAt, next!.validFrom)
})

t.test('rows of the log and of checks are never changed, and never deleted', async (t) => {
  const { storage, sequencer } = await open(t)
  const claim = await newClaim(storage)
  await sequencer.advance(decided(claim))
  const check = { claimId: claim.claimId, attempt: 1, record }
  await t.rejects(
    storage.transaction((db) => insertRows(db, checks, [check])),
    /UNIQUE/,
  )
  const head = (await storage.read.log.newestHead())!
  await t.rejects(storage.write((tx) => tx.log.insertHead(head)))
})

t.test('what is wrong with one claim fails that one alone', async (t) => {
  const { storage, sequencer } = await open(t)
  const good = await Promise.all(Array.from({ length: 5 }, () => newClaim(storage)))
  const bad = { ...unstored(), workspaceId: 'ws_none' }
  const results = await Promise.allSettled([
    ...good.slice(0, 3).map((claim) => sequencer.advance(decided(claim))),
    sequencer.storeChecked(decided(bad)),
    ...good.slice(3).map((claim) => sequencer.advance(decided(claim))),
  ])
  t.strictSame(
    results.map(({ status }) => status === 'fulfilled'),
    [true, true, true, false, true, true],
  )
  t.match(await diagnose(storage, { schema: SCHEMA }), { leaves: good.length, problems: [] })
})

t.test('a batch takes what waits together, and fails together', async (t) => {
  const flushed: number[][] = []
  const batch = createBatch<number, number>(
    async (items) => {
      flushed.push([...items])
      if (items.includes(13)) throw new Error('unlucky')
      return items.map((item) => 2 * item)
    },
    { maxItems: 3 },
  )
  t.strictSame(await Promise.all([1, 2, 3, 4].map((item) => batch.add(item))), [2, 4, 6, 8])
  t.strictSame(flushed, [[1, 2, 3], [4]])
  const results = await Promise.allSettled([batch.add(12), batch.add(13)])
  t.strictSame(
    results.map((result) => result.status),
    ['rejected', 'rejected'],
  )
  t.equal(await batch.add(5), 10, 'and goes on')
  await batch.idle()
})
