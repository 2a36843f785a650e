/** Mail: links that people asked for, and notices of what happened to an account or a workspace. */

import type { Worker } from '../../base/worker.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { mails } from '../../storage/mails.ts'
import { mailContext } from '../../storage/sealed-contexts.ts'
import { type MailConfig, mailConfig } from './config.ts'
import { mailMigrations } from './migrations.ts'
import type { Notices } from './notices.ts'

export interface Services extends Pick<HostServices, 'storage' | 'now'> {
  readonly config: MailConfig
  readonly notices: Notices
  readonly mailWorker: Worker
}

export const mailFeature = {
  name: 'mail',
  isOptional: true,
  stored: {
    tables: [{ table: mails, sealed: { content: ([id]) => mailContext(id!) } }],
    migrations: mailMigrations,
  },
  auditWords: {
    'mail.dropped': 'gave up sending a mail',
  },
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
