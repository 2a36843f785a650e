// Test run: end-to-end
import t from 'tap'
import { runClaimcheck } from './support/command.ts'
import { createDatabase } from './support/database.ts'
import { Installation } from './support/installation.ts'

t.test('another log begins beside a running server, and not unless that was confirmed', async (t) => {
  const installation = await Installation.during(t, { database: await createDatabase() })
  const client = await installation.client('acme')
  const { body } = await client.submit()
  const command = (...args: string[]) => runClaimcheck(installation.folder, ['log', 'new', ...args], installation.env)
  const proof = async () => (await installation.request(`/v1/receipts/${body.receipt_id}`)).body.proof

  const before = await proof()
  t.match(await command(), { code: 1, stdout: '' })
  t.strictSame(await proof(), before)

  const begun = JSON.parse((await command('--yes', '--json')).stdout)
  t.match(begun, { ended_tree_size: 1, key_id: /^ed25519:/, ended_log_id: before.log_id })
  t.strictSame(await proof(), before, 'it is proven where it was')
  t.match((await client.submit()).body, { state: 'decided' })
  t.match((await command('--yes')).stdout, begun.log_id)
})

t.test('without a log there is none to follow', async (t) => {
  t.match(await runClaimcheck(t.testdir(), ['log', 'new', '--yes']), { code: 1, stdout: '' })
})
