/** A host as a process of its own, which can be told to be struck by a signal just before one of its database statements. */
import { loadConfig } from '@claimcheck/server/config'
import { openClaimcheck } from '@claimcheck/server/container'
import { startServer } from '@claimcheck/server/server'
import type { Strike } from './host-process.ts'

let strike: Strike | undefined = process.env.STRIKE === undefined ? undefined : JSON.parse(process.env.STRIKE)
let statements = 0

function beforeStatement(sql: string): void {
  if (!strike) return
  statements += 1
  const { signal, before } = strike
  if (typeof before === 'number' ? statements < before : !sql.includes(before)) return
  strike = undefined
  process.kill(process.pid, signal)
}

process.on('message', (next: Strike) => {
  strike = next
  statements = 0
  process.send!({ ready: true })
})
// Whoever started it is gone.
process.on('disconnect', () => process.exit())

const config = loadConfig(process.env, process.cwd())
const claimcheck = await openClaimcheck(config, { plugins: true, beforeStatement })
const server = await startServer(claimcheck)
process.send!({ url: server.url })
