/** The audit trail: a record of every change and its actor, in a chain of hashes, and how long it is kept. */

import type { Worker } from '../../base/worker.ts'
import type { Feature } from '../../host/feature.ts'
import { auditTrail } from '../../storage/audit-query.ts'
import { auditTrailHead } from '../../storage/audit-trail.ts'
import { addAuditTrailCommand } from './commands/audit-trail.ts'
import { auditTrailConfig } from './config.ts'
import { examineAuditTrail } from './examine.ts'
import { auditTrailMigrations } from './migrations.ts'

export interface Services {
  readonly auditRetention: Worker
}

export const auditTrailFeature = {
  name: 'audit-trail',
  stored: {
    tables: [{ table: auditTrail }, { table: auditTrailHead }],
    migrations: auditTrailMigrations,
    examine: examineAuditTrail,
  },
  auditWords: {
    'audit_trail.cut': 'removed old entries of the audit trail',
    'audit_trail.exported': 'exported the audit trail',
  },
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
