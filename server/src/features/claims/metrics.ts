/** The metrics of this host's checks and plugins. */
import type { Instant } from '@claimcheck/core/rules'
import type { Meters } from '../../base/meters.ts'
import type { Watch } from '../../host/monitoring.ts'
import type { CellsState } from '../../plugins/hosted.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { Admission } from './admission.ts'
import type { DueClaims } from './due-claims.ts'
import type { Lateness } from './lateness.ts'

interface Services {
  readonly registry: Pick<Registry, 'plugins'>
  readonly admission: Pick<Admission, 'state'>
  readonly dueClaims: Pick<DueClaims, 'waiting'>
  readonly lateness: Pick<Lateness, 'state'>
  readonly now: () => Instant
}

export function claimMetrics({ registry: { plugins }, admission, dueClaims, lateness, now }: Services): Watch {
  return ({ gauge, total }) => {
    const running = gauge(
      'checks_running',
      'Number of checks that run, by share: kept for checks that decide, or common',
      ['share'],
    )
    const waiting = gauge(
      'checks_waiting',
      'Number of claims whose check is due and does not run on this host, by kind: the check decides, is the first one, or only looks again',
      ['kind'],
    )
    const deciding = gauge(
      'claim_oldest_due_seconds',
      'How long the check that decides has been due, of the claim that waits the longest for it; 0: none waits',
    )
    const refused = total(
      'checks_refused_total',
      'How often a check found no free slot for its payer and destination, or no request budget',
      ['kind'],
    )
    const breakers = gauge(
      'circuit_breakers_open',
      'Number of destinations that hang, each counted for every workspace and connection that reads it',
    )
    const late = gauge(
      'closing_read_lateness_seconds',
      'How late closing reads were sent: the latest one, and the largest of the last five to ten minutes',
      ['of'],
    )
    const restarts = total('plugin_restarts_total', 'How often the process of a plugin was started again', ['plugin'])
    const isRunning = gauge('plugin_running', '1 while a plugin takes checks on this host', ['plugin'])
    const cells = cellMetrics({ gauge, total })

    return async () => {
      for (const { name: plugin, parts } of plugins) {
        const state = parts.state()
        restarts.set({ plugin }, state.restarts)
        isRunning.set({ plugin }, state.status === 'running' ? 1 : 0)
        if (state.cells) cells(plugin, state.cells)
      }
      const { running: byShare, refused: byKind, openBreakers } = admission.state()
      breakers.set(openBreakers)
      for (const [share, count] of Object.entries(byShare)) running.set({ share }, count)
      for (const [kind, count] of Object.entries(byKind)) refused.set({ kind }, count)
      const { latestMs, largestMs } = lateness.state()
      late.set({ of: 'latest' }, latestMs / 1000)
      late.set({ of: 'largest' }, largestMs / 1000)
      const at = now()
      const { decidingSince, ...counts } = await dueClaims.waiting(at)
      for (const [kind, count] of Object.entries(counts)) waiting.set({ kind }, count)
      deciding.set(decidingSince === null ? 0 : Math.max(0, at - decidingSince) / 1000)
    }
  }
}

/** Makes the metrics of the processes in which an isolated plugin works, one for each workspace. */
function cellMetrics({ gauge, total }: Pick<Meters, 'gauge' | 'total'>): (plugin: string, state: CellsState) => void {
  const processes = gauge(
    'plugin_processes',
    'Number of processes of an isolated plugin: they take calls, or work on some now',
    ['plugin', 'state'],
  )
  const waiting = gauge('plugin_calls_waiting', 'Number of calls that wait for a process of the plugin', ['plugin'])
  const starts = total('plugin_process_starts_total', 'How many processes of the plugin were started', ['plugin'])
  const evictions = total(
    'plugin_process_evictions_total',
    'How many processes of the plugin were ended, as another workspace needed the place, or after long idleness',
    ['plugin'],
  )
  return (plugin, state) => {
    processes.set({ plugin, state: 'running' }, state.running)
    processes.set({ plugin, state: 'working' }, state.working)
    waiting.set({ plugin }, state.waiting)
    starts.set({ plugin }, state.starts)
    evictions.set({ plugin }, state.evictions)
  }
}
