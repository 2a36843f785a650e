import t from 'tap'
import { TEST_DATABASE } from '../support/database.ts'
import { runCrashTest } from './run.ts'

const SECONDS = 20
const HOSTS = { sqlite: 1, postgres: 3 }

t.test('hosts that are killed at any moment lose nothing that was answered, and do nothing twice', async (t) => {
  const seed = Date.now() % 2 ** 32
  t.comment(`seed ${seed}`)
  const report = await runCrashTest({ dialect: TEST_DATABASE, hosts: HOSTS[TEST_DATABASE], seconds: SECONDS, seed })
  const { kills, acknowledged, claims, receipts, heads, problems } = report
  t.comment(`${kills} kills, ${acknowledged} claims acknowledged of ${claims}, ${receipts} receipts, ${heads} heads`)
  t.strictSame(problems, [])
  // How many there are is up to chance and to the machine.
  t.ok(kills >= 2 && acknowledged >= 5, 'there was something to lose')
})
