/** Revisits: decided claims are looked at again, to tell whether what was verified is still there. */
import type { Worker } from '../../base/worker.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { claims } from '../../storage/claim-row.ts'
import { eraseRevisits, revisitSchedules, revisits } from '../../storage/revisits.ts'
import { workspaces } from '../../storage/workspaces.ts'
import type { OAuth } from '../oauth/oauth.ts'
import type { FindingService } from './findings.ts'
import { revisitMigrations } from './migrations.ts'
import type { Revisits } from './revisits.ts'

export interface Services extends Pick<HostServices, 'isActive'> {
  readonly revisits: Revisits
  readonly findings: FindingService
  readonly revisitWorker: Worker
  readonly revisitSchedule: Worker
  readonly oauth: Pick<OAuth, 'audiences'>
}

export const revisitsFeature = {
  name: 'revisits',
  needs: ['claims', 'receipts'],
  stored: {
    tables: [
      { table: revisits, owners: { claim_id: claims, workspace_id: workspaces }, erase: eraseRevisits },
      { table: revisitSchedules, owners: { workspace_id: workspaces } },
    ] as const,
    migrations: revisitMigrations,
  },
  auditWords: {
    'claim.revisit_asked': 'asked to look at a decided claim again',
    'claim.change_found': 'found that what a claim verified has changed since',
    'workspace.revisits_changed': 'changed when decided claims are looked at again',
  },
  services: async () => (await import('./services.ts')).services,
  workers: ({ revisitWorker, revisitSchedule }) => [revisitWorker, revisitSchedule],
  routes: async ({ revisits, findings, oauth }) => {
    const { revisitRoutes, findingRoutes } = await import('./routes/revisits.ts')
    const audience = () => oauth.audiences().own
    return [
      { scope: 'credential', cost: 'read', add: (app) => revisitRoutes(app, revisits, audience) },
      { scope: 'public', cost: 'receipt', add: (app) => findingRoutes(app, findings) },
    ]
  },
} satisfies Feature<Services>
