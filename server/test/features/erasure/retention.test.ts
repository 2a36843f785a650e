/** Retention: what is older than a workspace keeps is erased, in batches, and nothing else. Threat W7 of `security.md`. */
import type { Instant } from '@claimcheck/core/rules'
import { BY_SERVICE, byCommand } from '@claimcheck/server/base/actor'
import { ServiceError } from '@claimcheck/server/base/errors'
import { createRetentionService } from '@claimcheck/server/features/erasure/retention'
import { createRetentionWorker } from '@claimcheck/server/features/erasure/retention-worker'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import type { OpenedStorage } from '@claimcheck/server/storage/pools'
import t, { type Test } from 'tap'
import { claimNumber } from '../../support/claim-row.ts'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const DAY_MS = 86_400_000
const HASH = Buffer.alloc(32)
const NO_ARCHIVES = { erase: async () => undefined, has: () => false }
const LOG = { logId: 'log', name: 'log', number: 0, keyId: 'key', treeSize: 0, rootHash: HASH, issuedAt: NOON }
const RUNNING = new AbortController().signal
const logGuard = { maySign: async () => true, checkOpen: async () => {} }
const config = { retention: { byOwners: true, leastDays: 30 } }

/** By how many days ago it was submitted, and decided; undefined: it was not. */
interface Aged {
  readonly days: number
  readonly decided?: number | undefined
  readonly workspaceId?: string
}

function decidedAs(receiptId: string) {
  const due = { dueAt: null, nextCheckAt: null, momentAt: null }
  return { state: 'decided', verdict: 'verified', receiptId, ...due } as const
}

/** Claims with their receipts, numbered from the oldest on. */
async function begin(t: Test, url: string, aged: readonly Aged[]) {
  const storage = await opened(t, url)
  const claims = aged.map(({ days, decided, workspaceId = 'ws_1' }, number): ClaimRow => {
    const claimId = `clm_${String(number).padStart(5, '0')}`
    const row = claimNumber(number, { claimId, workspaceId, submittedAt: NOON - days * DAY_MS })
    if (decided === undefined) return row
    const receiptId = `rcpt_${String(number).padStart(5, '0')}`
    return { ...row, ...decidedAs(receiptId) }
  })
  const receipts = claims
    .flatMap(({ claimId, receiptId }, index) => {
      if (receiptId === null) return []
      return [
        {
          logId: 'log',
          receiptId,
          claimId,
          leafHash: HASH,
          issuedAt: NOON - aged[index]!.decided! * DAY_MS,
          entry: 'content',
        },
      ]
    })
    .map((receipt, leafIndex) => ({ ...receipt, leafIndex }))
  await storage.write(async (tx) => {
    for (const id of ['ws_1', 'ws_2']) await tx.workspaces.insert({ id, name: id, createdAt: NOON })
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    await tx.log.create({ ...LOG, signed: '{}' })
  })
  const head = { ...LOG, number: 1, treeSize: receipts.length, signed: '{}' }
  await storage.apply({ log: LOG, head, newClaims: claims, receipts })
  let now = NOON
  const retention = createRetentionService({ storage, archives: NO_ARCHIVES, logGuard, now: () => now, config })
  return {
    storage,
    retention,
    later(days: number) {
      now += days * DAY_MS
    },
  }
}

async function erasedIn(storage: OpenedStorage): Promise<readonly string[]> {
  return (await storage.read.erasures.list(1000)).map(({ claimId }) => claimId).sort()
}

async function events(storage: OpenedStorage) {
  return (await storage.read.audit.after(0, 1000)).map(({ event, workspaceId, actorKind, details }) => {
    return { event, workspaceId, actorKind, details }
  })
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, what is older than its workspace keeps is erased, day by day`, async (t) => {
    const rows: Aged[] = [
      { days: 100, decided: 100 },
      { days: 95, decided: 95, workspaceId: 'ws_2' },
      { days: 91, decided: 89 },
      { days: 90.5, decided: 90.5 },
      { days: 90.4 },
      { days: 89, decided: 89 },
    ]
    const { storage, retention, later } = await begin(t, await newDatabase(t, dialect), rows)
    t.equal(await retention.isNeeded(), false)
    t.equal(await retention.pass(BY_SERVICE, RUNNING), false)
    t.strictSame(await erasedIn(storage), [], 'nothing is erased unless a workspace wants it')

    t.equal(await retention.olderThan('ws_1', 90, 10), 3)
    t.equal(await retention.olderThan('ws_1', 90, 2), 2, 'counted up to a limit')
    await retention.set('ws_1', 90, byCommand())
    t.equal(await retention.days('ws_1'), 90)
    t.equal(await retention.days('ws_2'), null)
    t.equal(await retention.isNeeded(), true)
    t.equal(await retention.pass(BY_SERVICE, RUNNING), false)
    t.strictSame(await erasedIn(storage), ['clm_00000', 'clm_00003'], 'not what was decided later, nor what waits')
    const [erased] = await storage.read.erasures.byClaimIds(['clm_00000'])
    t.match(erased, { rule: 'retention', reference: '90 days', erasedAt: NOON })

    later(2)
    await retention.pass(BY_SERVICE, RUNNING)
    t.strictSame(await erasedIn(storage), ['clm_00000', 'clm_00002', 'clm_00003', 'clm_00005'])
    t.match(await storage.read.claims.byIds(['clm_00004']), [{ agentId: 'agent' }], 'a claim that waits stays')

    await retention.set('ws_1', null, byCommand())
    later(1000)
    t.equal(await retention.isNeeded(), false)
    await retention.pass(BY_SERVICE, RUNNING)
    t.equal((await erasedIn(storage)).length, 4)
    const workspaceId = 'ws_1'
    const erasing = {
      event: 'workspace.receipts_erased',
      workspaceId,
      actorKind: 'service',
      details: { receipts: 2, days: 90 },
    }
    const changed = { event: 'workspace.retention_changed', workspaceId, actorKind: 'command' }
    t.same(await events(storage), [
      { ...changed, details: { days: 90, before: null } },
      erasing,
      erasing,
      { ...changed, details: { days: null, before: 90 } },
    ])
  })

  t.test(`on ${dialect}, nothing is erased while the database lacks what was signed`, async (t) => {
    const { storage } = await begin(t, await newDatabase(t, dialect), [{ days: 60, decided: 59 }])
    let isBehind = true
    const checkOpen = async () => {
      if (isBehind) throw new ServiceError('read_only', 'the database is an old one')
    }
    const guarded = { storage, archives: NO_ARCHIVES, logGuard: { checkOpen }, now: () => NOON, config }
    const retention = createRetentionService(guarded)
    await retention.set('ws_1', 31, BY_SERVICE)
    await t.rejects(retention.pass(BY_SERVICE, RUNNING), { code: 'read_only' })
    t.strictSame(await erasedIn(storage), [])
    isBehind = false
    t.equal(await retention.pass(BY_SERVICE, RUNNING), false)
    t.equal((await erasedIn(storage)).length, 1)
  })

  t.test(`on ${dialect}, what is archived on another host is left to it, and told`, async (t) => {
    const rows: Aged[] = [
      { days: 62, decided: 62 },
      { days: 61, decided: 61, workspaceId: 'ws_2' },
    ]
    const { storage, retention, later } = await begin(t, await newDatabase(t, dialect), rows)
    const log = { ...LOG, logId: 'next', name: 'next' }
    await storage.write(async (tx) => {
      await tx.log.end('log', NOON)
      await tx.log.archived('log')
      await tx.log.create({ ...log, signed: '{}' })
    })
    const claimId = 'clm_next'
    const newer = { ...claimNumber(9, { claimId, submittedAt: NOON - 60 * DAY_MS }), ...decidedAs('rcpt_next') }
    const receipt = { logId: 'next', receiptId: 'rcpt_next', claimId, leafHash: HASH, leafIndex: 0, entry: 'content' }
    const head = { ...log, number: 1, treeSize: 1, signed: '{}' }
    await storage.apply({ log, head, newClaims: [newer], receipts: [{ ...receipt, issuedAt: NOON - 60 * DAY_MS }] })
    for (const id of ['ws_1', 'ws_2']) await retention.set(id, 31, BY_SERVICE)
    const elsewhere = { code: 'unavailable', message: /rcpt_00000 is in the archive of the log log, .* log archive / }
    await t.rejects(retention.pass(BY_SERVICE, RUNNING), elsewhere)
    t.strictSame(await erasedIn(storage), ['clm_next'], 'the others are erased')
    later(1)
    await t.rejects(retention.pass(BY_SERVICE, RUNNING), elsewhere, 'it is told again')
    const archives = { ...NO_ARCHIVES, has: () => true }
    const withArchive = createRetentionService({ storage, archives, logGuard, now: () => NOON, config })
    t.equal(await withArchive.pass(BY_SERVICE, RUNNING), false)
    t.strictSame(await erasedIn(storage), ['clm_00000', 'clm_00001', 'clm_next'])
    t.equal(await retention.pass(BY_SERVICE, RUNNING), false, 'nothing is left to tell of')
  })

  t.test(`on ${dialect}, a workspace whose receipts cannot be erased holds no other up`, async (t) => {
    const rows: Aged[] = [
      { days: 60, decided: 60 },
      { days: 60, decided: 60, workspaceId: 'ws_2' },
    ]
    const { storage, retention } = await begin(t, await newDatabase(t, dialect), rows)
    for (const id of ['ws_1', 'ws_2']) await retention.set(id, 31, BY_SERVICE)
    let refused = 0
    const erase = async (_: string, receiptId: string) => {
      if (receiptId !== 'rcpt_00000') return undefined
      refused++
      throw new ServiceError('unavailable', 'its file is damaged')
    }
    const archives = { has: () => true, erase }
    const damaged = createRetentionService({ storage, archives, logGuard, now: () => NOON, config })
    await t.rejects(damaged.pass(BY_SERVICE, RUNNING), { message: 'its file is damaged' })
    t.strictSame([refused, await erasedIn(storage)], [1, ['clm_00001']])
  })

  t.test(`on ${dialect}, many are erased in batches, which go on where they ended`, async (t) => {
    const rows: Aged[] = Array.from({ length: 250 }, (_, number) => ({ days: 60 - number / 250, decided: 59 }))
    // In the very same moment as its neighbours.
    rows.splice(120, 5, ...Array.from({ length: 5 }, () => ({ days: rows[120]!.days, decided: 59 })))
    rows.splice(30, 1, { days: rows[30]!.days })
    const { storage, retention } = await begin(t, await newDatabase(t, dialect), rows)
    await retention.set('ws_1', 31, BY_SERVICE)
    // It stops before a transaction, as a host does that ends or loses its lease.
    const stopping = new AbortController()
    const stopped = createRetentionService({
      archives: NO_ARCHIVES,
      logGuard,
      storage: {
        ...storage,
        write: (work) => {
          stopping.abort()
          return storage.write(work)
        },
      },
      now: () => NOON,
      config,
    })
    t.equal(await stopped.pass(BY_SERVICE, stopping.signal), true, 'there is more')
    t.equal((await erasedIn(storage)).length, 99, 'a batch, but for the claim that waits')
    const [first, second] = [
      retention,
      createRetentionService({ storage, archives: NO_ARCHIVES, logGuard, now: () => NOON, config }),
    ]
    const passes = await Promise.all([first.pass(BY_SERVICE, RUNNING), second.pass(BY_SERVICE, RUNNING)])
    t.strictSame(passes, [false, false], 'two hosts at once do no harm')
    t.equal((await erasedIn(storage)).length, 249)
    const before = (await events(storage)).length
    t.equal(await retention.pass(BY_SERVICE, RUNNING), false)
    t.equal((await events(storage)).length, before, 'nothing is told of where nothing is erased')
  })
}

t.test('days out of the limits are refused', async (t) => {
  const { retention } = await begin(t, await newDatabase(t, 'sqlite'), [])
  for (const days of [0, -1, 29, 30.5, 36_501, Number.NaN]) {
    await t.rejects(
      retention.set('ws_1', days, BY_SERVICE),
      { code: 'bad_request', message: /from 30 to 36500/ },
      `${days}`,
    )
  }
  t.equal(await retention.days('ws_1'), null)
})

t.test('the worker erases at once when it is due, and not while the time is in doubt', async (t) => {
  const rows = [{ days: 40, decided: 40 }]
  const { storage, retention } = await begin(t, await newDatabase(t, 'sqlite'), rows)
  await retention.set('ws_1', 31, BY_SERVICE)
  for (const isDoubted of [true, false]) {
    let rounds = 0
    const done = new Promise<void>((resolve) => {
      const clock = {
        doubt: () => {
          rounds++
          return isDoubted ? 'it was set' : undefined
        },
      }
      const logger = { error: (fields: unknown) => t.fail(JSON.stringify(fields)) } as never
      const pauses = { firstMs: 0, idleMs: 10, busyMs: 0 }
      const worker = createRetentionWorker({ retention, storage, clock, logGuard, logger }, pauses)
      worker.start()
      const poll = setInterval(async () => {
        if (rounds < 2) return
        clearInterval(poll)
        await worker.stop()
        resolve()
      }, 5)
    })
    await done
    t.strictSame(await erasedIn(storage), isDoubted ? [] : ['clm_00000'])
  }
})

t.test('a pass that fails is told, and the next one goes on', async (t) => {
  const { storage } = await begin(t, await newDatabase(t, 'sqlite'), [])
  const told: unknown[] = []
  let passes = 0
  const retention = {
    isNeeded: async () => true,
    pass: async () => {
      passes++
      if (passes === 1) throw new Error('the database is away')
      return false
    },
  }
  const logger = { error: (fields: unknown) => told.push(fields) } as never
  const pauses = { firstMs: 0, idleMs: 0, busyMs: 0 }
  const worker = createRetentionWorker(
    { retention, storage, clock: { doubt: () => undefined }, logGuard, logger },
    pauses,
  )
  worker.start()
  const until: Instant = Date.now() + 10_000
  while (passes < 3 && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 5))
  await worker.stop()
  t.ok(passes >= 3)
  t.match(told, [{ err: { message: 'the database is away' } }])
  t.equal(told.length, 1)
})
