/** Erasure: the content of a receipt goes, by an operator or by a workspace's retention, and its leaf stays in the log. */

import { construct } from '../../base/construct.ts'
import type { Feature } from '../../host/feature.ts'
import { erasureAuditWords } from './audit-words.ts'
import { erasureConfig } from './config.ts'
import type { RetentionWorker } from './retention-worker.ts'
import { erasureStored } from './stored.ts'

export interface Services {
  readonly retentionWorker: RetentionWorker
}

export const erasureFeature = {
  name: 'erasure',
  needs: ['receipts'],
  stored: erasureStored,
  auditWords: erasureAuditWords,
  config: erasureConfig,
  services: async () => {
    const [{ createErasureService }, { RetentionService }, { createRetentionWorker }] = await Promise.all([
      import('./erasure.ts'),
      import('./retention.ts'),
      import('./retention-worker.ts'),
    ])
    return {
      erasure: createErasureService,
      retention: construct(RetentionService),
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
