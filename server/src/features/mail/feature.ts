/** Mail: links that people asked for, and notices of what happened to an account or a workspace. */
import type { Worker } from '../../base/worker.ts'
import type { Feature } from '../../host/feature.ts'
import { mailAuditWords } from './audit-words.ts'
import { type MailConfig, mailConfig } from './config.ts'
import type { Notices } from './notices.ts'
import { mailStored } from './stored.ts'

export interface Services {
  readonly config: MailConfig
  readonly notices: Notices
  readonly mailWorker: Worker
}

export const mailFeature = {
  name: 'mail',
  isOptional: true,
  stored: mailStored,
  auditWords: mailAuditWords,
  config: mailConfig,
  services: async () => {
    const [{ createOutbox }, { createNotices }, { createMailWorker }] = await Promise.all([
      import('./outbox.ts'),
      import('./notices.ts'),
      import('./mail-worker.ts'),
    ])
    return { outbox: createOutbox, notices: createNotices, mailWorker: createMailWorker }
  },
  workers: ({ mailWorker }) => [mailWorker],
  onAudit: ({ config, notices }) => (config.mail ? notices.queue : undefined),
} satisfies Feature<Services>
