// Test run: end-to-end, slow
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import t, { type Test } from 'tap'
import { createDatabase } from '../support/database.ts'
import { LONG } from '../support/extent.ts'
import { Installation } from '../support/installation.ts'
import { query } from '../support/sql.ts'
import { SCHEMA } from '../support/storage.ts'

async function twoHosts(t: Test) {
  const installation = await Installation.during(t, { database: await createDatabase('postgres') })
  const client = await installation.client('acme')
  const submitMany = (count: number) =>
    Promise.all(
      Array.from({ length: count }, (_, index) => client.submit(index % 5 ? {} : { params: { see: 'absent' } })),
    )
  return { installation, client, other: await installation.addHost(), submitMany }
}

t.test('doctor finds nothing while hosts append and change the key', async (t) => {
  const { installation, other, submitMany } = await twoHosts(t)
  const { storage, secrets } = installation.claimcheck
  let growing = true
  const grow = async () => {
    while (growing) {
      await submitMany(20)
      await other.claimcheck.signingKeys.rotate()
    }
  }
  const grown = grow()
  for (let times = 0; times < 10; times++)
    t.strictSame((await diagnose(storage, { schema: SCHEMA, secrets })).problems, [])
  growing = false
  await grown
  t.strictSame((await diagnose(storage, { schema: SCHEMA, secrets, signatures: true })).problems, [])
})

t.test('doctor finds a changed byte in each kind of row, on PostgreSQL too', LONG, async (t) => {
  const { installation, client, submitMany } = await twoHosts(t)
  for (let times = 0; times < 12; times++) await submitMany(38)
  // The newest head, which is changed below, is to stand for one leaf: what a changed head stands for is not looked at.
  await client.submit({})
  const { storage, secrets } = installation.claimcheck
  const { leaves, ok } = await diagnose(storage, { schema: SCHEMA, secrets })
  t.ok(ok && leaves >= 300)

  const databaseUrl = installation.database.env.DATABASE_URL!
  for (const table of ['checks', 'receipts', 'tiles', 'tree_heads']) {
    await query(databaseUrl, `ALTER TABLE ${table} DISABLE TRIGGER USER`)
  }
  const claimOf = (leaf: number) => `claim_id = (SELECT claim_id FROM receipts WHERE leaf_index = ${leaf})`
  const oneByte = (column: string) => `${column} = set_byte(${column}, 9, get_byte(${column}, 9) # 1)`
  const changes: [table: string, change: string, where: string, named: RegExp][] = [
    ['receipts', `entry = overlay(entry placing '~' from 30)`, 'leaf_index = 5', /^receipt .*\(leaf 5\)/],
    ['claims', `target = 'sonewhere'`, claimOf(6), /\(leaf 6\): .*differs in claim\.target/],
    ['checks', `record = overlay(record placing '~' from 30)`, claimOf(7), /^claim .*: last_check/],
    ['tiles', oneByte('hashes'), 'level = 0', /^tile 0\/0 of width 256: its hash 0/],
    ['tiles', oneByte('hashes'), 'level = 1 AND width = 1', /^tile 1\/0 of width 1: its hash 0/],
    ['tree_heads', oneByte('root_hash'), `tree_size = ${leaves}`, new RegExp(`^tree head ${leaves}: what was signed`)],
    ['logs', `name = overlay(name placing '~' from 9)`, 'ended_at IS NULL', /^log .*: log_id is not/],
    ['claims', 'submitted_at = submitted_at + 1', `state = 'queued'`, /^claim .*: submitted_at/],
    ['signing_keys', `public_key = overlay(public_key placing '~' from 9)`, 'true', /^signing key .*: key_id/],
    ['api_keys', `key_hash = overlay(key_hash placing '~' from 9)`, 'true', /^api_keys key_\w+: key_hash/],
    ['workspaces', 'created_at = created_at + 16777216', 'true', /^workspaces ws_\w+: created_at/],
  ]
  for (const [table, change, where] of changes) await query(databaseUrl, `UPDATE ${table} SET ${change} WHERE ${where}`)
  const { problems } = await diagnose(storage, { schema: SCHEMA, secrets })
  for (const [table, , where, named] of changes) {
    t.ok(
      problems.some((problem) => named.test(problem)),
      `${table} where ${where}`,
    )
  }
})
