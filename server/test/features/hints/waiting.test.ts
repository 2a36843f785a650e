/** The claims that a hint concerns, among all that wait at its target, and the time of their next look. */
import { createHmac } from 'node:crypto'
import codehost from '@claimcheck/plugin-codehost'
import { openSecrets } from '@claimcheck/server/base/secrets'
import { createHints } from '@claimcheck/server/features/hints/hints'
import { createLookWorker } from '@claimcheck/server/features/hints/look-worker'
import { hintContext } from '@claimcheck/server/storage/sealed-contexts'
import t, { type Test } from 'tap'
import { query } from '../../../../test/support/sql.ts'
import { claimNumber } from '../../support/claim-row.ts'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'
import { UNREAD } from '../../support/rows.ts'

const NOON = Date.UTC(2026, 8, 25, 12)
const MINUTE_MS = 60_000
const SECRET = 'secret'
const ADDRESS = 'A'.repeat(43)
const LOG = {
  logId: 'log',
  name: 'log',
  number: 0,
  keyId: 'key',
  treeSize: 0,
  rootHash: Buffer.alloc(32),
  issuedAt: NOON,
}
const secrets = openSecrets({ secretKey: Buffer.alloc(32, 7), secretKeysAlso: [], dataDir: '' })
const logger = { debug() {}, info() {}, warn() {}, error() {} }
const { connections: types = [] } = await codehost.setup({ logger }, {} as never)
const meters = { counterOf: () => ({ inc() {} }) }
const counters = { add: async () => ({ count: 1, leftMs: 0 }), last: () => ({ count: 1, leftMs: 0 }) }

interface Waiting {
  readonly target: string
  readonly sha: string
}

/** A workspace with waiting claims, numbered from the oldest on, and an address for the hints of GitHub. */
async function begin(t: Test, dialect: (typeof DIALECTS)[number], waiting: readonly Waiting[]) {
  const url = await newDatabase(t, dialect)
  const storage = await opened(t, url)
  await storage.write(async (tx) => {
    await tx.workspaces.insert({ id: 'ws_1', name: 'acme', createdAt: NOON })
    const given = { options: {}, sealedSecrets: {}, scopes: [], connectedAt: NOON, disconnectedAt: null }
    await tx.connections.insert({ ...UNREAD, ...given, id: 'conn_1', workspaceId: 'ws_1', provider: 'github' })
    const sealedSecret = secrets.seal(SECRET, hintContext(ADDRESS))
    const about = { address: ADDRESS, connectionId: 'conn_1', workspaceId: 'ws_1' }
    await tx.hints.give({ ...about, sealedSecret, secretSince: NOON, heardAt: null })
    await tx.log.insertSigningKey({ keyId: 'key', publicKey: '', validFrom: NOON, revokedAt: null })
    await tx.log.create({ ...LOG, signed: '{}' })
  })
  const newClaims = waiting.map(({ target, sha }, number) => {
    const claimId = `clm_${String(number).padStart(5, '0')}`
    const read = {
      access: 'connection',
      connectionId: 'conn_1',
      attempts: 1,
      nextCheckAt: NOON + 60 * MINUTE_MS,
    } as const
    const lastCheck = { sentAt: NOON, answeredAt: NOON, failure: { code: 'timeout' } } as const
    const times = { submittedAt: NOON + Math.floor(number / 3), deadlineAt: NOON + 60 * MINUTE_MS, lastCheck }
    return claimNumber(number, { claimId, workspaceId: 'ws_1', target, params: { sha }, ...read, ...times })
  })
  await storage.apply({ log: LOG, head: { ...LOG, number: 1, signed: '{}' }, newClaims })
  const clock = { now: NOON + MINUTE_MS }
  const parts = { storage, secrets, counters, meters: meters as never, now: () => clock.now }
  const registry = { connectionType: () => types.find(({ provider }) => provider === 'github') as never }
  const hints = createHints({ ...parts, registry, claims: { get: async () => undefined } })
  const rows = async () => query(url, 'SELECT * FROM hints ORDER BY claim_id')
  return { clock, parts, hints, rows }
}

/** GitHub's message on a check run that ended. */
async function tell({ hints }: Awaited<ReturnType<typeof begin>>, repository: string, sha: string): Promise<void> {
  const check_run = { head_sha: sha, status: 'completed' }
  const body = Buffer.from(JSON.stringify({ action: 'completed', check_run, repository: { full_name: repository } }))
  const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`
  await hints.receive(ADDRESS, { 'x-hub-signature-256': signature }, body)
}

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, a hint finds the claim that names what changed behind newer ones of its target`, async (t) => {
    const others = Array.from({ length: 600 }, () => ({ target: 'Acme/API', sha: 'b' }))
    const world = await begin(t, dialect, [{ target: 'acme/api', sha: 'a' }, ...others])
    await tell(world, 'acme/api', 'a')
    t.match(await world.rows(), [{ claim_id: 'clm_00000' }])
    await tell(world, 'acme/api', 'b')
    t.equal((await world.rows()).length, 101, 'of many it concerns the newest hundred')
  })

  t.test(`on ${dialect}, a target is found in any case, whatever its letters are`, async (t) => {
    const world = await begin(t, dialect, [
      { target: 'acme/api', sha: 'a' },
      { target: 'ÄRGER/Api', sha: 'a' },
    ])
    await tell(world, 'ärger/API', 'a')
    t.match(await world.rows(), [{ claim_id: 'clm_00001' }])
    t.equal((await world.rows()).length, 1)
  })
}

t.test('a look that a destination refuses is not made again before the time that it asked for', async (t) => {
  const world = await begin(t, 'sqlite', [{ target: 'acme/api', sha: 'a' }])
  const { clock, parts, hints, rows } = world
  await tell(world, 'acme/api', 'a')
  const retryAt = clock.now + 10 * MINUTE_MS
  let looks = 0
  const worker = createLookWorker({
    ...parts,
    hints,
    adjudication: {
      lookOnHint: async (_claim, _history, entry) => {
        looks++
        entry.end(undefined)
        return { retryAt }
      },
    },
    admission: { enter: () => ({ kind: 'hinted', shared: undefined, end() {} }) },
    logGuard: { maySign: async () => true },
    clock: { doubt: () => undefined },
    logger,
  })
  worker.start()
  for (const end = Date.now() + 10_000; looks === 0 && Date.now() < end; )
    await new Promise((done) => setTimeout(done, 20))
  await worker.stop()
  t.match(await rows(), [{ looks: 1, due_at: null, next_from: retryAt }])
  clock.now += MINUTE_MS
  await tell(world, 'acme/api', 'a')
  t.match(await rows(), [{ due_at: retryAt }])
})
