/** Hints: destinations and submitters say that something changed, and waiting claims are looked at at once. */

import type { Worker } from '../../base/worker.ts'
import type { Feature } from '../../host/feature.ts'
import { claims } from '../../storage/claim-row.ts'
import { hintAddresses, hints } from '../../storage/hints.ts'
import { hintContext } from '../../storage/sealed-contexts.ts'
import { connections, workspaces } from '../../storage/workspaces.ts'
import type { Hints } from './hints.ts'
import { hintMigrations } from './migrations.ts'

export interface Services {
  readonly hints: Hints
  readonly lookWorker: Worker
}

export const hintsFeature = {
  name: 'hints',
  needs: ['claims'],
  stored: {
    tables: [
      {
        table: hintAddresses,
        owners: { connection_id: connections, workspace_id: workspaces },
        sealed: { sealed_secret: ([address]) => hintContext(address!) },
      },
      { table: hints, owners: { claim_id: claims } },
    ] as const,
    migrations: hintMigrations,
  },
  auditWords: {
    'connection.hints_allowed': 'gave a connection an address for hints',
    'connection.hints_ended': 'took the address for hints of a connection away',
    'connection.hints_secret_replaced': 'replaced the secret of a connection for hints',
  },
  services: async () => (await import('./services.ts')).services,
  workers: ({ lookWorker }) => [lookWorker],
  routes: async ({ hints }) => {
    const { hintRoutes, lookRoutes } = await import('./routes/hints.ts')
    return [
      { scope: 'own', cost: 'hint', add: (app) => hintRoutes(app, hints) },
      { scope: 'key', cost: 'read', add: (app) => lookRoutes(app, hints) },
    ]
  },
} satisfies Feature<Services>
