/** Records when keys were used and how connections were read, for people to see. Written after a delay; a crash may lose some of it. */

import type { Logger } from '@claimcheck/core/plugin'
import { type CheckRecord, type Instant, isRead } from '@claimcheck/core/rules'
import { LRUCache } from 'lru-cache'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { ApiKeyRow, ConnectionFailure } from '../../storage/workspaces.ts'
import { noteFailure, noteRead, noteReadAfter } from './connection-notes.ts'

interface ActivityOptions {
  readonly storage: Storage
  readonly now: () => Instant
  readonly logger: Pick<Logger, 'warn'>
}

/** The precision of a key's last use. */
const KEY_EVERY_MS = 60_000
const WRITE_AFTER_MS = 2000
const MAX_NOTES = 1000

interface KeyUse {
  readonly at: Instant
  readonly address: string
}

interface Note {
  readAt?: Instant
  failure?: ConnectionFailure
}

export type Activity = ReturnType<typeof createActivity>

export function createActivity({ storage, now, logger }: ActivityOptions) {
  // Notes beyond MAX_NOTES are dropped.
  const keys = new Map<string, KeyUse>()
  const connections = new Map<string, Note>()
  // The cache has the last note of each key: a row that was read before its note was written still shows the older time.
  const noted = new LRUCache<string, Instant>({ max: MAX_NOTES })
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> = Promise.resolve()

  function scheduleFlush(): void {
    timer ??= setTimeout(() => {
      writing = flush()
    }, WRITE_AFTER_MS).unref()
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
      logger.warn({ err }, 'cannot write when keys and connections were used')
    }
  }

  return {
    /**
     * Notes a use of a key.
     * @param key its current row
     */
    keyUsed({ id, lastUsedAt }: Pick<ApiKeyRow, 'id' | 'lastUsedAt'>, address: string): void {
      const at = now()
      if (at - Math.max(lastUsedAt ?? 0, noted.get(id) ?? 0) < KEY_EVERY_MS || keys.size >= MAX_NOTES) return
      noted.set(id, at)
      keys.set(id, { at, address })
      scheduleFlush()
    },
    connectionRead(connectionId: string, record: CheckRecord): void {
      // A claim's own fault says nothing of the connection.
      if (!isRead(record) && record.failure.code === 'unsupported_target') return
      const note = connections.get(connectionId) ?? {}
      if (connections.size >= MAX_NOTES && !connections.has(connectionId)) return
      if (isRead(record)) note.readAt = Math.max(note.readAt ?? 0, record.answeredAt)
      // A later failure does not replace a refusal.
      else if (note.failure?.code !== 'unauthorized')
        note.failure = { askedAt: record.sentAt, at: record.answeredAt, code: record.failure.code }
      connections.set(connectionId, note)
      scheduleFlush()
    },
    /** Writes the notes that are left. */
    async close(): Promise<void> {
      await writing
      await flush()
    },
  }
}

// All hosts write in the same order, so that they do not deadlock.
async function writeNotes(
  tx: Writes,
  keys: readonly (readonly [string, KeyUse])[],
  connections: readonly (readonly [string, Note])[],
): Promise<void> {
  for (const [id, { at, address }] of keys.toSorted(byId)) await tx.keys.used(id, at, address)
  for (const [id, { readAt, failure }] of connections.toSorted(byId)) {
    if (failure && readAt !== undefined && failure.at <= readAt) {
      await noteReadAfter(tx, id, failure, readAt)
      continue
    }
    if (readAt !== undefined) await noteRead(tx, id, readAt)
    if (failure) await noteFailure(tx, id, failure)
  }
}

function byId([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  return one < other ? -1 : 1
}
