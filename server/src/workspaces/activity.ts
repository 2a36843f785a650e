/** What is noted in passing: when a key was used, how a connection was read. Written a little later, for people to see; what a crash loses of it is no loss. */
import { type CheckRecord, type Instant, isRead, type Logger } from '@claimcheck/core'
import { LRUCache } from 'lru-cache'
import type { Storage, Writes } from '../storage/storage.ts'

export interface Activity {
  /** @param key as it was read just now */
  keyUsed(key: { readonly id: string; readonly lastUsedAt: Instant | null }): void
  connectionRead(connectionId: string, record: CheckRecord): void
  /** Writes what is noted. */
  close(): Promise<void>
}

interface ActivityOptions {
  readonly storage: Storage
  readonly now: () => Instant
  readonly logger: Pick<Logger, 'warn'>
}

/** A key's last use is known to this. */
const KEY_EVERY_MS = 60_000
const WRITTEN_AFTER_MS = 2000
const MOST_NOTED = 1000

interface Note {
  readAt?: Instant
  failure?: { readonly at: Instant; readonly code: string }
}

export function createActivity({ storage, now, logger }: ActivityOptions): Activity {
  // More than fit at once are not noted at all.
  const keys = new Map<string, Instant>()
  const connections = new Map<string, Note>()
  // Rows that were read before the last note of them was written.
  const noted = new LRUCache<string, Instant>({ max: MOST_NOTED })
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function soon(): void {
    timer ??= setTimeout(() => {
      writing = flush()
    }, WRITTEN_AFTER_MS).unref()
  }

  async function flush(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (keys.size + connections.size === 0) return
    const usedKeys = [...keys]
    const readConnections = [...connections]
    keys.clear()
    connections.clear()
    try {
      await storage.write((tx) => writeNotes(tx, usedKeys, readConnections))
    } catch (err) {
      logger.warn({ err }, 'what was noted of keys and connections could not be written')
    }
  }

  return {
    keyUsed({ id, lastUsedAt }) {
      const at = now()
      if (at - Math.max(lastUsedAt ?? 0, noted.get(id) ?? 0) < KEY_EVERY_MS || keys.size >= MOST_NOTED) return
      noted.set(id, at)
      keys.set(id, at)
      soon()
    },
    connectionRead(connectionId, record) {
      const note = connections.get(connectionId) ?? {}
      if (connections.size >= MOST_NOTED && !connections.has(connectionId)) return
      if (isRead(record)) note.readAt = record.answeredAt
      else note.failure = { at: record.answeredAt, code: record.failure.code }
      connections.set(connectionId, note)
      soon()
    },
    async close() {
      await writing
      await flush()
    },
  }
}

// In one order everywhere, so that two hosts do not wait for each other.
async function writeNotes(
  tx: Writes,
  keys: readonly (readonly [string, Instant])[],
  connections: readonly (readonly [string, Note])[],
): Promise<void> {
  for (const [id, at] of keys.toSorted(byId)) await tx.keys.used(id, at)
  for (const [id, { readAt, failure }] of connections.toSorted(byId)) {
    if (readAt !== undefined) await tx.connections.wasRead(id, readAt)
    if (failure) await tx.connections.failed(id, failure.at, failure.code)
  }
}

function byId([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}
