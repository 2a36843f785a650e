// Test run: slow
/** Every byte of a database that is changed is found, or is listed as one that cannot be. Threat O1 of `security.md`. */
import t from 'tap'
import { afterFile } from '../../../../../test/support/after-file.ts'
import { byExtent, shortened } from '../../../../../test/support/extent.ts'
import { FEW_LEAVES, LEAVES } from './installation.ts'
import { changedCopy, diagnoseFile, keepLog, problemsAfter } from './kept-log.ts'

const long = await keepLog({ anchors: false })
const short = await keepLog({ leaves: FEW_LEAVES, anchors: false })
const anchored = await keepLog({ leaves: FEW_LEAVES })
afterFile(() => Promise.all([long, short, anchored].map((log) => log.remove())))

/** What is of the log itself is looked at among many leaves. The rest does not depend on how many there are, and is looked at sooner among few. */
function keptFor(table: string): string {
  if (table === 'anchors') return anchored.file
  return (['receipts', 'tiles', 'tree_heads', 'logs'].includes(table) ? long : short).file
}

/** Rows of each kind, and how what is wrong with one of them is named. */
const kinds: [table: string, kind: string, where: string, name: (row: Record<string, unknown>) => string][] = [
  ['receipts', 'in a full tile', 'leaf_index = 3', (row) => `(leaf ${row.leaf_index})`],
  ['receipts', 'newest', `leaf_index = ${LEAVES - 1}`, (row) => `(leaf ${row.leaf_index})`],
  [
    'evidence',
    'of a receipt',
    'receipt_id = (SELECT receipt_id FROM receipts WHERE leaf_index = 3)',
    (row) => `receipt ${row.receipt_id}`,
  ],
  ['tiles', 'of leaves', 'level = 0', (row) => `tile ${row.level}/${row.tile_index} of width ${row.width}`],
  ['tiles', 'above', 'level = 1', (row) => `tile ${row.level}/${row.tile_index} of width ${row.width}`],
  ['tree_heads', 'empty', 'tree_size = 0', (row) => `tree head ${row.tree_size}`],
  ['tree_heads', 'in the middle', 'tree_size = 2', (row) => `tree head ${row.tree_size}`],
  ['tree_heads', 'newest', `tree_size = ${LEAVES}`, (row) => `tree head ${row.tree_size}`],
  ['signing_keys', 'retired', 'revoked_at IS NOT NULL', (row) => `signing key ${row.key_id}`],
  ['signing_keys', 'in use', 'revoked_at IS NULL', (row) => `signing key ${row.key_id}`],
  ['logs', 'the open one', 'ended_at IS NULL', () => 'log '],
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
  ['users', 'with a password', '1 = 1', (row) => `users ${row.id}`],
  ['members', 'owner', `role = 'owner'`, (row) => `members ${row.id}`],
  ['sessions', 'open', '1 = 1', (row) => `sessions ${row.id}`],
  ['links', 'invitation', `kind = 'invitation'`, (row) => `links ${row.id}`],
  ['links', 'reset', `kind = 'reset'`, (row) => `links ${row.id}`],
  ['records', 'sealed', '1 = 1', (row) => `records ${row.kind} ${row.id_hash}`],
  ['workspaces', 'in use', `name = 'acme'`, (row) => `workspaces ${row.id}`],
  ['api_keys', 'in use', 'revoked_at IS NULL', (row) => `api_keys ${row.id}`],
  ['api_keys', 'revoked', 'revoked_at IS NOT NULL', (row) => `api_keys ${row.id}`],
  ['connections', 'active', 'disconnected_at IS NULL', (row) => `connections ${row.id}`],
  ['anchors', 'final', 'id = 1', (row) => `anchor ${row.id}:`],
  ['anchors', 'dropped', 'id = 2', (row) => `anchor ${row.id}:`],
  ['anchors', 'final and referring to another', 'id = 3', (row) => `anchor ${row.id}:`],
  ['anchors', 'under way', 'id = 4', (row) => `anchor ${row.id}:`],
  ['connections', 'disconnected', 'disconnected_at IS NOT NULL', (row) => `connections ${row.id}`],
  ['audit_trail', 'oldest', 'position = 1', () => 'audit_trail 1: '],
  [
    'audit_trail',
    'newest',
    'position = (SELECT MAX(position) FROM audit_trail)',
    (row) => `audit_trail ${row.position}: `,
  ],
  ['audit_trail_head', 'one', 'id = 1', () => 'audit_trail '],
]
const OF_CLAIMS = ['origin', 'submitted_by', 'fresh_by', 'profile_digest', 'watched', 'unsigned', 'connection_removed']
const WAITING = [
  ...OF_CLAIMS,
  ...['agent_id', 'agent_bound', 'deadline_at', 'due_at', 'next_check_at', 'moment_at'],
  ...['profile_action', 'profile_version'],
]
/** What follows from nothing else that is stored: `doctor/README.md` lists it. */
const unseen: Readonly<Record<string, readonly string[]>> = {
  'claims looked at, waiting': WAITING,
  'claims waiting for the first look': ['claim_id', ...WAITING],
  'claims decided': OF_CLAIMS,
  'claims of an unknown action': OF_CLAIMS,
  'claims decided in three looks': OF_CLAIMS,
  'logs the open one': ['agreed_on', 'agreed_system', 'erasures'],
  'checks the first of three': ['record'],
  'users with a password': ['email', 'name', 'password_hash', 'created_at', 'generation'],
  'members owner': ['id', 'created_at'],
  'sessions open': ['id', 'token_hash', 'created_at', 'last_seen_at', 'expires_at', 'user_agent', 'address'],
  'links invitation': ['id', 'token_hash', 'created_by', 'created_at', 'expires_at'],
  'links reset': ['id', 'token_hash', 'created_at', 'expires_at'],
  'records sealed': ['expires_at'],
  'workspaces in use': ['name', 'created_at'],
  'api_keys in use': ['id', 'name', 'key_hash', 'last_four', 'created_at', 'networks'],
  'api_keys revoked': ['id', 'name', 'key_hash', 'last_four', 'created_at', 'networks', 'revoked_at'],
  'anchors final': ['planned_at', 'sent_at', 'block_number', 'cost', 'gas_used'],
  'anchors dropped': ['planned_at', 'sent_at', 'problem'],
  'anchors final and referring to another': ['planned_at', 'sent_at', 'block_number', 'cost', 'gas_used'],
  'anchors under way': ['planned_at', 'sent_at', 'problem'],
  'connections active': ['provider', 'options', 'scopes', 'connected_at', 'address'],
  'connections disconnected': ['id', 'provider', 'options', 'scopes', 'connected_at', 'disconnected_at', 'address'],
}

for (const [table, kind, where, name] of kinds) {
  t.test(`one changed byte in ${table}, ${kind}, is found in whichever column, and named`, async (t) => {
    const [, row] = await changedCopy(t, keptFor(table), (db) => db(table).whereRaw(where).first())
    const skipped = unseen[`${table} ${kind}`] ?? []
    const cells = Object.entries<string | number | Buffer | null>(row).flatMap(([column, value]) =>
      value === null || value === '' || skipped.includes(column) ? [] : [[column, value] as const],
    )
    for (const [index, [column, value]] of shortened(cells).entries()) {
      const [file, changed] = await changedCopy(t, keptFor(table), async (db) => {
        await db.raw('PRAGMA foreign_keys = OFF')
        const other = withOtherByte(value, index % 2 ? 0.2 : 0.9)
        const changes = await db(table)
          .where(row)
          .update({ [column]: other })
          .catch(() => 0)
        return changes === 1 ? { ...row, [column]: other } : undefined
      })
      // Another row has that key already.
      if (!changed) continue
      const { problems } = await diagnoseFile(file)
      const named = problems.some((problem) =>
        [name(row), name(changed), `there is no logs ${changed.log_id}`].some((named) => problem.includes(named)),
      )
      t.ok(named, `${column}: ${problems.slice(0, 3).join('; ') || 'nothing'}`)
    }
  })
}

function withOtherByte(value: number | string | Buffer, place: number): number | string | Buffer {
  if (typeof value === 'number') return Number(BigInt(value) ^ (1n << BigInt(Math.floor(30 * place))))
  const bytes = Buffer.from(value as string)
  bytes[Math.floor(place * bytes.length)]! ^= 1
  return typeof value === 'string' ? bytes.toString() : bytes
}

/** So many kinds of damage lie between two that are tried in a place. */
const DAMAGE_STEP = byExtent({ short: 6, usual: 3, thorough: 1 })

t.test('whatever a text becomes, it is found and stops nobody from looking on', async (t) => {
  const damages = ["''", "'[]'", "char(9) || 'x'", 'char(0, 10)', "x'ff00'", '-1']
  const places: [table: string, column: string, where: string][] = [
    ['receipts', 'entry', 'leaf_index = 4'],
    ['receipts', 'issued_at', 'leaf_index = 4'],
    ['tree_heads', 'signed', 'tree_size = 2'],
    ['tree_heads', 'issued_at', 'tree_size = 2'],
    ['receipts', 'leaf_hash', 'leaf_index = 4'],
    ['tree_heads', 'root_hash', 'tree_size = 2'],
    ['tiles', 'hashes', 'level = 0'],
    ['logs', 'name', 'ended_at IS NULL'],
    ['claims', 'params', 'attempts = 0'],
    ['claims', 'claimed_at', 'attempts = 0'],
    ['claims', 'target', 'attempts = 3'],
    ['claims', 'last_check', 'attempts = 3'],
    ['claims', 'attempts', 'attempts = 3'],
    ['checks', 'record', 'attempt = 2'],
    ['signing_keys', 'public_key', 'revoked_at IS NULL'],
    ['connections', 'sealed_secrets', 'disconnected_at IS NULL'],
    ['connections', 'sealed_tokens', 'disconnected_at IS NULL'],
    ['audit_trail', 'details', 'position = 2'],
    ['audit_trail', 'at', 'position = 2'],
    ['audit_trail', 'hash', 'position = 2'],
    ['audit_trail_head', 'last_position', 'id = 1'],
    ['audit_trail_head', 'before_hash', 'id = 1'],
    ['anchors', 'signed', 'id = 1'],
    ['anchors', 'log_id', 'id = 1'],
    ['anchors', 'root_hash', 'id = 1'],
    ['anchors', 'uid', 'id = 3'],
    ['anchors', 'state', 'id = 4'],
    ['anchors', 'block_time', 'id = 3'],
  ]
  for (const [at, [table, column, where]] of places.entries()) {
    for (const [kind, damage] of damages.entries()) {
      if ((at + kind) % DAMAGE_STEP !== 0) continue
      // One that landed may have been found on the chain, with nothing signed here.
      if (table === 'anchors' && column === 'signed' && damage === "'[]'") continue
      const statement = `UPDATE ${table} SET ${column} = ${damage} WHERE ${where}`
      const problems = await problemsAfter(t, keptFor(table), statement)
      t.not(problems.length, 0, `${table}.${column} = ${damage}`)
      t.ok(problems.length < 20, 'and not much else is said to be wrong')
    }
  }
})
