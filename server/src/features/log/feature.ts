/** The log: an append-only Merkle tree of receipts, the keys that sign it, and the guard that keeps a host from forking it. */

import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import type { ClockWatch } from '../clock/clock-watch.ts'
import { logAuditWords } from './audit-words.ts'
import { addLogCommands } from './commands/log.ts'
import { addSigningKeyCommands } from './commands/signing-key.ts'
import { logConfig } from './config.ts'
import type { DurabilityWarnings } from './durability-warnings.ts'
import type { LogService } from './log.ts'
import type { LogArchives } from './log-archives.ts'
import type { LogGuard } from './log-guard.ts'
import type { LogWatch } from './log-watch.ts'
import { logMetrics } from './metrics.ts'
import type { Sequencer } from './sequencer.ts'
import type { RemoteMemory } from './signing/remote-memory.ts'
import type { KeyVault, SigningKeys } from './signing/signing-keys.ts'
import { logStored } from './stored.ts'

export interface Services extends Pick<HostServices, 'storage'> {
  readonly clockWatch: ClockWatch
  readonly signingKeys: SigningKeys
  readonly logGuard: LogGuard
  readonly logWatch: LogWatch
  readonly durabilityWarnings: DurabilityWarnings
  readonly remoteMemory: RemoteMemory
  readonly vault: KeyVault
  readonly sequencer: Sequencer
  readonly log: LogService
  readonly archives: LogArchives
  readonly keyDocument: () => Promise<object | string>
}

export const logFeature = {
  name: 'log',
  needs: ['clock'],
  stored: logStored,
  auditWords: logAuditWords,
  config: logConfig,
  services: async () => {
    const { services } = await import('./services.ts')
    return services
  },
  closes: ['signedReceipts'],
  async prepare({ storage, signingKeys, logWatch, clockWatch, durabilityWarnings }) {
    const hasLog = (await storage.read.log.state()) !== undefined
    // What a log begins with stays.
    await (hasLog ? clockWatch.compare() : clockWatch.requireTime())
    await signingKeys.ensureLog()
    await logWatch.begin()
    await durabilityWarnings.current()
  },
  workers: ({ logWatch }) => [logWatch],
  async idle({ sequencer, remoteMemory }) {
    await sequencer.idle()
    await remoteMemory.flush()
  },
  routes: async ({ log, keyDocument }) => {
    const [{ logRoutes }, { keyRoutes }] = await Promise.all([import('./routes/log.ts'), import('./routes/keys.ts')])
    return [
      { scope: 'public', cost: 'log', add: (app) => logRoutes(app, log) },
      { scope: 'public', cost: 'log', add: (app) => keyRoutes(app, keyDocument) },
    ]
  },
  async readiness({ storage, logGuard, vault }) {
    await storage.read.log.state()
    const problem = logGuard.problem()
    if (problem !== undefined) return { problem: `read-only: ${problem}`, serves: false }
    const unsigned = await vault.problem()
    if (unsigned !== undefined) return { problem: `claims wait for a signature: ${unsigned}`, serves: true }
    if (!storage.isReplicaAway()) return undefined
    return { problem: 'the replica does not answer, or has another log: reads go to the primary', serves: true }
  },
  warnings: async ({ durabilityWarnings }) => [...(await durabilityWarnings.current()).values()],
  metrics: logMetrics,
  commands(program, withServices) {
    addSigningKeyCommands(program, withServices)
    addLogCommands(program, withServices)
  },
} satisfies Feature<Services>
