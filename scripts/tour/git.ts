/** The tour's stop at a plain git server. */
import { Agent } from '../../test/destinations/agent.ts'
import { GitServer } from '../../test/destinations/git-server.ts'
import type { Stop } from './stop.ts'

const TARGET = 'acme/api'

export async function gitStop(): Promise<Stop> {
  const server = await GitServer.start()
  await server.createRepository(TARGET)
  const agent = await Agent.create()
  const sha = await agent.commit({ message: 'Add the endpoint' })
  await agent.push(`${server.url}/${TARGET}.git`, sha, 'main')
  return {
    place: 'A git server, which git itself serves',
    allowPrivate: new URL(server.url).host,
    connect: ['git', '--set', `base_url=${server.url}`],
    claims: [{ action: 'codehost.commit.push', target: TARGET, params: { sha, branch: 'main' } }],
    async close() {
      await agent.close()
      await server.close()
    },
  }
}
