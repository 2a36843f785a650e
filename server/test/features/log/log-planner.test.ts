import { join } from 'node:path'
import { treeHasher, treeRoot } from '@claimcheck/core/log'
import { checkReceipt, claimDigest, type DecidedClaim, entryText, parseKeySet } from '@claimcheck/core/receipts'
import { formatInstant } from '@claimcheck/core/rules'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { createLogPlanner, type LogPlanner } from '@claimcheck/server/features/log/log-planner'
import { createSealedKeys } from '@claimcheck/server/features/log/signing/sealed-keys'
import { createSigningKeys } from '@claimcheck/server/features/log/signing/signing-keys'
import type { Storage } from '@claimcheck/server/storage/storage'
import t, { type Test } from 'tap'
import { createDatabase } from '../../../../test/support/database.ts'
import { query } from '../../../../test/support/sql.ts'
import { openPostgres, openSqlite } from '../../../../test/support/storage.ts'
import { claimNumber } from '../../support/claim-row.ts'
import { openLogGuard } from '../../support/log-guard.ts'
import { plainKeyFiles } from '../../support/plain-key-files.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
/** Of a host, to Postgres. */
const CONNECTIONS = 8

/** A host on this folder: the log's own tables, which here know of no claims. */
async function host(t: Test, folder: string, now = () => NOON, headMemory?: string) {
  const storage = await openSqlite(join(folder, 'claimcheck.db'))
  t.teardown(() => storage.close())
  const config = { issuerName: 'Example', publicUrl: undefined }
  const vault = plainKeyFiles(folder)
  const logGuard = openLogGuard(storage, folder, undefined, headMemory)
  const signingKeys = createSigningKeys({ storage, vault, logGuard, now, config })
  await signingKeys.ensureLog()
  return {
    storage,
    signingKeys,
    vault,
    logGuard,
    planner: createLogPlanner({ signingKeys, logGuard, signedReceipts: { add() {} }, config }),
  }
}

const submitted = { clientClaimId: 'c', action: 'test.thing.do', target: 'x', params: {}, claimedAt: NOON }

const content: Omit<DecidedClaim, 'receiptId' | 'issuedAt' | 'issuer'> = {
  agentId: 'agent-1',
  claim: { ...submitted, claimDigest: claimDigest(submitted) },
  observation: {
    verifier: { id: 'test.thing.do', version: '1' },
    observedAt: NOON,
    deadlineAt: NOON + 1,
    attempts: 1,
    facts: {},
  },
  verdict: { value: 'verified' },
}

let claims = 0

async function append(storage: Storage, planner: LogPlanner, count = 1): Promise<void> {
  const claimIds = Array.from({ length: count }, () => `clm_${++claims}`)
  const appended = await storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    await tx.claims.insertNew(
      claimIds.map((claimId) => ({
        ...claimNumber(0, { ...content.claim, claimId, clientClaimId: claimId }),
        dueAt: null,
        nextCheckAt: null,
        momentAt: null,
      })),
    )
    const log = (await tx.log.lock())!
    const drafts = await Promise.all(claimIds.map((claimId) => planner.draft(claimId, content)))
    const appended = await planner.plan(tx.log, log, drafts)
    await tx.apply(appended)
    return appended
  })
  planner.committed(appended)
}

async function logId({ read }: Pick<Storage, 'read'>): Promise<string> {
  return (await read.log.state())!.logId
}

t.test('a host that must restore the range at every size appends like one that never stopped', async (t) => {
  const folder = t.testdir()
  const first = await host(t, folder)
  const second = await host(t, folder)
  const hasher = treeHasher()
  // Each finds the log grown by the other, and its own range of no use.
  for (let size = 1; size <= 600; size++) {
    const { storage, planner } = size % 2 ? first : second
    await append(storage, planner)
    const { rootHash, treeSize } = (await storage.read.log.newestHead())!
    if (size % 16 > 1 && ![255, 256, 257, 511, 512, 513].includes(size)) continue
    const leaves = await storage.read.log.leaves(await logId(storage), 0, size)
    t.same(
      [treeSize, rootHash],
      [
        size,
        treeRoot(
          leaves.map(({ leafHash }) => leafHash),
          hasher,
        ),
      ],
      `size ${size}`,
    )
  }
})

t.test('an range from a transaction that was not committed is not gone on with', async (t) => {
  const { storage, planner } = await host(t, t.testdir())
  await append(storage, planner, 3)
  const failing = storage.write(async (tx) => {
    const log = (await tx.log.lock())!
    await tx.apply(await planner.plan(tx.log, log, [await planner.draft('clm_1', content)])).catch(() => {})
    throw new Error('crashed')
  })
  await t.rejects(failing, { message: 'crashed' })
  await append(storage, planner, 2)
  const leaves = await storage.read.log.leaves(await logId(storage), 0, 9)
  t.equal(leaves.length, 5)
  t.same(
    (await storage.read.log.newestHead())!.rootHash,
    treeRoot(
      leaves.map(({ leafHash }) => leafHash),
      treeHasher(),
    ),
  )
})

t.test('nothing to append leaves the log as it is', async (t) => {
  const { storage, planner } = await host(t, t.testdir())
  await storage.write(async (tx) => tx.apply(await planner.plan(tx.log, (await tx.log.lock())!, [])))
  t.match(await storage.read.log.newestHead(), { treeSize: 0 })
})

t.test('receipts, heads and the key document fit together, before and after a new key', async (t) => {
  let now = NOON
  const { storage, planner, signingKeys } = await host(t, t.testdir(), () => now)
  await append(storage, planner)
  now += 1000
  const { keyId, retiredKeyId } = await signingKeys.rotate()
  t.match(await storage.read.log.newestHead(), { treeSize: 1, issuedAt: now }, 'the new key signs the log as it is')
  await append(storage, planner)
  const document = await signingKeys.document()
  t.match(document, {
    issuer: 'Example',
    keys: [
      { key_id: retiredKeyId, valid_from: formatInstant(NOON), revoked_at: formatInstant(now) },
      { key_id: keyId, valid_from: formatInstant(now), revoked_at: null },
    ],
  })
  const keys = parseKeySet(JSON.stringify(document))
  for (const [index, expected] of [retiredKeyId, keyId].entries()) {
    const [{ entry } = { entry: '' }] = await storage.read.log.receipts(await logId(storage), index, index + 1)
    const receipt = JSON.parse(entry)
    t.equal(entryText(receipt), entry)
    t.equal(receipt.signature.key_id, expected)
    t.strictSame(receipt.body.issuer, { key_id: expected, name: 'Example' })
    t.match(await checkReceipt(entry, { keys }), { valid: true })
  }
})

t.test('a rotation by another process is signed with from the next append on', async (t) => {
  const folder = t.testdir()
  const serving = await host(t, folder)
  await append(serving.storage, serving.planner)
  const { keyId } = await (await host(t, folder)).signingKeys.rotate()
  await append(serving.storage, serving.planner)
  const [{ entry } = { entry: '' }] = await serving.storage.read.log.receipts(await logId(serving.storage), 1, 2)
  t.equal(JSON.parse(entry).signature.key_id, keyId)
})

t.test('hosts that start together make one log, and no host goes on without its key', async (t) => {
  const folder = t.testdir()
  const hosts = await Promise.all([host(t, folder), host(t, folder), host(t, folder)])
  const ids = await Promise.all(hosts.map(async ({ storage }) => (await storage.read.log.state())!.logId))
  t.equal(new Set(ids).size, 1)
  t.equal((await hosts[0].storage.read.log.signingKeys()).length, 1)
  const config = { issuerName: undefined, publicUrl: undefined }
  const elsewhere = plainKeyFiles(join(folder, 'elsewhere'))
  const stranger = createSigningKeys({ ...hosts[1], vault: elsewhere, now: () => NOON, config })
  await t.rejects(stranger.ensureLog(), { code: 'missing_key' })
  await t.rejects(stranger.rotate(), { code: 'missing_key' })
})

t.test('a stored tree that has not the root that was signed is not appended to, and nothing follows it', async (t) => {
  const folder = t.testdir()
  const { storage, planner } = await host(t, folder)
  await append(storage, planner, 3)
  const url = `sqlite:${join(folder, 'claimcheck.db')}`
  await query(url, 'DROP TRIGGER receipts_no_update')
  await query(url, 'UPDATE receipts SET leaf_hash = zeroblob(32) WHERE leaf_index = 1')
  const other = await host(t, folder)
  await t.rejects(append(other.storage, other.planner), { code: 'read_only' })
  t.match(other.logGuard.problem(), /./)
  t.equal(await other.logGuard.maySign(), false)
  await t.rejects(other.signingKeys.beginLog(), { code: 'read_only' })

  const started = await host(t, folder)
  await started.logGuard.examine()
  t.match(started.logGuard.problem(), /./, 'and it is found at the start')
  t.match(await storage.read.log.newestHead(), { treeSize: 3 })
})

t.test('an append under a key that another host made needs no connection beside its own', async (t) => {
  const database = await createDatabase('postgres')
  t.teardown(() => database.remove())
  const folder = t.testdir()
  const secrets = openSecrets({ secretKey: Buffer.alloc(32, 7), dataDir: folder })
  const config = { issuerName: undefined, publicUrl: undefined }
  async function openHost() {
    const storage = await openPostgres(database.env.DATABASE_URL!)
    t.teardown(() => storage.close())
    const logGuard = openLogGuard(storage, folder)
    const vault = createSealedKeys({ storage, secrets })
    const signingKeys = createSigningKeys({ storage, vault, logGuard, now: () => NOON, config })
    await signingKeys.ensureLog()
    return {
      storage,
      signingKeys,
      planner: createLogPlanner({ signingKeys, logGuard, signedReceipts: { add() {} }, config }),
    }
  }
  const [{ storage, planner }, other] = [await openHost(), await openHost()]
  const draft = await planner.draft('clm_1', content)
  const { keyId } = await other.signingKeys.rotate()
  // All others wait for what the append holds, such as keys that bind agents wait for the claims.
  let end = () => {}
  const isOver = new Promise<void>((resolve) => {
    end = resolve
  })
  const waiting = Array.from({ length: CONNECTIONS - 1 }, () => storage.write(() => isOver))
  const append = storage.write(async (tx) => planner.plan(tx.log, (await tx.log.lock())!, [draft]))
  t.match(await append.finally(end), { log: { keyId }, receipts: [{ claimId: 'clm_1' }] })
  await Promise.all(waiting)
})

t.test('a command beside a server that signs all the time compares again what that remembered', async (t) => {
  const folder = t.testdir()
  const memory = join(folder, 'memory')
  const server = await host(t, folder, undefined, memory)
  await append(server.storage, server.planner)
  const command = await host(t, folder, undefined, memory)
  const { log } = command.storage.read
  const { headsAfter } = log
  let isBusy = true
  // Between what the command reads and what it remembers.
  log.headsAfter = async (...of) => {
    const heads = await headsAfter.apply(log, of)
    if (isBusy) await append(server.storage, server.planner)
    isBusy = false
    return heads
  }
  await command.logGuard.examine()
  t.equal(command.logGuard.problem(), undefined)
  t.equal(command.logGuard.newest()?.treeSize, 2)
  await append(server.storage, server.planner)
  t.equal(server.logGuard.problem(), undefined)
})
