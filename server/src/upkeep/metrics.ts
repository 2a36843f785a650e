/** Figures for monitoring, in the format of Prometheus: how the log and its anchors stand. Nothing that is not public. */
import { Gauge, Registry } from 'prom-client'
import type { Anchoring } from '../anchoring/anchoring.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { Storage } from '../storage/storage.ts'

export interface Metrics {
  readonly contentType: string
  /** As of now. @throws StorageError `unavailable` */
  text(): Promise<string>
}

interface MetricsOptions {
  readonly anchoring: Pick<Anchoring, 'problem'> | undefined
  readonly storage: Pick<Storage, 'read'>
  readonly logGuard: Pick<LogGuard, 'problem'>
}

export function createMetrics({ anchoring, storage, logGuard }: MetricsOptions): Metrics {
  const registry = new Registry()
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name: `claimcheck_${name}`, help, labelNames, registers: [registry] })

  const treeSize = gauge('log_tree_size', 'Entries of the log')
  const anchoredSize = gauge('log_anchored_tree_size', 'Entries of the log that a landed anchor covers')
  const readOnly = gauge('host_read_only', '1 while this host signs nothing, because that could be a fork')
  const open = gauge('anchor_open', '1 for the anchor that is under way: its state, and what keeps it, if anything', [
    'state',
    'problem',
  ])
  const openSince = gauge('anchor_open_since_seconds', 'When the anchor that is under way was planned, Unix time')
  const dropped = gauge('anchors_dropped', 'Anchors that were planned and have come to nothing')
  const problem = gauge('anchoring_problem', '1 for what kept this host from its chain when it last asked that', [
    'problem',
  ])

  return {
    contentType: registry.contentType,
    async text() {
      const { anchors } = storage.read
      const [log, anchor, droppedCount] = await Promise.all([anchors.log(), anchors.open(), anchors.droppedCount()])
      treeSize.set(log?.treeSize ?? 0)
      anchoredSize.set(log?.anchoredSize ?? 0)
      readOnly.set(logGuard.problem() === undefined ? 0 : 1)
      dropped.set(droppedCount)
      problem.reset()
      const kept = anchoring?.problem()
      if (kept !== undefined) problem.set({ problem: kept }, 1)
      open.reset()
      openSince.reset()
      if (anchor) {
        open.set({ state: anchor.state, problem: anchor.problem ?? '' }, 1)
        openSince.set(anchor.plannedAt / 1000)
      }
      return registry.metrics()
    },
  }
}
