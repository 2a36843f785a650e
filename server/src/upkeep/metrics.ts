/** The metrics of the log, its anchors, and this host's checks and plugins for Prometheus. They name no workspace, and nothing that belongs to one. */
import type { Instant } from '@claimcheck/core'
import { Gauge, Registry } from 'prom-client'
import type { Anchoring } from '../anchoring/anchoring.ts'
import type { Admission } from '../claims/admission.ts'
import type { DueClaims } from '../claims/due-claims.ts'
import type { Lateness } from '../claims/lateness.ts'
import type { Clock } from '../hosts/clock.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { KeyVault } from '../log/signing/signing-keys.ts'
import type { Registry as Plugins } from '../plugins/registry.ts'
import type { Storage } from '../storage/storage.ts'

export interface Metrics {
  readonly contentType: string
  /** The current values. @throws StorageError `unavailable` */
  text(): Promise<string>
}

interface MetricsOptions {
  readonly anchoring: Pick<Anchoring, 'problem'> | undefined
  readonly storage: Pick<Storage, 'read'>
  /** Of plugins. */
  readonly registry: Pick<Plugins, 'plugins'>
  readonly logGuard: Pick<LogGuard, 'problem'>
  readonly vault: Pick<KeyVault, 'problem'>
  readonly clock: Pick<Clock, 'doubt'>
  readonly admission: Pick<Admission, 'state'>
  readonly dueClaims: Pick<DueClaims, 'waiting'>
  readonly lateness: Pick<Lateness, 'state'>
  readonly now: () => Instant
}

export function createMetrics(options: MetricsOptions): Metrics {
  const { anchoring, storage, logGuard, vault, clock, admission, dueClaims, lateness, now } = options
  const { plugins } = options.registry
  const registry = new Registry()
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[] = []) =>
    new Gauge({ name: `claimcheck_${name}`, help, labelNames, registers: [registry] })

  const treeSize = gauge('log_tree_size', 'Number of entries in the log')
  const anchoredSize = gauge('log_anchored_tree_size', 'Number of log entries that a landed anchor covers')
  const readOnly = gauge('host_read_only', '1 while this host is read-only because signing could fork the log')
  const signerAway = gauge('signer_away', '1 while the signing key does not sign, and decided claims wait for it')
  const clockDoubted = gauge('clock_doubted', '1 while the time is in doubt, and this host decides and signs nothing')
  const open = gauge(
    'anchor_open',
    '1 for the open anchor, labelled with its state and the problem that blocks it, if any',
    ['state', 'problem'],
  )
  const openSince = gauge('anchor_open_since_seconds', 'Unix time at which the open anchor was planned')
  const dropped = gauge('anchors_dropped', 'Number of anchors that were planned and dropped')
  const problem = gauge('anchoring_problem', "1 for the problem of this host's last attempt to use the chain", [
    'problem',
  ])
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
  const refused = gauge(
    'checks_refused',
    'How often a check found no free slot for its workspace, key and destination, or no request allowance, since this host started',
    ['kind'],
  )
  const late = gauge(
    'closing_read_lateness_seconds',
    'How late closing reads were sent: the latest one, and the largest of the last five to ten minutes',
    ['of'],
  )

  const restarts = gauge(
    'plugin_restarts',
    'How often the process of a plugin was started again, since this host started',
    ['plugin'],
  )
  const isRunning = gauge('plugin_running', '1 while a plugin takes checks on this host', ['plugin'])

  function readPlugins(): void {
    for (const { name: plugin, parts } of plugins) {
      const state = parts.state()
      restarts.set({ plugin }, state.restarts)
      isRunning.set({ plugin }, state.status === 'running' ? 1 : 0)
    }
  }

  async function readChecks(): Promise<void> {
    const { running: byShare, refused: byKind } = admission.state()
    for (const [share, count] of Object.entries(byShare)) running.set({ share }, count)
    for (const [kind, count] of Object.entries(byKind)) refused.set({ kind }, count)
    for (const [kind, count] of Object.entries(await dueClaims.waiting(now()))) waiting.set({ kind }, count)
    const { latestMs, largestMs } = lateness.state()
    late.set({ of: 'latest' }, latestMs / 1000)
    late.set({ of: 'largest' }, largestMs / 1000)
  }

  return {
    contentType: registry.contentType,
    async text() {
      const { anchors } = storage.read
      const [log, anchor, droppedCount] = await Promise.all([
        anchors.log(),
        anchors.open(),
        anchors.droppedCount(),
        readChecks(),
      ])
      readPlugins()
      treeSize.set(log?.treeSize ?? 0)
      anchoredSize.set(log?.anchoredSize ?? 0)
      readOnly.set(logGuard.problem() === undefined ? 0 : 1)
      signerAway.set((await vault.problem()) === undefined ? 0 : 1)
      clockDoubted.set(clock.doubt() === undefined ? 0 : 1)
      dropped.set(droppedCount)
      problem.reset()
      const current = anchoring?.problem()
      if (current !== undefined) problem.set({ problem: current }, 1)
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
