import { join } from 'node:path'
import { openSecrets } from '@claimcheck/server/secrets'
import { diagnose } from '@claimcheck/server/services/doctor'
import { openSqlite } from '@claimcheck/server/storage/sqlite'
import knex, { type Knex } from 'knex'
import t, { type Test } from 'tap'
import { copyTo, fill, install, LEAVES } from './installation.ts'

let kept: string

t.before(async () => {
  const installed = await install(t.testdir())
  await fill(installed)
  await installed.claimcheck.close()
  kept = installed.file
})

const secrets = openSecrets({ secretKey: Buffer.alloc(32, 7), dataDir: '' })

async function diagnoseFile(t: Test, file: string, signatures = false) {
  const storage = await openSqlite(file)
  t.teardown(() => storage.close())
  return diagnose(storage, { signatures, secrets })
}

/** Changes a copy of the kept log as somebody would who has the file. */
async function changedCopy<T>(t: Test, change: (db: Knex) => Promise<T>): Promise<readonly [file: string, changed: T]> {
  const file = copyTo(t, kept)
  const db = knex({ client: 'sqlite3', connection: { filename: file }, useNullAsDefault: true })
  const triggers: string[] = await db('sqlite_master').where('type', 'trigger').pluck('name')
  for (const trigger of triggers) await db.raw(`DROP TRIGGER ${trigger}`)
  const changed = await change(db)
  await db.destroy()
  return [file, changed]
}

async function problemsAfter(t: Test, statement: string): Promise<readonly string[]> {
  const [file] = await changedCopy(t, (db) => db.raw(statement))
  const { ok, problems } = await diagnoseFile(t, file)
  t.equal(ok, problems.length === 0)
  return problems
}

t.test('a log that was kept as it should be is in order', async (t) => {
  t.strictSame(await diagnoseFile(t, kept), { ok: true, problems: [], leaves: LEAVES })
  t.strictSame(await diagnoseFile(t, kept, true), { ok: true, problems: [], leaves: LEAVES }, 'each signature verified')
})

t.test('a database without a log is in order', async (t) => {
  t.strictSame(await diagnoseFile(t, join(t.testdir(), 'claimcheck.db')), { ok: true, problems: [], leaves: 0 })
})

t.test('how far it has come is told as it goes', async (t) => {
  const storage = await openSqlite(kept)
  t.teardown(() => storage.close())
  const steps: [leaves: number, treeSize: number][] = []
  await diagnose(storage, { onProgress: (...step) => steps.push(step) })
  t.strictSame(steps.at(-1), [LEAVES, LEAVES])
})

/** Rows of each kind, and how what is wrong with one of them is named. */
const kinds: [table: string, kind: string, where: string, name: (row: Record<string, unknown>) => string][] = [
  ['receipts', 'in a full tile', 'leaf_index = 3', (row) => `(leaf ${row.leaf_index})`],
  ['receipts', 'newest', `leaf_index = ${LEAVES - 1}`, (row) => `(leaf ${row.leaf_index})`],
  ['tiles', 'of leaves', 'level = 0', (row) => `tile ${row.level}/${row.tile_index} of width ${row.width}`],
  ['tiles', 'above', 'level = 1', (row) => `tile ${row.level}/${row.tile_index} of width ${row.width}`],
  ['tree_heads', 'empty', 'tree_size = 0', (row) => `tree head ${row.tree_size}`],
  ['tree_heads', 'in the middle', 'tree_size = 2', (row) => `tree head ${row.tree_size}`],
  ['tree_heads', 'newest', `tree_size = ${LEAVES}`, (row) => `tree head ${row.tree_size}`],
  ['signing_keys', 'retired', 'revoked_at IS NOT NULL', (row) => `signing key ${row.key_id}`],
  ['signing_keys', 'in use', 'revoked_at IS NULL', (row) => `signing key ${row.key_id}`],
  ['log', 'one', 'id = 1', () => 'log: '],
  [
    'claims',
    'decided',
    'claim_id = (SELECT claim_id FROM receipts WHERE leaf_index = 3)',
    (row) => `claim ${row.claim_id}`,
  ],
  ['claims', 'of an unknown action', `access = 'unsupported_action'`, (row) => `claim ${row.claim_id}`],
  ['claims', 'decided in three looks', 'attempts = 3', (row) => `claim ${row.claim_id}`],
  ['claims', 'looked at, waiting', `state = 'queued' AND attempts = 1`, (row) => `claim ${row.claim_id}`],
  ['claims', 'waiting for the first look', 'attempts = 0', (row) => `claim ${row.claim_id}`],
  ['checks', 'the only one', `record LIKE '%"seen":"present"},"differs":[]%'`, (row) => `${row.claim_id}`],
  [
    'checks',
    'the first of three',
    `attempt = 1 AND claim_id IN (SELECT claim_id FROM claims WHERE attempts = 3)`,
    (row) => `${row.claim_id}`,
  ],
  ['checks', 'the last of three', 'attempt = 3', (row) => `${row.claim_id}`],
  [
    'checks',
    'of a waiting claim',
    `claim_id IN (SELECT claim_id FROM claims WHERE state = 'queued')`,
    (row) => `${row.claim_id}`,
  ],
  ['workspaces', 'in use', `name = 'acme'`, (row) => `workspaces ${row.id}`],
  ['api_keys', 'in use', 'revoked_at IS NULL', (row) => `api_keys ${row.id}`],
  ['api_keys', 'revoked', 'revoked_at IS NOT NULL', (row) => `api_keys ${row.id}`],
  ['connections', 'active', 'disconnected_at IS NULL', (row) => `connections ${row.id}`],
  ['connections', 'disconnected', 'disconnected_at IS NOT NULL', (row) => `connections ${row.id}`],
]
/** What follows from nothing else that is stored: `doctor/README.md` lists it. */
const unseen: Readonly<Record<string, readonly string[]>> = {
  'claims looked at, waiting': [
    'agent_id',
    'deadline_at',
    'due_at',
    'next_check_at',
    'profile_action',
    'profile_version',
  ],
  'claims waiting for the first look': [
    'claim_id',
    'agent_id',
    'deadline_at',
    'due_at',
    'next_check_at',
    'profile_action',
    'profile_version',
  ],
  'checks the first of three': ['record'],
  'workspaces in use': ['name', 'created_at'],
  'api_keys in use': ['id', 'name', 'key_hash', 'last_four', 'created_at'],
  'api_keys revoked': ['id', 'name', 'key_hash', 'last_four', 'created_at', 'revoked_at'],
  'connections active': ['provider', 'options', 'scopes', 'connected_at'],
  'connections disconnected': ['id', 'provider', 'options', 'scopes', 'connected_at', 'disconnected_at'],
}

for (const [table, kind, where, name] of kinds) {
  t.test(`one changed byte in ${table}, ${kind}, is found in whichever column, and named`, async (t) => {
    const file = copyTo(t, kept)
    const db = knex({ client: 'sqlite3', connection: { filename: file }, useNullAsDefault: true })
    const row = await db(table).whereRaw(where).first()
    await db.destroy()
    const skipped = unseen[`${table} ${kind}`] ?? []
    for (const [column, value] of Object.entries<string | number | Buffer | null>(row)) {
      if (value === null || value === '' || skipped.includes(column)) continue
      for (const place of [0.2, 0.9]) {
        const [copy, changed] = await changedCopy(t, async (db) => {
          await db.raw('PRAGMA foreign_keys = OFF')
          const other = withOtherByte(value, place)
          const taken = await db(table)
            .where(row)
            .update({ [column]: other })
            .catch(() => 0)
          return taken === 1 ? { ...row, [column]: other } : undefined
        })
        // Another row has that key already.
        if (!changed) continue
        const { problems } = await diagnoseFile(t, copy)
        const named = problems.some((problem) => problem.includes(name(row)) || problem.includes(name(changed)))
        t.ok(named, `${column} at ${place}: ${problems.slice(0, 3).join('; ') || 'nothing'}`)
      }
    }
  })
}

function withOtherByte(value: number | string | Buffer, place: number): number | string | Buffer {
  if (typeof value === 'number') return Number(BigInt(value) ^ (1n << BigInt(Math.floor(30 * place))))
  const bytes = Buffer.from(value as string)
  bytes[Math.floor(place * bytes.length)]! ^= 1
  return typeof value === 'string' ? bytes.toString() : bytes
}

t.test('whatever a text becomes, it is found and stops nobody from looking on', async (t) => {
  const damages = ["''", "'{'", "'null'", "'[]'", "char(9)||'x'", 'char(10)', "char(0)||'x'", "x'ff00'", '1e300', '-1']
  const places: [table: string, column: string, where: string][] = [
    ['receipts', 'entry', 'leaf_index = 4'],
    ['receipts', 'issued_at', 'leaf_index = 4'],
    ['tree_heads', 'signed', 'tree_size = 2'],
    ['tree_heads', 'issued_at', 'tree_size = 2'],
    ['tiles', 'hashes', 'level = 0'],
    ['claims', 'params', 'attempts = 0'],
    ['claims', 'claimed_at', 'attempts = 0'],
    ['claims', 'target', 'attempts = 3'],
    ['claims', 'last_check', 'attempts = 3'],
    ['claims', 'attempts', 'attempts = 3'],
    ['checks', 'record', 'attempt = 2'],
    ['signing_keys', 'public_key', 'revoked_at IS NULL'],
    ['connections', 'sealed_secrets', 'disconnected_at IS NULL'],
  ]
  for (const [table, column, where] of places) {
    for (const damage of damages) {
      const problems = await problemsAfter(t, `UPDATE ${table} SET ${column} = ${damage} WHERE ${where}`)
      t.not(problems.length, 0, `${table}.${column} = ${damage}`)
      t.ok(problems.length < 20, 'and not much else is said to be wrong')
    }
  }
})

const LEAF_3 = 'SELECT claim_id FROM receipts WHERE leaf_index = 3'
const statements: [what: string, statement: string, named: RegExp][] = [
  ['the missing log', 'DELETE FROM log', /^log: the row is missing/],
  ['another log', 'INSERT INTO log SELECT 2, log_id, name, tree_size, key_id, root_hash, issued_at FROM log', /^log: /],
  ['a missing receipt', 'DELETE FROM receipts WHERE leaf_index = 3', /^receipts: leaf 3 is missing/],
  [
    'the newest receipt missing',
    `DELETE FROM receipts WHERE leaf_index = ${LEAVES - 1}`,
    /^receipts: leaf 305 is missing/,
  ],
  [
    'a receipt too many',
    `INSERT INTO receipts SELECT ${LEAVES}, 'rcpt_1', (SELECT claim_id FROM claims WHERE attempts = 0), leaf_hash, issued_at, entry
     FROM receipts WHERE leaf_index = 3`,
    /^receipt rcpt_1 \(leaf 306\): the log does not reach it/,
  ],
  ['a missing tile', 'DELETE FROM tiles WHERE level = 0', /^tile 0\/0 of width 256: missing/],
  [
    'a tile too many',
    'INSERT INTO tiles SELECT level, 1, width, hashes FROM tiles WHERE level = 0',
    /^tile 0\/1 .*no such/,
  ],
  ['the first head missing', 'DELETE FROM tree_heads WHERE tree_size = 0', /^signing key /],
  ['the newest head missing', `DELETE FROM tree_heads WHERE tree_size = ${LEAVES}`, /^log: tree_size/],
  [
    'a head too many',
    'INSERT INTO tree_heads SELECT 9, issued_at, root_hash, signed FROM tree_heads WHERE tree_size = 2',
    /^tree head 9/,
  ],
  [
    'the claim of a receipt missing',
    `DELETE FROM claims WHERE claim_id = (${LEAF_3})`,
    /\(leaf 3\): its claim is missing/,
  ],
  ['the check of a receipt missing', `DELETE FROM checks WHERE claim_id = (${LEAF_3})`, /^claim clm_\w+: attempts/],
  ['an earlier check missing', 'DELETE FROM checks WHERE attempt = 2', /^claim clm_\w+: attempts/],
  [
    'a check too many',
    `INSERT INTO checks SELECT claim_id, 2, record FROM checks WHERE claim_id = (${LEAF_3})`,
    /^claim clm_\w+: attempts/,
  ],
  [
    'the check of nothing',
    `INSERT INTO checks SELECT 'clm_1', 1, record FROM checks LIMIT 1`,
    /^checks clm_1\/1: there is no claims clm_1/,
  ],
  [
    'a retired key missing',
    'DELETE FROM signing_keys WHERE revoked_at IS NOT NULL',
    /^tree head 0: its signing key .* is missing/,
  ],
  [
    'a key too many',
    "INSERT INTO signing_keys SELECT 'ed25519:x', public_key, valid_from + 1, NULL FROM signing_keys WHERE revoked_at IS NULL",
    /^signing key ed25519:x/,
  ],
  [
    'a workspace missing',
    "DELETE FROM workspaces WHERE name = 'acme'",
    /^api_keys key_\w+: there is no workspaces ws_/,
  ],
  ['a connection missing', 'DELETE FROM connections', /^claim clm_\w+: its workspace_id or connection_id/],
  [
    'the other key in the log',
    'UPDATE log SET key_id = (SELECT key_id FROM signing_keys WHERE revoked_at IS NOT NULL)',
    /^log: key_id/,
  ],
  [
    'a decision without a receipt',
    "UPDATE claims SET state = 'decided' WHERE attempts = 0",
    /^claim clm_\w+: it is decided without/,
  ],
]
for (const [what, statement, named] of statements) {
  t.test(`${what} is found, and named`, async (t) => {
    const problems = await problemsAfter(t, statement)
    const found = problems.some((problem) => named.test(problem))
    t.ok(found, problems.slice(0, 3).join('; ') || 'nothing')
  })
}

t.test('two receipts that changed places are found, and where', async (t) => {
  for (const [one, other] of [
    [3, 7],
    [303, 304],
  ]) {
    const [file] = await changedCopy(t, async (db) => {
      await db.raw('UPDATE receipts SET leaf_index = -1 WHERE leaf_index = ?', [one!])
      await db.raw('UPDATE receipts SET leaf_index = ? WHERE leaf_index = ?', [one!, other!])
      await db.raw('UPDATE receipts SET leaf_index = ? WHERE leaf_index = -1', [other!])
    })
    const { problems } = await diagnoseFile(t, file)
    t.ok(
      problems.some((problem) => /^tile 0\/0 .*leaf 3$|^receipt .*\(leaf 303\)/.test(problem)),
      problems.join('; '),
    )
  }
})

t.test('the signature of a receipt is verified when that is asked for', async (t) => {
  const [file] = await changedCopy(t, async (db) => {
    const row = await db('receipts').where({ leaf_index: 305 }).first()
    const entry = row.entry.replace(
      /"value":".(?=[^"]{85}"\}\}$)/,
      (match: string) => match.slice(0, -1) + (match.endsWith('A') ? 'B' : 'A'),
    )
    await db('receipts').where({ leaf_index: 305 }).update({ entry })
  })
  const { problems } = await diagnoseFile(t, file, true)
  t.ok(
    problems.some((problem) => /\(leaf 305\): the signature does not hold/.test(problem)),
    problems.join('; '),
  )
})

t.test('where everything is wrong, a thousand things are named', async (t) => {
  const problems = await problemsAfter(
    t,
    "UPDATE claims SET target = 'elsewhere', agent_id = 'somebody', action = 'a.b.c', verdict = 'late'",
  )
  t.equal(problems.length, 1000)
})

t.test('a log that grows and changes its key meanwhile is in order all the same', async (t) => {
  const { claimcheck, submit } = await install(t.testdir())
  t.teardown(() => claimcheck.close())
  let claims = 0
  let growing = true
  const grow = async () => {
    for (; growing; claims++) {
      await submit(claims % 10 ? 'present' : 'absent')
      if (claims % 20 === 0) await claimcheck.signingKeys.rotate()
    }
  }
  const grown = grow()
  while (claims < 50) t.strictSame((await diagnose(claimcheck.storage)).problems, [])
  growing = false
  await grown
})
