import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { createDatabase } from './support/database.ts'
import { Installation } from './support/installation.ts'

const CLAIMCHECK = resolve('server/bin/claimcheck.js')
const execute = promisify(execFile)

t.test('another log begins beside a running server, and not unless that was confirmed', async (t) => {
  const installation = await Installation.start({ database: await createDatabase() })
  t.teardown(() => installation.remove())
  const client = await installation.client('acme')
  const { body } = await client.submit()
  const env = { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...installation.env }
  const command = (...args: string[]) =>
    execute(process.execPath, [CLAIMCHECK, 'log', 'new', ...args], { cwd: installation.folder, env })
  const proof = async () => (await installation.request(`/v1/receipts/${body.receipt_id}`)).body.proof

  const before = await proof()
  await t.rejects(command(), { code: 1, stdout: '' })
  t.strictSame(await proof(), before)

  const begun = JSON.parse((await command('--yes', '--json')).stdout)
  t.match(begun, { tree_size: 1, key_id: /^ed25519:/, ended_log_id: before.log_id })
  t.strictSame(await proof(), { ...before, log_id: begun.log_id })
  t.match((await client.submit()).body, { state: 'decided' })
  t.match((await command('--yes')).stdout, begun.log_id)
})

t.test('without a log there is none to follow', async (t) => {
  const env = { PATH: process.env.PATH, LOG_LEVEL: 'silent' }
  const running = execute(process.execPath, [CLAIMCHECK, 'log', 'new', '--yes'], { cwd: t.testdir(), env })
  await t.rejects(running, { code: 1, stdout: '' })
})
