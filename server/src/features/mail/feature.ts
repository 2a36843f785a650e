/** Mail: links that people asked for, and notices of what happened to an account or a workspace. */
import type { Worker } from '../../base/worker.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { Notices } from '../../mail/notices.ts'

export interface Services extends Pick<HostServices, 'config'> {
  readonly notices: Notices
  readonly mailWorker: Worker
}

export const mailFeature = {
  name: 'mail',
  isOptional: true,
  services: async () => {
    const [{ createOutbox }, { createNotices }, { createMailWorker }] = await Promise.all([
      import('../../mail/outbox.ts'),
      import('../../mail/notices.ts'),
      import('../../mail/mail-worker.ts'),
    ])
    return { outbox: createOutbox, notices: createNotices, mailWorker: createMailWorker }
  },
  workers: ({ mailWorker }) => [mailWorker],
  onAudit: ({ config, notices }) => (config.mail ? notices.queue : undefined),
} satisfies Feature<Services>
