/** Erasure: the content of a receipt is removed, by an operator or by a workspace's retention, and its leaf stays in the log. */

import type { Feature } from '../../host/feature.ts'
import { claims } from '../../storage/claim-row.ts'
import { erasures } from '../../storage/erasures.ts'
import { retentions } from '../../storage/retentions.ts'
import { workspaces } from '../../storage/workspaces.ts'
import { erasureConfig } from './config.ts'
import { examineErasures } from './examine.ts'
import { erasureMigrations } from './migrations.ts'
import type { RetentionWorker } from './retention-worker.ts'

export interface Services {
  readonly retentionWorker: RetentionWorker
}

export const erasureFeature = {
  name: 'erasure',
  needs: ['receipts'],
  stored: {
    tables: [
      { table: retentions, owners: { workspace_id: workspaces } },
      { table: erasures, owners: { claim_id: claims } },
    ] as const,
    migrations: erasureMigrations,
    examine: examineErasures,
  },
  auditWords: {
    'receipt.erased': 'erased the content of a receipt',
    'workspace.receipts_erased': 'erased the content of receipts that the workspace keeps no longer',
    'workspace.retention_changed': 'changed how long a workspace keeps the content of its receipts',
  },
  config: erasureConfig,
  services: async () => {
    const [{ createErasureService }, { createRetentionService }, { createRetentionWorker }] = await Promise.all([
      import('./erasure.ts'),
      import('./retention.ts'),
      import('./retention-worker.ts'),
    ])
    return {
      erasure: createErasureService,
      retention: createRetentionService,
      retentionWorker: createRetentionWorker,
    }
  },
  workers: ({ retentionWorker }) => [retentionWorker],
  metrics:
    ({ retentionWorker }) =>
    ({ gauge }) => {
      const completed = gauge(
        'retention_completed_timestamp_seconds',
        'Unix time at which this host last saw that nothing more is to be erased; at first, when it started',
      )
      return () => completed.set(retentionWorker.completedAt() / 1000)
    },
} satisfies Feature<Services>
