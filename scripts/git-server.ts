/** `npm run git-server`: a git server on this machine, at which an agent has just pushed: for a first claim without internet. */
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { Agent } from '../test/destinations/agent.ts'
import { GitServer } from '../test/destinations/git-server.ts'

/** The port that `claimcheck.config.json` lets the service read. */
const PORT = '8081'
const TARGET = 'acme/api'

const { values } = parseArgs({ options: { port: { type: 'string', default: PORT } } })
const server = await GitServer.start(Number(values.port)).catch((error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE') throw error
  console.error(`Port ${values.port} is taken: stop what listens there, or choose another port with -- --port,`)
  console.error('and name it in allow_private of claimcheck.config.json.')
  process.exit(1)
})
await server.createRepository(TARGET)
const agent = await Agent.create()
const sha = await agent.commit({ message: 'Add the endpoint' })
await agent.push(`${server.url}/${TARGET}.git`, sha, 'main')

console.log(`A git server is running on ${server.url}, until you press Ctrl-C`)
console.log(`  repository  ${TARGET}`)
console.log('  branch      main')
console.log(`  commit      ${sha}, which an agent has just pushed`)

await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
await agent.close()
await server.close()
