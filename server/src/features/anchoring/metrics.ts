/** The metrics of the log's anchors. */
import type { Watch } from '../../host/monitoring.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Anchoring } from './anchoring.ts'

interface MetricsParts {
  readonly anchoring: Pick<Anchoring, 'problem'> | undefined
  readonly storage: Pick<Storage, 'read'>
}

export function anchorMetrics({ anchoring, storage }: MetricsParts): Watch {
  return ({ gauge, total }) => {
    const anchoredSize = gauge('log_anchored_tree_size', 'Number of log entries that a landed anchor covers')
    const open = gauge(
      'anchor_open',
      '1 for the open anchor, labelled with its state and the problem that blocks it, if any',
      ['state', 'problem'],
    )
    const openSince = gauge('anchor_open_since_timestamp_seconds', 'Unix time at which the open anchor was planned')
    const dropped = total('anchors_dropped_total', 'Number of anchors that were planned and dropped')
    const problem = gauge('anchoring_problem', "1 for the problem of this host's last attempt to use the chain", [
      'problem',
    ])

    return async () => {
      const { anchors, log } = storage.read
      const [state, anchor, droppedCount] = await Promise.all([
        log.anchoredState(),
        anchors.open(),
        anchors.droppedCount(),
      ])
      anchoredSize.set(state?.anchoredSize ?? 0)
      dropped.set({}, droppedCount)
      problem.reset()
      const current = anchoring?.problem()
      if (current !== undefined) problem.set({ problem: current }, 1)
      open.reset()
      openSince.reset()
      if (!anchor) return
      open.set({ state: anchor.state, problem: anchor.problem ?? '' }, 1)
      openSince.set(anchor.plannedAt / 1000)
    }
  }
}
