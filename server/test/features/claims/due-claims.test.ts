/** Due claims are handed out to one worker at a time, in memory and in a database that hosts share. */
import type { CheckRecord } from '@claimcheck/core/rules'
import {
  createDueClaims,
  type DueClaims,
  type DueRequest,
  type TakenClaim,
} from '@claimcheck/server/features/claims/due-claims'
import type { DueClaim, DueKind } from '@claimcheck/server/storage/claims'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import type { Dialect } from '../../../../test/support/database.ts'
import { claimNumber } from '../../support/claim-row.ts'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const LEASE_MS = 40
const LOG = {
  logId: 'log',
  name: 'log',
  number: 0,
  keyId: 'key',
  treeSize: 0,
  rootHash: Buffer.alloc(32),
  issuedAt: NOON,
}

/** Claims that are due at these moments after noon, numbered from 0. */
async function queued(
  t: Test,
  dialect: Dialect,
  dueAt: readonly number[],
  momentAt: readonly number[] = [],
): Promise<Storage> {
  const storage = await opened(t, await newDatabase(t, dialect))
  await storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    await tx.log.create({ ...LOG, signed: '{}' })
    await tx.claims.insertNew(
      dueAt.map((ms, number) =>
        claimNumber(number, { dueAt: NOON + ms, momentAt: NOON + (momentAt[number] ?? 60_000) }),
      ),
    )
  })
  return storage
}

function request(afterMs: number, limit = 10) {
  const at = NOON + afterMs
  return { at, leaseEnd: at + LEASE_MS, limit }
}

/** As the worker does. */
async function takeAll(due: DueClaims, request: DueRequest): Promise<readonly TakenClaim[]> {
  const taken: TakenClaim[] = []
  for (const kind of ['deciding', 'first', 'looking'] as const) taken.push(...(await due.take(kind, request)))
  return taken
}

const CHECK: CheckRecord = { sentAt: NOON, answeredAt: NOON, failure: { code: 'timeout' } }

/** Admits up to so many checks at a time of each lane. */
function admissionOf(most = Number.POSITIVE_INFINITY) {
  const running = new Map<string, number>()
  const isFree = (lane: string) => (running.get(lane) ?? 0) < most
  return {
    running,
    enter({ lane }: DueClaim, kind: DueKind) {
      if (!isFree(lane)) return undefined
      running.set(lane, (running.get(lane) ?? 0) + 1)
      return { kind, shared: undefined, end: () => void running.set(lane, running.get(lane)! - 1) }
    },
    busy: () => [...running.keys()].filter((lane) => !isFree(lane)),
  }
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}`, async (t) => {
    t.test('each due claim is handed out once until its lease ends, the newest of unread ones first', async (t) => {
      const storage = await queued(t, dialect, [3, 1, 2, 100])
      const due = createDueClaims({ storage, admission: admissionOf() })
      const taken = async (afterMs: number, most?: number) =>
        (await takeAll(due, request(afterMs, most))).map(({ claim }) => claim.claimId).sort()
      t.strictSame(await taken(10, 2), ['clm_0', 'clm_2'])
      t.strictSame((await Promise.all([taken(10), taken(10)])).flat(), ['clm_1'])
      t.strictSame(await taken(10 + LEASE_MS - 1), [])
      t.strictSame(await taken(10 + LEASE_MS), ['clm_0', 'clm_1', 'clm_2'])
    })

    t.test('once it is recorded, a claim is due when it says so', async (t) => {
      const storage = await queued(t, dialect, [0])
      const due = createDueClaims({ storage, admission: admissionOf() })
      const [{ claim } = { claim: undefined }] = await takeAll(due, request(0))
      const next = { ...claim!, dueAt: NOON + 5, attempts: 1, lastCheck: CHECK }
      await storage.apply({ log: LOG, progress: [next] })
      due.recorded(claim!.claimId)
      t.strictSame(await takeAll(due, request(4)), [])
      t.match(await takeAll(due, request(5)), [{ claim: { claimId: 'clm_0', attempts: 1 } }])
    })

    t.test('what is recorded while the queue is read is not handed out again', async (t) => {
      const storage = await queued(t, dialect, [0, 1])
      const stale = await storage.read.claims.due('first', NOON + 10, 10, [])
      const [first] = await storage.read.claims.byIds(['clm_0'])
      const decided = { ...first!, dueAt: null, state: 'decided', attempts: 1, lastCheck: CHECK } as const
      await storage.apply({ log: LOG, progress: [decided] })
      const claims = { ...storage.read.claims, due: async (kind: string) => (kind === 'first' ? stale : []) }
      const admission = admissionOf()
      const due = createDueClaims({ storage: { ...storage, read: { ...storage.read, claims } }, admission })
      t.match(await takeAll(due, request(10)), [{ claim: { claimId: 'clm_1' } }])
      t.strictSame([...admission.running.values()], [1], 'the slot of the other one is free again')
    })

    t.test('those whose checks decide come first, and no more than their lane may take', async (t) => {
      const storage = await queued(t, dialect, [0, 0, 0, 0], [500, 5, 3, 900])
      const admission = admissionOf(2)
      const due = createDueClaims({ storage, admission })
      const taken = await takeAll(due, request(10))
      t.strictSame(taken.map(({ claim }) => claim.claimId).sort(), ['clm_1', 'clm_2'])
      t.strictSame(await takeAll(due, request(10)), [], 'the lane is full')
      for (const { entry } of taken) entry.end(undefined)
      t.equal((await takeAll(due, request(10))).length, 2)
    })

    t.test('behind many claims of a busy lane, those of another one are found', async (t) => {
      const storage = await queued(t, dialect, Array(30).fill(0))
      await storage.write((tx) => tx.claims.insertNew([claimNumber(99, { submittedBy: 'other', dueAt: NOON + 1 })]))
      const due = createDueClaims({ storage, admission: admissionOf(1) })
      const taken = await takeAll(due, request(10, 4))
      t.strictSame(new Set(taken.map(({ claim }) => claim.submittedBy)), new Set(['key_1', 'other']))
      t.strictSame(await due.waiting(NOON + 10), {
        deciding: 0,
        first: 29,
        watching: 0,
        looking: 0,
        decidingSince: null,
      })
    })

    t.test('a claim that was not checked is due as before', async (t) => {
      const storage = await queued(t, dialect, [0])
      await storage.write((tx) => tx.claims.insertNew([claimNumber(7, { dueAt: NOON, nextCheckAt: NOON })]))
      const due = createDueClaims({ storage, admission: admissionOf() })
      const taken = await takeAll(due, request(0))
      t.equal(taken.length, 2)
      t.strictSame(await takeAll(due, request(1)), [])
      await due.putBack(taken.find(({ claim }) => claim.claimId === 'clm_7')!.claim)
      t.match(await takeAll(due, request(2)), [{ claim: { claimId: 'clm_7', attempts: 0 } }])
    })

    t.test('when the queue cannot be read to the end, what was admitted is free again', async (t) => {
      const storage = await queued(t, dialect, Array(6).fill(0))
      const admission = admissionOf(1)
      let reads = 0
      const claims = {
        ...storage.read.claims,
        due: (...asked: Parameters<typeof storage.read.claims.due>) =>
          reads++ === 0 ? storage.read.claims.due(...asked) : Promise.reject(new Error('disk full')),
      }
      const due = createDueClaims({ storage: { ...storage, read: { ...storage.read, claims } }, admission })
      await t.rejects(due.take('first', request(10, 2)), /disk full/)
      t.equal(reads, 2)
      t.strictSame([...admission.running.values()], [0])
    })

    t.test('when claims cannot be leased, their slots are free again', async (t) => {
      const storage = await queued(t, dialect, [0])
      const admission = admissionOf(1)
      const broken = async () => Promise.reject(new Error('disk full'))
      const read = { ...storage.read, claims: { ...storage.read.claims, byIds: broken } }
      const due = createDueClaims({ storage: { ...storage, read, write: broken }, admission })
      await t.rejects(takeAll(due, request(10)), /disk full/)
      t.strictSame([...admission.running.values()], [0])
    })
  })
}
