/** A host in its own process, which sends itself a signal just before one of its database statements when it is told to. */

import { type Claimcheck, openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import { startServer } from '@claimcheck/server/host/start'
import type { SqliteDriverName } from '@claimcheck/server/storage/sqlite-drivers'
import { watchStalls } from '../support/stalls.ts'
import type { Strike } from './host-process.ts'
import { arm, beforeStatement, shareStrike } from './strike.ts'

shareStrike()
if (process.env.STRIKE !== undefined) arm(JSON.parse(process.env.STRIKE))

const stalls = watchStalls()

process.on('message', (order: Strike | 'stalls') => {
  if (order === 'stalls') {
    process.send!({ longestMs: stalls.longestMs(), delayMs: stalls.delayMs() })
    stalls.reset()
    return
  }
  arm(order)
  process.send!({ ready: true })
})
// The process that started it has ended.
process.on('disconnect', () => process.exit())

const config = loadConfig(process.env, process.cwd())
const driver = process.env.TEST_SQLITE_DRIVER as SqliteDriverName | undefined
const drivers = driver && [driver]
const claimcheck = await openClaimcheck(config, { plugins: true, beforeStatement, drivers })
const server = await startServer(process.env.WORKERS === 'none' ? withoutWorkers(claimcheck) : claimcheck)
process.send!({ url: server.url })

function withoutWorkers(claimcheck: Claimcheck): Claimcheck {
  const idle = { value: { start() {}, async stop() {} } }
  return Object.create(claimcheck, { recheckWorker: idle, anchorWorker: idle, retentionWorker: idle })
}
