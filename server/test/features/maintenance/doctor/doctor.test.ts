// Test run: slow
/** The doctor: what it finds in a database that is sound, damaged, or goes away. Threat O1 of `security.md`. */
import { join } from 'node:path'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import { asMade } from '@claimcheck/server/features/maintenance/doctor/receipt-examination'
import { claimOfRow, receiptOfRow } from '@claimcheck/server/features/maintenance/doctor/stored'
import t from 'tap'
import { afterFile } from '../../../../../test/support/after-file.ts'
import { LONG } from '../../../../../test/support/extent.ts'
import { openSqlite, SCHEMA } from '../../../../../test/support/storage.ts'
import { install, LEAVES } from './installation.ts'
import { changedCopy, diagnoseFile, finds, keepLog, problemsAfter } from './kept-log.ts'

const kept = await keepLog()
afterFile(() => kept.remove())

t.test('a log that was kept as it should be is in order', async (t) => {
  t.strictSame(await diagnoseFile(kept.file), { ok: true, problems: [], notices: [], leaves: LEAVES })
  t.strictSame(
    await diagnoseFile(kept.file, true),
    { ok: true, problems: [], notices: [], leaves: LEAVES },
    'each signature verified',
  )
})

t.test('the code that makes receipts makes each again, with the plugin that it names and without', async (t) => {
  const { read, close } = await openSqlite(kept.file)
  t.teardown(close)
  const { logId } = (await read.log.state())!
  const rows = await read.doctor.receipts(logId, 0, LEAVES)
  const made = rows.flatMap((row) => asMade(receiptOfRow(row), claimOfRow(row)!) ?? [])
  t.equal(made.length, LEAVES)
  const named = made.filter(({ body }) => body.observation.verifier.package !== undefined)
  t.ok(named.length > 0 && named.length < LEAVES, `${named.length} of ${LEAVES} name a plugin`)
})

t.test('a database without a log is in order', async (t) => {
  t.strictSame(await diagnoseFile(join(t.testdir(), 'claimcheck.db')), {
    ok: true,
    problems: [],
    notices: [],
    leaves: 0,
  })
})

t.test('how far it has come is told as it goes', async (t) => {
  const storage = await openSqlite(kept.file)
  t.teardown(() => storage.close())
  const steps: [leaves: number, treeSize: number][] = []
  await diagnose(storage, { schema: SCHEMA, onProgress: (...step) => steps.push(step) })
  t.strictSame(steps.at(-1), [LEAVES, LEAVES])
})

const LEAF_3 = 'SELECT claim_id FROM receipts WHERE leaf_index = 3'
const statements: [what: string, statement: string, named: RegExp][] = [
  ['the missing log', 'DELETE FROM logs', /there is no logs /],
  ['a log that is said to have ended', 'UPDATE logs SET ended_at = begun_at', /^log [\w-]+: ended_at is before/],
  ['a log that nobody opened', 'UPDATE logs SET ended_at = begun_at + 1000000', /^log: no log is open/],
  ['a log that is archived and open', 'UPDATE logs SET archived_at = 1', /^log [\w-]+: it is archived and open/],
  ['a missing receipt', 'DELETE FROM receipts WHERE leaf_index = 3', /^receipts: leaf 3 is missing/],
  [
    'the newest receipt missing',
    `DELETE FROM receipts WHERE leaf_index = ${LEAVES - 1}`,
    /^receipts: leaf 305 is missing/,
  ],
  [
    'a receipt too many',
    `INSERT INTO receipts SELECT log_id, ${LEAVES}, 'rcpt_1', (SELECT claim_id FROM claims WHERE attempts = 0), leaf_hash, issued_at, entry
     FROM receipts WHERE leaf_index = 3`,
    /^receipt rcpt_1 \(leaf 306\): the log does not reach it/,
  ],
  ['a missing tile', 'DELETE FROM tiles WHERE level = 0', /^tile 0\/0 of width 256: missing/],
  [
    'a tile too many',
    'INSERT INTO tiles SELECT log_id, level, 1, width, hashes FROM tiles WHERE level = 0',
    /^tile 0\/1 .*no such/,
  ],
  ['the first head missing', 'DELETE FROM tree_heads WHERE tree_size = 0', /^signing key /],
  [
    'the newest head missing',
    `DELETE FROM tree_heads WHERE tree_size = ${LEAVES}`,
    /\(leaf 305\): the log does not reach it/,
  ],
  [
    'a head too many',
    'INSERT INTO tree_heads SELECT log_id, 999, 9, root_hash, issued_at, key_id, signed FROM tree_heads WHERE tree_size = 2',
    /^tree head 9: its number is 999/,
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
  [
    'a guest missing that pays',
    `UPDATE claims SET payer = (SELECT id FROM users) || '/usr_${'0'.repeat(26)}' WHERE attempts = 0`,
    /^claim clm_\w+: its workspace_id, payer or connection_id/,
  ],
  ['a connection missing', 'DELETE FROM connections', /^claim clm_\w+: its workspace_id, payer or connection_id/],
  [
    'the other key in a head',
    'UPDATE tree_heads SET key_id = (SELECT key_id FROM signing_keys WHERE revoked_at IS NOT NULL)',
    /^tree head \d+: key_id/,
  ],
  [
    'a decision without a receipt',
    "UPDATE claims SET state = 'decided' WHERE attempts = 0",
    /^claim clm_\w+: it is decided without/,
  ],
]
for (const [what, statement, named] of statements) {
  t.test(`${what} is found, and named`, async (t) => {
    finds(t, await problemsAfter(t, kept.file, statement), named)
  })
}

t.test('two receipts that changed places are found, and where', async (t) => {
  for (const [one, other] of [
    [3, 7],
    [303, 304],
  ]) {
    const [file] = await changedCopy(t, kept.file, async (db) => {
      await db.raw('UPDATE receipts SET leaf_index = -1 WHERE leaf_index = ?', [one!])
      await db.raw('UPDATE receipts SET leaf_index = ? WHERE leaf_index = ?', [one!, other!])
      await db.raw('UPDATE receipts SET leaf_index = ? WHERE leaf_index = -1', [other!])
    })
    const { problems } = await diagnoseFile(file)
    // Of two that were issued in the same millisecond only the root tells.
    finds(t, problems, /^tile 0\/0 .*leaf 3$|^tree head 304: root_hash/)
  }
})

t.test('the signature of a receipt is verified when that is asked for', async (t) => {
  const [file] = await changedCopy(t, kept.file, async (db) => {
    const row = await db('receipts').where({ leaf_index: 305 }).first()
    const entry = row.entry.replace(
      /"value":".(?=[^"]{85}"\}\}$)/,
      (match: string) => match.slice(0, -1) + (match.endsWith('A') ? 'B' : 'A'),
    )
    await db('receipts').where({ leaf_index: 305 }).update({ entry })
  })
  const { problems } = await diagnoseFile(file, true)
  finds(t, problems, /\(leaf 305\): the signature does not hold/)
})

t.test('where everything is wrong, a thousand things are named', async (t) => {
  const problems = await problemsAfter(
    t,
    kept.file,
    "UPDATE claims SET target = 'elsewhere', agent_id = 'somebody', action = 'a.b.c', verdict = 'late'",
  )
  t.equal(problems.length, 1000)
})

t.test('doctor finds nothing wrong with a log that grows and changes its key meanwhile', LONG, async (t) => {
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
  while (claims < 50) t.strictSame((await diagnose(claimcheck.storage, { schema: SCHEMA })).problems, [])
  growing = false
  await grown
})
