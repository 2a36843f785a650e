/** Webhooks: the events of a workspace are sent to the receivers that its owners name. */
import { EVENTS } from '@claimcheck/core/api'
import type { Worker } from '../../base/worker.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { users } from '../../storage/people.ts'
import { webhookContext } from '../../storage/sealed-contexts.ts'
import { webhookDeliveries, webhookTargets } from '../../storage/webhooks.ts'
import { workspaces } from '../../storage/workspaces.ts'
import { addWebhookCommands } from './commands/webhook.ts'
import { webhooksConfig } from './config.ts'
import { webhookMigrations } from './migrations.ts'
import type { Webhooks } from './webhooks.ts'

export interface Services extends Pick<HostServices, 'storage' | 'now'> {
  readonly webhooks: Webhooks
  readonly webhookWorker: Worker
  readonly webhookChores: Worker
}

export const webhooksFeature = {
  name: 'webhooks',
  needs: ['events'],
  isOptional: true,
  stored: {
    tables: [
      {
        table: webhookTargets,
        owners: { workspace_id: workspaces },
        refersTo: [users],
        sealed: {
          sealed_url: ([id]) => webhookContext(id!, 'url'),
          sealed_secret: ([id]) => webhookContext(id!, 'secret'),
          sealed_former: ([id]) => webhookContext(id!, 'former'),
        },
      },
      { table: webhookDeliveries, owners: { target_id: webhookTargets } },
    ] as const,
    migrations: webhookMigrations,
  },
  auditWords: {
    'webhook.added': 'added a webhook',
    'webhook.changed': 'changed where a webhook sends, or which events',
    'webhook.removed': 'removed a webhook',
    'webhook.rotated': 'replaced the secret of a webhook',
    'webhook.switched_off': 'switched a webhook off',
    'webhook.switched_on': 'switched a webhook on',
    'webhook.tested': 'sent a test message to a webhook',
  },
  config: webhooksConfig,
  services: async () => {
    const [{ createWebhookOutbound }, { createWebhooks }, { createWebhookWorker }, { createWebhookChores }] =
      await Promise.all([
        import('./sender.ts'),
        import('./webhooks.ts'),
        import('./webhook-worker.ts'),
        import('./chores.ts'),
      ])
    return {
      webhookOutbound: createWebhookOutbound,
      webhooks: createWebhooks,
      webhookWorker: createWebhookWorker,
      webhookChores: createWebhookChores,
    }
  },
  closes: ['webhookOutbound'],
  workers: ({ webhookWorker, webhookChores }) => [webhookWorker, webhookChores],
  access: () => ({ webhooks: EVENTS }),
  routes: async ({ webhooks }) => {
    const { webhookRoutes } = await import('./routes/webhooks.ts')
    return [{ scope: 'key', cost: 'read', add: (app) => webhookRoutes(app, webhooks) }]
  },
  metrics:
    ({ storage, now }) =>
    ({ gauge }) => {
      const waiting = gauge('webhook_deliveries_waiting', 'Number of events that wait to be delivered')
      const oldest = gauge(
        'webhook_oldest_due_seconds',
        'How long the oldest delivery has been due to a webhook that is on and did not ask for time; 0: none is',
      )
      return async () => {
        const { count, since } = await storage.read.webhooks.waiting(now())
        waiting.set(count)
        oldest.set(since === null ? 0 : Math.max(0, now() - since) / 1000)
      }
    },
  commands: addWebhookCommands,
} satisfies Feature<Services>
