/** Compares the log with what this host remembers once a second, also while it has nothing to sign: it may be the only one that knows. */
import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Worker } from '../../base/worker.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogGuard } from './log-guard.ts'
import type { CheckpointStore } from './signing/checkpoint-store.ts'

export interface LogWatch extends Worker {
  /** Before a host that does not remember the newest head of the log signs its first: gives the hosts that do the time to contradict. */
  askOthers(): Promise<void>
}

interface LogWatchOptions {
  readonly storage: Pick<Storage, 'read' | 'shared'>
  readonly checkpointStore: CheckpointStore
  readonly logGuard: LogGuard
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'error'>
}

const EVERY_MS = 1000
/** Other hosts look once a second. */
const ANSWER_MS = 2000

export function createLogWatch({ storage, checkpointStore, logGuard, logger }: LogWatchOptions): LogWatch {
  const stopping = new AbortController()
  let loop: Promise<void> | undefined

  /** What cannot be read makes the host read-only. */
  function remembers({ logId, treeSize }: LogState): boolean {
    try {
      return checkpointStore.recall(logId).some((head) => head.logId === logId && head.treeSize === treeSize)
    } catch {
      return true
    }
  }

  async function look(): Promise<void> {
    for (;;) {
      await setTimeout(EVERY_MS, undefined, { signal: stopping.signal }).catch(() => {})
      if (stopping.signal.aborted) return
      // In an outage of the database nobody signs.
      await logGuard.maySign().catch((error) => logger.error({ err: error }, 'cannot compare the log'))
    }
  }

  return {
    async askOthers() {
      const log = await storage.read.log.state()
      if (!storage.shared || !log || log.treeSize === 0 || remembers(log)) return
      logger.info(
        `this host does not know the newest state of the log: it waits ${ANSWER_MS / 1000} s for hosts that do`,
      )
      await setTimeout(ANSWER_MS)
    },
    start() {
      loop ??= look()
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}
