/** The log: an append-only Merkle tree of receipts, the keys that sign it, and the guard that keeps a host from forking it. */

import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { claims } from '../../storage/claim-row.ts'
import {
  eraseEvidence,
  eraseReceipts,
  evidence,
  receipts,
  sealedSigningKeys,
  signingKeys,
  tiles,
} from '../../storage/log.ts'
import { hosts } from '../../storage/log-hosts.ts'
import { logs, treeHeads } from '../../storage/log-state.ts'
import { lostReceipts } from '../../storage/lost-receipts.ts'
import { signingKeyContext } from '../../storage/sealed-contexts.ts'
import type { ClockWatch } from '../clock/clock-watch.ts'
import { addLogCommands } from './commands/log.ts'
import { addSigningKeyCommands } from './commands/signing-key.ts'
import { logConfig } from './config.ts'
import type { DurabilityWarnings } from './durability-warnings.ts'
import type { LogService } from './log.ts'
import type { LogArchives } from './log-archives.ts'
import type { LogGuard } from './log-guard.ts'
import type { LogWatch } from './log-watch.ts'
import type { LogWitness } from './log-witness.ts'
import type { LogMemories } from './memory/memories.ts'
import { logMetrics } from './metrics.ts'
import { logMigrations } from './migrations.ts'
import type { Sequencer } from './sequencer.ts'
import type { KeyVault, SigningKeys } from './signing/signing-keys.ts'

export interface Services extends Pick<HostServices, 'storage'> {
  readonly clockWatch: ClockWatch
  readonly signingKeys: SigningKeys
  readonly logGuard: LogGuard
  readonly logWatch: LogWatch
  readonly logWitness: LogWitness
  readonly durabilityWarnings: DurabilityWarnings
  readonly logMemories: Pick<LogMemories, 'close'>
  readonly vault: KeyVault
  readonly sequencer: Sequencer
  readonly log: LogService
  readonly archives: LogArchives
  readonly keyDocument: () => Promise<object | string>
}

export const logFeature = {
  name: 'log',
  needs: ['clock'],
  stored: {
    tables: [
      { table: signingKeys },
      {
        table: sealedSigningKeys,
        // The key vaults hand private keys over.
        isCopied: false,
        owners: { key_id: signingKeys },
        sealed: { sealed: ([keyId]) => signingKeyContext(keyId!) },
      },
      { table: logs },
      { table: hosts, isCopied: false, isShared: true },
      { table: treeHeads, refersTo: [logs, signingKeys] },
      { table: receipts, refersTo: [claims], erase: eraseReceipts },
      { table: evidence, refersTo: [receipts], erase: eraseEvidence },
      { table: tiles },
      { table: lostReceipts },
    ] as const,
    migrations: logMigrations,
  },
  auditWords: {
    'log.acknowledged': 'let the log go on that a client had stopped',
    'log.closed': 'closed the log for its last backup, in which it goes on elsewhere',
    'log.host_forgotten': 'had hosts wait no more for one that is gone',
    'log.reopened': 'let the log go on whose last backup or copy did not end',
    'log.resumed': 'let the log go on in a database that was restored or moved',
    'log.begun': 'ended the log, and began a new one',
    'signing_key.rotated': 'replaced the key that signs receipts',
  },
  config: logConfig,
  services: async () => (await import('./services.ts')).services,
  closes: ['signedReceipts'],
  async prepare({ storage, signingKeys, logWatch, clockWatch, durabilityWarnings }) {
    const hasLog = (await storage.read.log.state()) !== undefined
    // What a log begins with stays.
    await (hasLog ? clockWatch.compare() : clockWatch.requireTime())
    await signingKeys.ensureLog()
    await logWatch.begin()
    await durabilityWarnings.current()
  },
  access: ({ logWitness }) => ({ treeHeads: logWitness }),
  workers: ({ logWatch }) => [logWatch],
  async idle({ sequencer, logMemories, logWitness }) {
    await logWitness.idle()
    await sequencer.idle()
    await logMemories.close()
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
