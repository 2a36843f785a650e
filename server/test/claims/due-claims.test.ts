/** Due claims are handed out to one worker at a time, in memory and in a database that hosts share. */
import { createDueClaims } from '@claimcheck/server/claims/due-claims'
import { createSlots } from '@claimcheck/server/claims/slots'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import type { Dialect } from '../../../test/support/database.ts'
import { claimNumber } from '../support/claim-row.ts'
import { DIALECTS, newDatabase, opened } from '../support/databases.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const LEASE_MS = 40
const LOG = { logId: 'log', name: 'log', keyId: 'key', treeSize: 0, rootHash: Buffer.alloc(32), issuedAt: NOON }

/** Claims that are due at these moments after noon, numbered from 0. */
async function queued(t: Test, dialect: Dialect, dueAt: readonly number[]): Promise<Storage> {
  const storage = await opened(t, await newDatabase(t, dialect))
  await storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    await tx.log.create(LOG)
    await tx.claims.insertNew(dueAt.map((ms, number) => claimNumber(number, { dueAt: NOON + ms })))
  })
  return storage
}

function request(afterMs: number, limit = 10) {
  const at = NOON + afterMs
  return { at, leaseEnd: at + LEASE_MS, limit, slots: createSlots(100) }
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}`, async (t) => {
    t.test('the longest due are handed out first, and each once until its lease ends', async (t) => {
      const storage = await queued(t, dialect, [3, 1, 2, 100])
      const due = createDueClaims({ storage })
      const taken = async (afterMs: number, most?: number) =>
        (await due.take(request(afterMs, most))).claims.map(({ claimId }) => claimId).sort()
      t.strictSame(await taken(10, 2), ['clm_1', 'clm_2'])
      t.strictSame((await Promise.all([taken(10), taken(10)])).flat(), ['clm_0'])
      t.strictSame(await taken(10 + LEASE_MS - 1), [])
      t.strictSame(await taken(10 + LEASE_MS), ['clm_0', 'clm_1', 'clm_2'])
    })

    t.test('once it is recorded, a claim is due when it says so', async (t) => {
      const storage = await queued(t, dialect, [0])
      const due = createDueClaims({ storage })
      const [claim] = (await due.take(request(0))).claims
      const next = { ...claim!, dueAt: NOON + 5, attempts: 1 }
      await storage.apply({ log: { from: LOG, to: LOG }, progress: [next] })
      due.recorded(claim!.claimId)
      t.strictSame((await due.take(request(4))).claims, [])
      t.match((await due.take(request(5))).claims, [{ claimId: 'clm_0', attempts: 1 }])
    })

    t.test('what is recorded while the queue is read is not handed out again', async (t) => {
      const storage = await queued(t, dialect, [0, 1])
      const stale = await storage.read.claims.due(NOON + 10, 10, [])
      const [first] = await storage.read.claims.byIds(['clm_0'])
      const decided = { ...first!, dueAt: null, state: 'decided', attempts: 1 } as const
      await storage.apply({ log: { from: LOG, to: LOG }, progress: [decided] })
      const claims = { ...storage.read.claims, due: async () => stale }
      const due = createDueClaims({ storage: { ...storage, read: { ...storage.read, claims } } })
      t.match((await due.take(request(10))).claims, [{ claimId: 'clm_1' }])
    })

    t.test('it is told whether more may be due', async (t) => {
      const due = createDueClaims({ storage: await queued(t, dialect, [0, 1, 2]) })
      t.match(await due.take(request(10, 2)), { claims: { length: 2 }, mayBeMore: true })
      t.match(await due.take(request(10, 2)), { claims: { length: 1 } })
      t.match(await due.take(request(10, 2)), { claims: { length: 0 }, mayBeMore: false })
    })
  })
}
