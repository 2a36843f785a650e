/** The audit trail: who did what, in a chain of hashes, and how long it is kept. */

import type { Worker } from '../../base/worker.ts'
import type { Feature } from '../../host/feature.ts'
import { auditTrailAuditWords } from './audit-words.ts'
import { addAuditTrailCommand } from './commands/audit-trail.ts'
import { auditTrailConfig } from './config.ts'
import { auditTrailStored } from './stored.ts'

export interface Services {
  readonly auditRetention: Worker
}

export const auditTrailFeature = {
  name: 'audit-trail',
  stored: auditTrailStored,
  auditWords: auditTrailAuditWords,
  config: auditTrailConfig,
  services: async () => {
    const [{ createAuditTrail }, { createAuditRetention }] = await Promise.all([
      import('./audit-trail.ts'),
      import('./retention.ts'),
    ])
    return { auditTrail: createAuditTrail, auditRetention: createAuditRetention }
  },
  workers: ({ auditRetention }) => [auditRetention],
  commands: addAuditTrailCommand,
} satisfies Feature<Services>
