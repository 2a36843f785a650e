/** The metrics of the log: its size, its last append, and what keeps this host from signing. */
import type { Watch } from '../../host/monitoring.ts'
import type { Storage } from '../../storage/storage.ts'
import { DURABILITY_RISKS, type DurabilityWarnings } from './durability-warnings.ts'
import type { LogGuard } from './log-guard.ts'
import type { LogWitness } from './log-witness.ts'
import type { KeyVault } from './signing/signing-keys.ts'

interface Services {
  readonly storage: Pick<Storage, 'read'>
  readonly logGuard: Pick<LogGuard, 'problem'>
  readonly vault: Pick<KeyVault, 'problem'>
  readonly durabilityWarnings: Pick<DurabilityWarnings, 'current'>
  readonly logWitness: Pick<LogWitness, 'totals'>
}

export function logMetrics({ storage, logGuard, vault, durabilityWarnings, logWitness }: Services): Watch {
  return ({ gauge, total }) => {
    const readOnly = gauge('host_read_only', '1 while this host is read-only because signing could fork the log')
    const signerAway = gauge('signer_away', '1 while the signing key does not sign, and decided claims wait for it')
    const atRisk = gauge('durability_at_risk', '1 while a disaster may lose receipts, by reason', ['reason'])
    const contradicted = gauge('log_contradicted', '1 while the database lacks what was signed, and no host appends')
    const treeSize = gauge('log_tree_size', 'Number of entries in the log')
    const lastAppend = gauge('log_last_append_timestamp_seconds', 'Unix time of the newest entry in the log')
    const heard = total('tree_heads_heard_total', 'Heads of the log that clients sent, by what was found', ['outcome'])
    return async () => {
      // First what needs no database.
      readOnly.set(Number(logGuard.problem() !== undefined))
      for (const [outcome, count] of logWitness.totals()) heard.set({ outcome }, count)
      signerAway.set(Number((await vault.problem()) !== undefined))
      const warnings = await durabilityWarnings.current()
      for (const reason of DURABILITY_RISKS) atRisk.set({ reason }, Number(warnings.has(reason)))
      const log = await storage.read.log.state()
      contradicted.set(Number(log !== undefined && log.contradictedBy !== null))
      treeSize.set(log?.treeSize ?? 0)
      if (log) lastAppend.set(log.issuedAt / 1000)
    }
  }
}
