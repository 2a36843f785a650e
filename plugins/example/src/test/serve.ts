/**
 * Starts the ticket system with two tickets: an agent has closed SHOP-1, and only says so of SHOP-2. With a command as arguments it runs
 * that beside the server, and stops when the command has ended.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { TicketServer } from './ticket-server.ts'

const port = Number(process.env.PORT ?? 4010)
const server = await TicketServer.start({ port }).catch(() => {
  console.error(`The ticket system cannot listen on port ${port}. Is it running already? Stop it, or set PORT.`)
  process.exit(1)
})
const opened = { at: Date.now() - 60_000, resolution: null }
const closed = { at: Date.now(), resolution: 'done' }
server.tokens.set('acme-read-token', { scopes: ['tickets:read'], projects: { SHOP: 'all' } })
server.projects.set('SHOP', {
  lastNumber: 2,
  tickets: { 1: { id: 1001, history: [opened, closed] }, 2: { id: 1002, history: [opened] } },
})

const [command, ...args] = process.argv.slice(2)
if (command === undefined) {
  console.log(`The ticket system is at ${server.url}. SHOP-1 is closed as done, SHOP-2 is open. Stop it with Ctrl+C.`)
} else {
  // It is on this machine, which checks may not read unless it is named.
  const env = { ...process.env, ALLOW_PRIVATE: new URL(server.url).host }
  const [code] = await once(spawn(command, args, { stdio: 'inherit', env }), 'close')
  process.exitCode = code
  await server.stop()
}
