/** Follows the log, and counts its receipts by verdict. */
import { setTimeout } from 'node:timers/promises'
import type { Worker } from '@claimcheck/server/base/worker'
import type { HostServices } from '@claimcheck/server/host/container'

export interface DecisionCounter {
  /** Counts what was added to the log since the last call. */
  follow(): Promise<void>
  counts(): Readonly<Record<string, number>>
}

const PAUSE_MS = 50

export function createDecisionCounter({ storage }: Pick<HostServices, 'storage'>): DecisionCounter & Worker {
  const counts: Record<string, number> = {}
  const stopping = new AbortController()
  let next = 0
  let loop: Promise<void> | undefined

  async function follow(): Promise<void> {
    const log = await storage.read.log.state()
    const entries = log && log.treeSize > next ? await storage.read.log.receipts(log.logId, next, log.treeSize) : []
    for (const { entry } of entries) {
      const { value } = JSON.parse(entry).body.verdict
      counts[value] = (counts[value] ?? 0) + 1
    }
    next += entries.length
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await follow()
      await setTimeout(PAUSE_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  return {
    follow,
    counts: () => counts,
    start() {
      loop ??= run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}
