/** A host as a process of its own, which can be told to be struck by a signal just before one of its database statements. */
import { loadConfig } from '@claimcheck/server/config'
import { openClaimcheck } from '@claimcheck/server/container'
import { startServer } from '@claimcheck/server/server'

const { STRIKE_BEFORE, STRIKE_SIGNAL } = process.env
let statementsLeft = Number(STRIKE_BEFORE ?? Number.POSITIVE_INFINITY)

function beforeStatement(): void {
  statementsLeft -= 1
  if (statementsLeft === 0) process.kill(process.pid, STRIKE_SIGNAL)
}

// Whoever started it is gone.
process.on('disconnect', () => process.exit())

const config = loadConfig(process.env, process.cwd())
const claimcheck = await openClaimcheck(config, { plugins: true, beforeStatement })
const server = await startServer(claimcheck)
process.send!({ url: server.url })
