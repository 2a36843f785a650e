/** Warns of what would lose receipts in a disaster: settings of the database, and a memory of the newest head that cannot be written. */
import type { FastifyBaseLogger } from 'fastify'
import type { HostConfig } from '../../config/config.ts'
import type { Durability } from '../../storage/durability.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogConfig } from './config.ts'
import { apartFolderOf } from './memory/folder-memories.ts'
import type { LogMemories } from './memory/memories.ts'

/** As metrics name them. */
export const DURABILITY_RISKS = [
  'fsync',
  'full_page_writes',
  'synchronous_commit',
  'standby',
  'system_hidden',
  'head_memory',
  'no_head_memory',
] as const
type Risk = (typeof DURABILITY_RISKS)[number]

export type DurabilityWarnings = ReturnType<typeof createDurabilityWarnings>

interface DurabilityWarningsOptions {
  readonly storage: Pick<Storage, 'read' | 'shared'>
  readonly logMemories: Pick<LogMemories, 'problem'>
  readonly config: Pick<HostConfig, 'dataDir' | 'databaseUrl'> & Pick<LogConfig, 'headMemory' | 'remoteMemory'>
  readonly logger: Pick<FastifyBaseLogger, 'warn'>
}

const EVERY_MS = 10_000

export function createDurabilityWarnings({ storage, logMemories, config, logger }: DurabilityWarningsOptions) {
  const { shared, read } = storage
  const said = new Set<string>()
  const hasMemory = config.remoteMemory !== undefined || apartFolderOf(config) !== undefined
  let found = new Map<Risk, string>()
  let readAt = Number.NEGATIVE_INFINITY

  async function ofDatabase(): Promise<Map<Risk, string>> {
    if (!shared || performance.now() - readAt < EVERY_MS) return found
    readAt = performance.now()
    // Readiness says by itself that the database is away.
    const durability = await shared.durability().catch(() => undefined)
    if (!durability) return found
    found = warningsOf(durability)
    const hosts = await shared.logHosts.all().catch(() => [])
    if (!hasMemory && hosts.filter(({ isAlive }) => isAlive).length < 2) found.set('no_head_memory', NO_WITNESS)
    if ((await read.log.system()) === undefined) found.set('system_hidden', SYSTEM_HIDDEN)
    return found
  }

  return {
    /** What was found some seconds ago at most; in an outage, what was found before. */
    async current(): Promise<ReadonlyMap<Risk, string>> {
      const warnings = new Map(await ofDatabase())
      const problem = logMemories.problem()
      if (!hasMemory && !shared) warnings.set('no_head_memory', NO_MEMORY)
      if (problem !== undefined) warnings.set('head_memory', problem)
      for (const warning of warnings.values()) {
        if (!said.has(warning)) logger.warn({ warning }, 'a disaster may lose receipts')
        said.add(warning)
      }
      return warnings
    },
  }
}

const NO_MEMORY =
  'nothing outside of DATA_DIR remembers the newest entry of the log: where DATA_DIR is restored as a whole, the loss stays unnoticed. Name a folder on another disk, or a URL, in HEAD_MEMORY'
const NO_WITNESS =
  'nothing outside of DATA_DIR remembers the newest entry of the log, and no other host runs: where the database and DATA_DIR are restored together, the loss stays unnoticed. Name a folder on another disk, or a URL, in HEAD_MEMORY'
const SYSTEM_HIDDEN =
  'the database does not tell its system identifier and timeline: after a failover hosts compare what they remember with the log as always, and cannot name what happened'

/** @returns what may lose receipts that clients hold */
export function warningsOf(durability: Durability): Map<Risk, string> {
  const { fsync, fullPageWrites, synchronousCommit, synchronousNames, standbys, hidden, synchronous } = durability
  const warnings = new Map<Risk, string>()
  if (fsync === 'off') warnings.set('fsync', 'fsync is off: when the machine of the database fails, receipts are lost')
  if (fullPageWrites === 'off')
    warnings.set(
      'full_page_writes',
      'full_page_writes is off: when the machine of the database fails, the database may be damaged',
    )
  if (synchronousCommit === 'off')
    warnings.set('synchronous_commit', 'synchronous_commit is off: when the database fails, the last receipts are lost')
  if (standbys === 0 || synchronous > 0) {
    if (synchronous > 0 && synchronousCommit === 'local')
      warnings.set('synchronous_commit', 'synchronous_commit is local: a promoted standby may lack the last receipts')
    return warnings
  }
  if (hidden === 0 || synchronousNames === '')
    warnings.set('standby', 'no standby is synchronous: one that is promoted may lack the last receipts')
  else
    warnings.set(
      'standby',
      'whether a standby is synchronous is hidden from this database user: let it see that with GRANT pg_monitor TO the user',
    )
  return warnings
}
