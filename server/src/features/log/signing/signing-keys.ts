/** The signing keys of the log: the current one, the retired ones, and how a new key replaces the current one. */

import type { AnchorIdentity } from '@claimcheck/core/hosting'
import { logIdOf, signTreeHead } from '@claimcheck/core/log'
import { type KeyDocument, type Signer, toBase64url } from '@claimcheck/core/receipts'
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../../base/actor.ts'
import { ServiceError } from '../../../base/errors.ts'
import type { HostConfig } from '../../../config/config.ts'
import type { SigningKeyRow } from '../../../storage/log.ts'
import type { LogState, TreeHeadRow } from '../../../storage/log-state.ts'
import type { Reads, Storage, Writes } from '../../../storage/storage.ts'
import type { LogConfig } from '../config.ts'
import type { LogGuard } from '../log-guard.ts'
import { SHA256_TREE } from '../log-rows.ts'
import { toEntry } from './signed-heads.ts'

/** In the signing backend, where one is configured; or as without one. */
export type KeyLocation = 'configured' | 'stored'

/** Where sealed keys are read: a transaction must not wait for a second connection. */
export type SealedKeyRows = Pick<Reads['log'], 'sealedKey'>

/** Creates and loads private keys. */
export interface KeyVault {
  /** Generates a key and stores it, before it returns or with the transaction. @param location `stored` also where a signing backend is configured */
  create(tx: Writes, location?: KeyLocation): Promise<Signer>
  /** @param rows of the transaction in which it is loaded @throws SigningError when the key is missing; the log cannot continue without it */
  load(keyId: string, rows?: SealedKeyRows): Promise<Signer>
  /** Seals the keys that are stored in the clear, where the configuration has a key for that. @throws SigningError */
  secure(): Promise<void>
  /** Why the current key does not sign now; undefined where it does. */
  problem(): Promise<string | undefined>
}

export type SigningKeys = ReturnType<typeof createSigningKeys>

interface SigningKeysOptions {
  readonly storage: Storage
  readonly vault: KeyVault
  readonly logGuard: LogGuard
  readonly now: () => Instant
  readonly config: Pick<HostConfig, 'publicUrl'> & Pick<LogConfig, 'issuerName'>
}

export function createSigningKeys({ storage, vault, logGuard, now, config }: SigningKeysOptions) {
  /** Those that were loaded, by key id. */
  const signers = new Map<string, Promise<Signer>>()
  /** The current one, as far as this host knows. */
  let latestKeyId: string | undefined

  function signer(keyId: string, rows?: SealedKeyRows): Promise<Signer> {
    latestKeyId = keyId
    const known = signers.get(keyId)
    if (known) return known
    const loaded = vault.load(keyId, rows)
    signers.set(keyId, loaded)
    loaded.catch(() => signers.delete(keyId))
    return loaded
  }

  /** Creates a new key, and retires the current one. */
  async function replaceKey(tx: Writes, log: LogState, location?: KeyLocation) {
    // Only a host that has the current key may replace it.
    await signer(log.keyId, tx.log)
    const next = await vault.create(tx, location)
    // The old key's window ends here, after everything that it signed.
    const issuedAt = Math.max(now(), log.issuedAt + 1)
    await tx.log.insertSigningKey(toRow(next, issuedAt))
    await tx.log.retireSigningKey(log.keyId, issuedAt)
    return { next, issuedAt }
  }

  async function begin(tx: Writes, key: Signer, issuedAt: Instant): Promise<LogState> {
    const name = logNameOf(key, issuedAt)
    const log = { logId: logIdOf(name), name, ...EMPTY_LOG, issuedAt, keyId: key.keyId }
    await tx.log.create(await signed(log, key), logGuard.file())
    return (await tx.log.state())!
  }

  return {
    /** @param rows of the transaction that needs it @throws SigningError when the key is missing */
    signer,
    /** The current signer as far as this host knows: another host may have rotated the key. */
    latest: async (): Promise<Signer> => signer(latestKeyId ?? (await storage.read.log.state())!.keyId),
    /** Creates the log with its first key and a signed empty head, unless the log exists. @throws SigningError */
    async ensureLog(): Promise<void> {
      const state = await storage.read.log.state()
      if (state) {
        // Reports a missing key at the start, and not at the first decision.
        await signer(state.keyId)
        await vault.secure()
        return
      }
      const begun = await storage.write(async (tx) => {
        await tx.log.lockCreation()
        if (await tx.log.state()) return undefined
        const first = await vault.create(tx)
        const issuedAt = now()
        await tx.log.insertSigningKey(toRow(first, issuedAt))
        return begin(tx, first, issuedAt)
      })
      if (!begun) return
      try {
        // The log is this host's: it need not ask others for what was signed before.
        logGuard.rememberBegun(begun)
      } catch (error) {
        // Nothing is signed meanwhile, and readiness says why.
        if (!(error instanceof ServiceError)) throw error
      }
    },
    /** Replaces the signing key. The old key's window ends when the new key's window begins. @param by by default the command line */
    async rotate(by: Acting = byCommand(), location?: KeyLocation) {
      const { before, after } = await storage.write(async (tx) => {
        const before = (await tx.log.lock())!
        await logGuard.check(before, tx.log)
        const { next, issuedAt } = await replaceKey(tx, before, location)
        const after = { ...before, number: before.number + 1, issuedAt, keyId: next.keyId }
        await tx.log.insertHead(await signed(after, next))
        const about = { subject: after.keyId, details: { retired_key_id: before.keyId } }
        tx.audit.record({ event: 'signing_key.rotated', at: now(), by, ...about })
        return { before, after }
      })
      await logGuard.rememberBeside(after)
      return { keyId: after.keyId, retiredKeyId: before.keyId }
    },
    /**
     * Ends this log, after its newest entries are lost, and begins another one with its entries and a new key.
     * @param by by default the command line
     * @returns `lost`: the receipts that hosts are known to have signed for the log that ended, and that it lacks
     * @throws ServiceError `not_found` when no log exists, `read_only` when the stored log is damaged
     */
    async beginLog(by: Acting = byCommand()) {
      const { ended, log, lost } = await storage.write(async (tx) => {
        const ended = await tx.log.lock()
        if (!ended) throw new ServiceError('not_found', 'there is no log yet: start the service once to create it')
        await logGuard.checkStored(ended, tx.log)
        const { next, issuedAt } = await replaceKey(tx, ended)
        await tx.log.end(ended.logId, issuedAt)
        const other = logGuard.rememberedOther(ended)
        if (other) await tx.log.insertEnded(other, issuedAt)
        const log = await begin(tx, next, issuedAt)
        const lost = await logGuard.lost(tx, ended.logId)
        const details = { ended_log_id: ended.logId, tree_size: ended.treeSize, lost_receipts: lost.length }
        const about = { subject: log.logId, details }
        tx.audit.record({ event: 'log.begun', at: now(), by, ...about })
        return { ended, log, lost }
      })
      logGuard.remember(log)
      return { log, ended, lost }
    },
    /**
     * The content of `/.well-known/poaw-keys.json`.
     * @param current of the anchorer that is configured: its anchors count before the first of them is final
     */
    async document(current?: AnchorIdentity): Promise<KeyDocument> {
      const { log, anchors } = storage.read
      const [state, keys, identities] = await Promise.all([log.state(), log.signingKeys(), anchors.identities()])
      const all = current ? [...identities, current] : identities
      return {
        issuer: config.issuerName ?? config.publicUrl ?? 'claimcheck',
        log_id: state!.logId,
        keys: keys.map(toEntry),
        anchor_addresses: unique(all.map(({ attester }) => attester)),
        anchor_schemas: unique(all.map(({ schema }) => schema)),
      }
    },
  }
}

async function signed<L extends TreeHeadState>(log: L, by: Signer): Promise<L & Pick<TreeHeadRow, 'signed'>> {
  return { ...log, signed: JSON.stringify(await signTreeHead(by, log)) }
}

type TreeHeadState = Omit<TreeHeadRow, 'signed'> & Pick<LogState, 'name'>

const EMPTY_LOG = { number: 0, treeSize: 0, rootHash: SHA256_TREE.empty }

/**
 * Names a log after its first key and its beginning, so that no two logs have the same id: a token that outlives the database gives its key
 * to the log that begins then.
 */
function logNameOf({ keyId }: Signer, beginning: Instant): string {
  return `claimcheck/${keyId}/${formatInstant(beginning)}`
}

function toRow({ keyId, publicKey }: Signer, validFrom: Instant): SigningKeyRow {
  return { keyId, publicKey: toBase64url(publicKey), validFrom, revokedAt: null }
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}
