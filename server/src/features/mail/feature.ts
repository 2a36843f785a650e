/** Mail: links that people asked for, and notices of what happened to an account or a workspace. */
import type { Worker } from '../../base/worker.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { mailAuditWords } from './audit-words.ts'
import { type MailConfig, mailConfig } from './config.ts'
import type { Notices } from './notices.ts'
import { mailStored } from './stored.ts'

export interface Services extends Pick<HostServices, 'storage' | 'now'> {
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
  metrics:
    ({ config, storage, now }) =>
    ({ gauge }) => {
      const waiting = gauge('mails_waiting', 'Number of mails that wait to be sent')
      const oldest = gauge('mail_oldest_waiting_seconds', 'How long the oldest mail has waited; 0: none waits')
      return async () => {
        if (!config.mail) return
        const { count, since } = await storage.read.mails.waiting()
        waiting.set(count)
        oldest.set(since === null ? 0 : Math.max(0, now() - since) / 1000)
      }
    },
  onAudit: ({ config, notices }) => (config.mail ? notices.queue : undefined),
} satisfies Feature<Services>
