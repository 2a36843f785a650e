// Test run: end-to-end, slow, both-databases
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import t from 'tap'
import { createDatabase, TEST_DATABASE } from '../support/database.ts'
import { byExtent } from '../support/extent.ts'
import { Installation } from '../support/installation.ts'
import { dump } from '../support/sql.ts'
import { SCHEMA } from '../support/storage.ts'

const NAME = 'jane.doe-branch'
const STEP = byExtent({
  short: { sqlite: 8, postgres: 10 },
  usual: { sqlite: 4, postgres: 5 },
  thorough: { sqlite: 1, postgres: 1 },
})[TEST_DATABASE]

/** Erases a receipt in a process of its own, which ends before a statement. Returns whether it came to its end. */
async function eraseUntil(databaseUrl: string, receiptId: string, statement: number): Promise<boolean> {
  const file = (path: string) => JSON.stringify(resolve('server/dist', path))
  const script = `
    import { BY_SERVICE } from ${file('base/actor.js')}
    import { createErasureService } from ${file('features/erasure/erasure.js')}
    import { SCHEMA } from ${file('features.js')}
    import { openStorage } from ${file('storage/open.js')}
    let left = Infinity
    const beforeStatement = () => { if (--left === 0) process.kill(process.pid, 'SIGKILL') }
    const storage = await openStorage({ databaseUrl: ${JSON.stringify(databaseUrl)} }, { schema: SCHEMA, beforeStatement })
    const erasure = createErasureService({ storage, archives: { erase: async () => undefined, has: () => false }, logGuard: { checkOpen() {} }, now: Date.now })
    left = ${statement}
    await erasure.erase(${JSON.stringify(receiptId)}, { rule: 'secret', reference: '' }, BY_SERVICE)
    await storage.close()`
  const stdio = ['ignore', 'inherit', 'inherit'] as const
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: [...stdio] })
  const [code, signal] = await once(child, 'close')
  if (signal !== 'SIGKILL' && code !== 0) throw new Error(`the erasure ended with ${code ?? signal}`)
  return code === 0
}

t.test('an erasure that ends before any of its statements has erased everything or nothing', async (t) => {
  const installation = await Installation.during(t, { database: await createDatabase() })
  const client = await installation.client('acme')
  const { body } = await client.submit({ params: { see: 'present', content: NAME }, agent_id: NAME })
  await client.submit()
  const { receipt_id: receiptId } = await client.decided(body.claim_id)
  const { databaseUrl } = installation.config
  const { storage, secrets } = installation.claimcheck
  let struck = 0
  for (let statement = 1; ; statement += STEP) {
    const isDone = await eraseUntil(databaseUrl, receiptId, statement)
    const { status, body: served } = await installation.request(`/v1/receipts/${receiptId}`)
    const { problems } = await diagnose(storage, { schema: SCHEMA, secrets })
    t.strictSame(problems, [], `before statement ${statement}`)
    t.equal(JSON.stringify(served).includes(NAME), status === 200)
    if (isDone) {
      t.equal(status, 410)
      break
    }
    struck += status === 200 ? 1 : 0
  }
  t.ok(struck >= Math.floor(10 / STEP), `${struck} times it was struck before it had erased anything`)
  await storage.forgetDeleted()
  t.notMatch(await dump(databaseUrl), NAME)
})
