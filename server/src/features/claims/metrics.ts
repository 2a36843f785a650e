/** The metrics of this host's checks and plugins. */
import type { Instant } from '@claimcheck/core/rules'
import type { Meters } from '../../base/meters.ts'
import type { Watch } from '../../host/monitoring.ts'
import type { LoadedPlugin, Registry } from '../../plugins/registry.ts'
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
    const showPlugin = pluginMetrics({ gauge, total })

    return async () => {
      for (const plugin of plugins) showPlugin(plugin)
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
      deciding.set(Math.max(0, at - (decidingSince ?? at)) / 1000)
    }
  }
}

/** Makes the metrics of a plugin, and of the processes in which an isolated one works, one for each workspace. */
function pluginMetrics({ gauge, total }: Pick<Meters, 'gauge' | 'total'>): (plugin: LoadedPlugin) => void {
  const restarts = total('plugin_restarts_total', 'How often the process of a plugin was started again', ['plugin'])
  const isRunning = gauge('plugin_running', '1 while a plugin takes checks on this host', ['plugin'])
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
  return ({ name: plugin, parts }) => {
    const state = parts.state()
    restarts.set({ plugin }, state.restarts)
    isRunning.set({ plugin }, Number(state.status === 'running'))
    if (!state.cells) return
    processes.set({ plugin, state: 'running' }, state.cells.running)
    processes.set({ plugin, state: 'working' }, state.cells.working)
    waiting.set({ plugin }, state.cells.waiting)
    starts.set({ plugin }, state.cells.starts)
    evictions.set({ plugin }, state.cells.evictions)
  }
}
