/** The metrics of the host itself: its build, process, readiness and database connections. */
import { statfs } from 'node:fs/promises'
import { memoryLimit, memoryTaken } from '../../base/memory.ts'
import type { Meters } from '../../base/meters.ts'
import { settledWithin } from '../../base/time-limit.ts'
import { VERSION } from '../../base/version.ts'
import type { Readiness, Watch } from '../../host/monitoring.ts'
import type { Storage } from '../../storage/storage.ts'

interface HostMetricsParts {
  readonly config: { readonly dataDir: string }
  readonly readiness: () => Promise<Readiness>
  readonly storage: Pick<Storage, 'driver' | 'use' | 'writing'>
}

/** The time limit of the readiness. A database that is away delays it for longer. */
const LONGEST_READINESS_MS = 2_500
const SILENT: Readiness = { ok: false, problems: [], reasons: ['database'], warnings: [] }

export function hostMetrics({ config, readiness, storage }: HostMetricsParts): Watch {
  return (meters) => {
    meters.addDefaults()
    const build = meters.gauge('build_info', '1, labelled with what runs', ['version', 'node', 'driver'])
    build.set({ version: VERSION, node: process.version, driver: storage.driver }, 1)
    const memory = meters.gauge('memory_limit_bytes', 'Memory that this process may take, by its container or machine')
    memory.set(memoryLimit())
    const taken = meters.gauge('memory_taken_bytes', 'Memory that this process takes, without mapped files')
    const size = meters.gauge('disk_size_bytes', 'Size of the disk of DATA_DIR')
    const free = meters.gauge('disk_free_bytes', 'Room on that disk')
    const ready = meters.gauge('ready', '1 while claims can be stored, as /readyz says')
    const notReady = meters.gauge('not_ready', '1 for each part that keeps claims from being stored', ['reason'])
    const readDatabase = databaseMetrics(meters, storage)
    return async () => {
      readDatabase()
      taken.set(memoryTaken())
      const disk = await statfs(config.dataDir).catch(() => undefined)
      if (disk) {
        size.set(disk.bsize * disk.blocks)
        free.set(disk.bsize * disk.bavail)
      }
      const { ok, reasons } = (await settledWithin(readiness(), LONGEST_READINESS_MS)) ?? SILENT
      ready.set(ok ? 1 : 0)
      notReady.reset()
      for (const reason of reasons) notReady.set({ reason }, 1)
    }
  }
}

function databaseMetrics({ gauge, total }: Meters, { use, writing }: HostMetricsParts['storage']): () => void {
  const connections = gauge('database_connections', 'Number of open database connections, by state', ['pool', 'state'])
  const most = gauge('database_connections_max', 'Most database connections that this host opens', ['pool'])
  const waiting = gauge('database_pool_waiting', 'Number of statements and transactions that wait for a connection', [
    'pool',
  ])
  const waited = total('database_pool_wait_seconds_total', 'How long statements waited for a connection, together')
  const errors = total(
    'database_errors_total',
    'How often the database was unavailable, by the code of its answer; `connection`: it gave none',
    ['code'],
  )
  const pending = gauge('database_write_pending_seconds', 'How long the oldest write under way has taken; 0: none is')
  return () => {
    const state = use()
    for (const [pool, { used, idle, waiting: queued, most: limit }] of Object.entries(state.pools)) {
      connections.set({ pool, state: 'used' }, used)
      connections.set({ pool, state: 'idle' }, idle)
      most.set({ pool }, limit)
      waiting.set({ pool }, queued)
    }
    waited.set({}, state.waitedMs / 1000)
    for (const [code, count] of state.errors) errors.set({ code }, count)
    const since = writing.pendingSince()
    pending.set(since === undefined ? 0 : (performance.now() - since) / 1000)
  }
}
