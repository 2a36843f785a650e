/** Starts the ticket system with two tickets, for `claimcheck try`: an agent has closed the first, and says so of the second. */
import { AcmeServer } from './acme-server.ts'

const server = await AcmeServer.start(Number(process.env.PORT ?? 4010))
server.addToken('acme-token', { scopes: ['tickets:read'], projects: { SHOP: 'all' } })
server.addProject('SHOP')
server.close(server.addTicket('SHOP'), 'done')
server.addTicket('SHOP')
console.log(
  `The ticket system listens on ${server.url}. SHOP-1 is closed as done, SHOP-2 is open. Stop it with Ctrl+C.`,
)
