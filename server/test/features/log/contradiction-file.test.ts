/** A host that cannot write how a client contradicts the log says each reason once. Threat O6 of `security.md`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { contradictionWriter } from '@claimcheck/server/features/log/contradiction-file'
import t from 'tap'

t.test('an error that stays is logged once, and another one again', async (t) => {
  const folder = t.testdir({ data: {} })
  const dataDir = join(folder, 'data')
  const head = JSON.stringify({ body: { log_id: 'a'.repeat(43), tree_size: 5 } })
  const signed = JSON.stringify({ body: { log_id: 'a'.repeat(43), tree_size: 1 } })
  const log = { newestHead: async () => ({ signed }), signingKeys: async () => [] }
  let logged = 0
  const logger = { error: () => void logged++ }
  const write = contradictionWriter({ storage: { read: { log } }, config: { dataDir }, logger } as never)
  const look = () => write({ head, at: 0 })
  rmSync(dataDir, { recursive: true })
  for (let i = 0; i < 3; i++) await look()
  t.equal(logged, 1)
  writeFileSync(dataDir, 'no folder')
  for (let i = 0; i < 3; i++) await look()
  t.equal(logged, 2)
  rmSync(dataDir)
  mkdirSync(dataDir)
  await look()
  rmSync(dataDir, { recursive: true })
  await look()
  t.equal(logged, 3)
})
