/** Wakes those who wait for events of a workspace: at once after a write of this process, within a second after one of another. */
import type { FastifyBaseLogger } from 'fastify'
import { createLoop, type Worker } from '../../base/worker.ts'
import type { Storage } from '../../storage/storage.ts'

const POLL_MS = 1000

export interface EventFeed extends Worker {
  /**
   * Registers a function that is called soon after the workspace has new events, and once within a second. It must not throw. Whoever subscribes, and
   * reads then, and again at each call, misses nothing.
   * @returns the function that ends this
   */
  subscribe(workspaceId: string, wake: () => void): () => void
}

interface FeedParts {
  readonly storage: Pick<Storage, 'read' | 'onEvents'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

interface Subscription {
  readonly wakes: Set<() => void>
  /** The newest number of the last poll. An event may have come between a subscriber's first read and the first poll, so that one always wakes. */
  last?: number
}

export function createEventFeed({ storage, logger }: FeedParts): EventFeed {
  const subscriptions = new Map<string, Subscription>()

  function wake(workspaceId: string): void {
    for (const call of subscriptions.get(workspaceId)?.wakes ?? []) call()
  }

  storage.onEvents((workspaceIds) => {
    for (const workspaceId of workspaceIds) wake(workspaceId)
  })

  const loop = createLoop(async () => {
    if (subscriptions.size === 0) return POLL_MS
    try {
      const asked = [...subscriptions]
      const numbers = await storage.read.events.last(asked.map(([workspaceId]) => workspaceId))
      for (const [workspaceId, subscription] of asked) {
        const last = numbers.get(workspaceId) ?? 0
        if (subscription.last === last) continue
        subscription.last = last
        wake(workspaceId)
      }
    } catch (error) {
      logger.warn({ err: error }, 'cannot look for new events')
    }
    return POLL_MS
  })

  return {
    ...loop,
    subscribe(workspaceId, call) {
      const subscription = subscriptions.get(workspaceId) ?? { wakes: new Set() }
      subscriptions.set(workspaceId, subscription)
      subscription.wakes.add(call)
      // A newer subscriber needs its first call, too.
      delete subscription.last
      return () => {
        subscription.wakes.delete(call)
        if (subscription.wakes.size === 0 && subscriptions.get(workspaceId) === subscription)
          subscriptions.delete(workspaceId)
      }
    },
  }
}
