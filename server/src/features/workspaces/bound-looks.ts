/** How bound agents look follows from their ids, and from the table of what looks alike. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import { LOOKS_VERSION, looksOf } from '../../base/confusables.ts'
import type { Examination } from '../../storage/schema.ts'
import type { Reads } from '../../storage/storage.ts'

/** What is wrong with the stored looks, a sentence for each agent. */
export async function wrongLooks({ keys }: Pick<Reads, 'keys'>): Promise<string[]> {
  const [agents, looks] = [await keys.boundAgents(), await keys.boundLooks()]
  const stored = new Map(looks.map((row) => [`${row.workspaceId} ${row.look}`, row]))
  const bound = new Set(agents.map(({ workspaceId, agentId }) => `${workspaceId} ${agentId}`))
  const isThere = (workspaceId: string, look: string) => {
    const row = stored.get(`${workspaceId} ${look}`)
    // Of two that look alike by a newer table, one has the look.
    return row?.version === LOOKS_VERSION && bound.has(`${workspaceId} ${row.agentId}`)
  }
  return [
    ...agents
      .filter(({ workspaceId, agentId }) => !looksOf(agentId).every((look) => isThere(workspaceId, look)))
      .map(
        ({ workspaceId, agentId }) =>
          `bound_looks ${workspaceId}: what looks like ${visibleName(agentId)} is not known`,
      ),
    ...looks
      .filter(
        ({ workspaceId, look, agentId }) => !bound.has(`${workspaceId} ${agentId}`) || !looksOf(agentId).includes(look),
      )
      .map(({ workspaceId, look }) => `bound_looks ${workspaceId}: no bound agent looks like ${visibleName(look)}`),
  ]
}

export async function examineLooks({ read, problems }: Examination): Promise<void> {
  for (const problem of await wrongLooks(read)) problems.add(`${problem}: the next start of the service makes it anew`)
}
