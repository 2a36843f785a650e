/** The watch over agents: events tell of one that fell silent, and of one whose claims hold less often than before. */
import type { Worker } from '../../base/worker.ts'
import type { Feature } from '../../host/feature.ts'
import { rateJumps, silenceWatches } from '../../storage/agent-watches.ts'
import { claims } from '../../storage/claim-row.ts'
import { workspaces } from '../../storage/workspaces.ts'
import { agentWatchMigrations } from './migrations.ts'

export interface Services {
  readonly agentWatchChores: Worker
}

export const agentWatchFeature = {
  name: 'agent-watch',
  needs: ['events'],
  stored: {
    tables: [
      { table: silenceWatches, owners: { workspace_id: workspaces } },
      { table: rateJumps, owners: { claim_id: claims } },
    ] as const,
    migrations: agentWatchMigrations,
  },
  auditWords: { 'workspace.silence_changed': 'changed after which silence of agents the workspace is told' },
  services: async () => {
    const [{ createSilenceService }, { createAgentWatchChores }] = await Promise.all([
      import('./silence.ts'),
      import('./chores.ts'),
    ])
    return { silence: createSilenceService, agentWatchChores: createAgentWatchChores }
  },
  workers: ({ agentWatchChores }) => [agentWatchChores],
} satisfies Feature<Services>
