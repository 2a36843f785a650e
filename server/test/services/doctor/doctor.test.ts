import { copyFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { loadConfig } from '@claimcheck/server/config'
import { type Claimcheck, openClaimcheck } from '@claimcheck/server/container'
import { diagnose } from '@claimcheck/server/services/doctor'
import { openSqlite } from '@claimcheck/server/storage/sqlite'
import knex, { type Knex } from 'knex'
import t, { type Test } from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)

/** An installation that has decided claims one by one and together, under two keys, and has one waiting. */
async function install(t: Test, together: number): Promise<{ file: string; claimcheck: Claimcheck }> {
  const folder = await mkdtemp(join(tmpdir(), 'claimcheck-test-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  const plugins = [{ use: resolve('build/test/plugins/scripted.js') }]
  writeFileSync(join(folder, 'claimcheck.config.json'), JSON.stringify({ plugins }))
  let now = NOON
  const config = loadConfig({ LOG_LEVEL: 'silent' }, folder)
  const claimcheck = await openClaimcheck(config, { plugins: true, now: () => now++ })
  await claimcheck.signingKeys.ensureLog()
  const { id } = await claimcheck.workspaces.create('acme')
  let claims = 0
  const submit = (see: string) =>
    claimcheck.claims.submit(id, {
      clientClaimId: `claim-${++claims}-x`,
      agentId: 'agent-1',
      action: 'test.outcome.reach',
      target: 'somewhere',
      params: { see },
      claimedAt: NOON,
    })
  await submit('present')
  await claimcheck.signingKeys.rotate()
  await Promise.all(Array.from({ length: together }, () => submit('present')))
  await submit('absent')
  return { file: join(folder, 'data', 'claimcheck.db'), claimcheck }
}

// One without a full tile, and one with.
const SMALL = 6
const LARGE = 301
const kept = new Map<number, string>()

t.before(async () => {
  const folder = t.testdir()
  for (const size of [SMALL, LARGE]) {
    const { claimcheck, file } = await install(t, size - 1)
    await claimcheck.close()
    kept.set(size, join(folder, `${size}.db`))
    copyFileSync(file, join(folder, `${size}.db`))
  }
})

/** Changes the kept log as somebody would who has the file. */
async function diagnoseChanged(
  t: Test,
  size: number,
  change: (db: Knex) => Promise<unknown>,
): Promise<readonly string[]> {
  const file = join(t.testdir(), 'claimcheck.db')
  copyFileSync(kept.get(size)!, file)
  const db = knex({ client: 'sqlite3', connection: { filename: file }, useNullAsDefault: true })
  t.teardown(() => db.destroy())
  const triggers: string[] = await db('sqlite_master').where('type', 'trigger').pluck('name')
  for (const trigger of triggers) await db.raw(`DROP TRIGGER ${trigger}`)
  await change(db)
  await db.destroy()
  const storage = await openSqlite(file)
  t.teardown(() => storage.close())
  const { ok, problems } = await diagnose(storage)
  t.equal(ok, problems.length === 0)
  return problems
}

t.test('a log that was kept as it should be is in order, whatever its size', async (t) => {
  for (const size of [SMALL, LARGE]) {
    const storage = await openSqlite(kept.get(size)!)
    t.teardown(() => storage.close())
    const steps: [number, number][] = []
    const diagnosis = await diagnose(storage, (...step) => steps.push(step))
    t.strictSame(diagnosis, { ok: true, problems: [], leaves: size })
    t.strictSame(steps.at(-1), [size, size])
  }
})

t.test('a database without a log is in order', async (t) => {
  const storage = await openSqlite(join(t.testdir(), 'claimcheck.db'))
  t.teardown(() => storage.close())
  t.strictSame(await diagnose(storage), { ok: true, problems: [], leaves: 0 })
})

const DECIDED = 'claim_id = (SELECT claim_id FROM receipts WHERE leaf_index = 3)'
const WAITING = "state = 'queued'"
const changes: [table: string, column: string, where: string, named: RegExp][] = [
  ['log', 'log_id', 'id = 1', /^log: log_id/],
  ['log', 'name', 'id = 1', /^log: log_id/],
  ['log', 'tree_size', 'id = 1', /^log: tree_size/],
  ['log', 'key_id', 'id = 1', /^log: key_id/],
  ['signing_keys', 'key_id', 'revoked_at IS NULL', /^signing key /],
  ['signing_keys', 'public_key', 'revoked_at IS NULL', /^signing key /],
  ['signing_keys', 'public_key', 'revoked_at IS NOT NULL', /^signing key /],
  ['signing_keys', 'valid_from', 'revoked_at IS NULL', /^signing key /],
  ['signing_keys', 'valid_from', 'revoked_at IS NOT NULL', /^log: its first key/],
  ['signing_keys', 'revoked_at', 'revoked_at IS NOT NULL', /^signing key /],
  ['receipts', 'leaf_index', 'leaf_index = 5', /^tree head 6: 1 receipts are missing/],
  ['receipts', 'receipt_id', 'leaf_index = 3', /^receipt .*\(leaf 3\)/],
  ['receipts', 'claim_id', 'leaf_index = 3', /^receipt .*\(leaf 3\)/],
  ['receipts', 'leaf_hash', 'leaf_index = 3', /^receipt .*\(leaf 3\): leaf_hash/],
  ['receipts', 'issued_at', 'leaf_index = 3', /^receipt .*\(leaf 3\)/],
  ['receipts', 'entry', 'leaf_index = 3', /^receipt .*\(leaf 3\)/],
  ['tiles', 'level', 'level = 0', /^tile 0\/0/],
  ['tiles', 'tile_index', 'level = 0', /^tile 0\/0/],
  ['tiles', 'width', 'level = 0', /^tile 0\/0/],
  ['tiles', 'hashes', 'level = 0', /^tile 0\/0/],
  ['tiles', 'hashes', 'level = 1', /^tile 1\/0/],
  ['tree_heads', 'tree_size', 'tree_size = 6', /^tree head /],
  ['tree_heads', 'issued_at', 'tree_size = 6', /^tree head 6/],
  ['tree_heads', 'root_hash', 'tree_size = 6', /^tree head 6: root_hash/],
  ['tree_heads', 'signed', 'tree_size = 6', /^tree head 6/],
  ['checks', 'record', DECIDED, /^(receipt .*\(leaf 3\): )?claim /],
  ['checks', 'attempt', DECIDED, /^claim /],
  ['checks', 'claim_id', DECIDED, /claim clm_/],
  ...[
    'client_claim_id',
    'agent_id',
    'action',
    'target',
    'params',
    'claimed_at',
    'deadline_at',
    'claim_digest',
    'profile_action',
    'profile_version',
    'state',
    'attempts',
    'last_check',
    'receipt_id',
    'verdict',
  ].map((column): [string, string, string, RegExp] => ['claims', column, DECIDED, /claim clm_/]),
  ...['client_claim_id', 'action', 'target', 'params', 'claimed_at', 'claim_digest', 'attempts'].map(
    (column): [string, string, string, RegExp] => ['claims', column, WAITING, /^claim clm_/],
  ),
]
for (const [table, column, where, named] of changes) {
  t.test(`one changed byte in ${table}.${column} (${where}) is found, and named`, async (t) => {
    for (const place of [0, 0.5, 0.999]) {
      const problems = await diagnoseChanged(t, table === 'tiles' ? LARGE : SMALL, async (db) => {
        await db.raw('PRAGMA foreign_keys = OFF')
        const [row] = await db.raw(`SELECT rowid AS id, ${column} AS value FROM ${table} WHERE ${where} LIMIT 1`)
        await db.raw(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`, [changed(row.value, place), row.id])
      })
      t.ok(
        problems.some((problem) => named.test(problem)),
        `${place}: ${problems.slice(0, 3).join('; ') || 'nothing'}`,
      )
    }
  })
}

/** One byte of it is another. */
function changed(value: number | string | Buffer, place: number): number | string | Buffer {
  if (typeof value === 'number') return value ^ 64
  const bytes = Buffer.from(value as string)
  bytes[Math.floor(place * bytes.length)]! ^= 1
  return typeof value === 'string' ? bytes.toString() : bytes
}

t.test(
  'bytes changed anywhere in an entry, a head or a check are found, and stop nobody from looking on',
  async (t) => {
    const texts: [table: string, column: string, where: string][] = [
      ['receipts', 'entry', 'leaf_index = 0'],
      ['tree_heads', 'signed', 'tree_size = 6'],
      ['claims', 'last_check', DECIDED],
      ['claims', 'params', WAITING],
    ]
    for (const [table, column, where] of texts) {
      for (let place = 0; place < 1; place += 0.05) {
        const problems = await diagnoseChanged(t, SMALL, async (db) => {
          const [row] = await db.raw(`SELECT rowid AS id, ${column} AS value FROM ${table} WHERE ${where} LIMIT 1`)
          await db.raw(`UPDATE ${table} SET ${column} = ? WHERE rowid = ?`, [changed(row.value, place), row.id])
        })
        t.not(problems.length, 0, `${table}.${column} at ${place}`)
      }
    }
  },
)

const missing: [statement: string, named: RegExp][] = [
  ['DELETE FROM log', /^log: the row is missing/],
  ['DELETE FROM receipts WHERE leaf_index = 5', /^tree head 6: 1 receipts/],
  ['DELETE FROM tiles WHERE level = 0', /^tile 0\/0/],
  ['DELETE FROM tree_heads WHERE tree_size = 6', /^(log|receipts): /],
  ['DELETE FROM tree_heads WHERE tree_size = 0', /^log: /],
  [`DELETE FROM checks WHERE ${DECIDED}`, /claim clm_/],
  [`DELETE FROM checks WHERE claim_id = (SELECT claim_id FROM claims WHERE ${WAITING})`, /^claim clm_/],
  [`DELETE FROM claims WHERE ${DECIDED}`, /^receipt .*\(leaf 3\): claim clm_.* missing/],
  ['DELETE FROM signing_keys WHERE revoked_at IS NOT NULL', /^(log|signing key|receipt)/],
  ['UPDATE log SET key_id = (SELECT key_id FROM signing_keys WHERE revoked_at IS NOT NULL)', /^log: key_id/],
  ['INSERT INTO tiles SELECT level, tile_index + 1, width, hashes FROM tiles WHERE level = 0', /^tiles: there are/],
  [`UPDATE claims SET state = 'decided' WHERE ${WAITING}`, /^claim clm_.*: decided without/],
]
for (const [statement, named] of missing) {
  t.test(`${statement} is found, and named`, async (t) => {
    const problems = await diagnoseChanged(t, statement.includes('tiles') ? LARGE : SMALL, (db) => db.raw(statement))
    t.ok(
      problems.some((problem) => named.test(problem)),
      problems.slice(0, 3).join('; ') || 'nothing',
    )
  })
}

t.test('a log that grows and changes its key meanwhile is in order all the same', async (t) => {
  const { claimcheck } = await install(t, SMALL)
  const { id } = await claimcheck.workspaces.find('acme')
  let claims = 1000
  let growing = true
  const grow = async () => {
    while (growing) {
      await claimcheck.claims.submit(id, {
        clientClaimId: `claim-${++claims}-x`,
        agentId: 'agent-1',
        action: 'test.outcome.reach',
        target: 'somewhere',
        params: { see: claims % 10 ? 'present' : 'absent' },
        claimedAt: NOON,
      })
      if (claims % 20 === 0) await claimcheck.signingKeys.rotate()
    }
  }
  const grown = grow()
  for (let round = 0; round < 20; round++) t.strictSame((await diagnose(claimcheck.storage)).problems, [])
  growing = false
  await grown
  t.ok(claims > 1000)
  await claimcheck.close()
})
