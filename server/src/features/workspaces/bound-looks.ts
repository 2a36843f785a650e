/** Checks the stored looks of bound agents, which follow from their ids and the table of confusable characters. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import { LOOKS_VERSION, looksOf } from '../../names/confusables.ts'
import type { Examination } from '../../storage/schema.ts'
import type { Reads } from '../../storage/storage.ts'
import type { BoundLookRow } from '../../storage/workspaces.ts'

/** Lists what is wrong with the stored looks, a sentence for each. */
export async function wrongLooks({ keys }: Pick<Reads, 'keys'>): Promise<string[]> {
  const missing = new Map(
    (await keys.boundAgents()).flatMap(({ workspaceId, agentId }) =>
      looksOf(agentId).map((look) => [keyOf({ workspaceId, agentId, look }), { workspaceId, agentId }] as const),
    ),
  )
  const others = (await keys.boundLooks()).filter((row) => row.version !== LOOKS_VERSION || !missing.delete(keyOf(row)))
  return [
    ...[...missing.values()].map(
      ({ workspaceId, agentId }) => `bound_looks ${workspaceId}: what looks like ${visibleName(agentId)} is not known`,
    ),
    ...others.map(
      ({ workspaceId, look, agentId }) =>
        `bound_looks ${workspaceId}: ${visibleName(look)} is no look of ${visibleName(agentId)}`,
    ),
  ]
}

function keyOf({ workspaceId, agentId, look }: Pick<BoundLookRow, 'workspaceId' | 'agentId' | 'look'>): string {
  return JSON.stringify([workspaceId, agentId, look])
}

export async function examineLooks({ read, problems }: Examination): Promise<void> {
  for (const problem of await wrongLooks(read)) problems.add(`${problem}: the next start of the service makes it anew`)
}
