/** The signing keys of the log: the current one, the retired ones, and how a new key replaces the current one. */

import { logIdOf, signTreeHead } from '@claimcheck/core/log'
import type { AnchorIdentity } from '@claimcheck/core/plugin'
import { type KeyDocument, type Signer, toBase64url } from '@claimcheck/core/receipts'
import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../../base/actor.ts'
import { ServiceError } from '../../../base/errors.ts'
import type { HostConfig } from '../../../config/config.ts'
import type { SigningKeyRow } from '../../../storage/log.ts'
import type { LogState, TreeHeadRow } from '../../../storage/log-state.ts'
import type { LostReceiptRow } from '../../../storage/lost-receipts.ts'
import type { Reads, Storage, Writes } from '../../../storage/storage.ts'
import type { LogConfig } from '../config.ts'
import type { LogGuard } from '../log-guard.ts'
import { SHA256_TREE } from '../stored-log.ts'
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

/** @param by who does it; by default the command line */
export interface SigningKeys {
  /** Creates the log with its first key and a signed empty head, unless the log exists. @throws SigningError */
  ensureLog(): Promise<void>
  /** @param rows of the transaction that needs it @throws SigningError when the key is missing */
  signer(keyId: string, rows?: SealedKeyRows): Promise<Signer>
  /** The current signer as far as this host knows: another host may have rotated the key. */
  latest(): Promise<Signer>
  /** Replaces the signing key. The old key's window ends when the new key's window begins. */
  rotate(by?: Acting, location?: KeyLocation): Promise<{ readonly keyId: string; readonly retiredKeyId: string }>
  /**
   * Ends this log, after its newest entries are lost, and begins another one with its entries and a new key.
   * @throws ServiceError `not_found` when no log exists, `read_only` when the stored log is damaged
   */
  beginLog(by?: Acting): Promise<{
    readonly log: LogState
    readonly ended: LogState
    /** Receipts that hosts are known to have signed for the log that ended, and that it lacks. */
    readonly lost: readonly LostReceiptRow[]
  }>
  /**
   * The content of `/.well-known/poaw-keys.json`.
   * @param current of the anchorer that is configured: its anchors count before the first of them is final
   */
  document(current?: AnchorIdentity): Promise<KeyDocument>
}

interface SigningKeysOptions {
  readonly storage: Storage
  readonly vault: KeyVault
  readonly logGuard: LogGuard
  readonly now: () => Instant
  readonly config: Pick<HostConfig, 'publicUrl'> & Pick<LogConfig, 'issuerName'>
}

interface Keys extends SigningKeysOptions {
  /** Those that were loaded, by key id. */
  readonly signers: Map<string, Promise<Signer>>
  /** The current one, as far as this host knows. */
  latestKeyId: string | undefined
}

export function createSigningKeys({ storage, vault, logGuard, now, config }: SigningKeysOptions): SigningKeys {
  const keys: Keys = { storage, vault, logGuard, now, config, signers: new Map(), latestKeyId: undefined }
  return {
    signer: (keyId, rows) => signer(keys, keyId, rows),
    latest: async () => signer(keys, keys.latestKeyId ?? (await storage.read.log.state())!.keyId),
    ensureLog: () => ensureLog(keys),
    rotate: (by = byCommand(), location) => rotate(keys, by, location),
    beginLog: (by = byCommand()) => beginLog(keys, by),
    document: (current) => document(keys, current),
  }
}

function signer(keys: Keys, keyId: string, rows?: SealedKeyRows): Promise<Signer> {
  const { signers, vault } = keys
  keys.latestKeyId = keyId
  const known = signers.get(keyId)
  if (known) return known
  const loaded = vault.load(keyId, rows)
  signers.set(keyId, loaded)
  loaded.catch(() => signers.delete(keyId))
  return loaded
}

async function ensureLog(keys: Keys): Promise<void> {
  const { storage, vault, logGuard, now } = keys
  const state = await storage.read.log.state()
  if (state) {
    // Reports a missing key at the start, and not at the first decision.
    await signer(keys, state.keyId)
    await vault.secure()
    return
  }
  const begun = await storage.write(async (tx) => {
    await tx.log.lockCreation()
    if (await tx.log.state()) return undefined
    const first = await vault.create(tx)
    const issuedAt = now()
    await tx.log.insertSigningKey(toRow(first, issuedAt))
    return begin(keys, tx, first, issuedAt)
  })
  if (!begun) return
  try {
    // The log is this host's: it need not ask others for what was signed before.
    logGuard.rememberBegun(begun)
  } catch (error) {
    // Nothing is signed meanwhile, and readiness says why.
    if (!(error instanceof ServiceError)) throw error
  }
}

async function rotate(keys: Keys, by: Acting, location?: KeyLocation): ReturnType<SigningKeys['rotate']> {
  const { storage, logGuard, now } = keys
  const { before, after } = await storage.write(async (tx) => {
    const before = (await tx.log.lock())!
    await logGuard.check(before, tx.log)
    const { by: next, issuedAt } = await replaceKey(keys, tx, before, location)
    const after = { ...before, number: before.number + 1, issuedAt, keyId: next.keyId }
    await tx.log.insertHead(await signed(after, next))
    const about = { subject: after.keyId, details: { retired_key_id: before.keyId } }
    tx.audit.record({ event: 'signing_key.rotated', at: now(), by, ...about })
    return { before, after }
  })
  await logGuard.rememberBeside(after)
  return { keyId: after.keyId, retiredKeyId: before.keyId }
}

async function beginLog(keys: Keys, by: Acting): ReturnType<SigningKeys['beginLog']> {
  const { storage, logGuard, now } = keys
  const { ended, log, lost } = await storage.write(async (tx) => {
    const ended = await tx.log.lock()
    if (!ended) throw new ServiceError('not_found', 'there is no log yet: start the service once to create it')
    await logGuard.checkStored(ended, tx.log)
    const { by: next, issuedAt } = await replaceKey(keys, tx, ended)
    await tx.log.end(ended.logId, issuedAt)
    const other = logGuard.rememberedOther(ended)
    if (other) await tx.log.insertEnded(other, issuedAt)
    const log = await begin(keys, tx, next, issuedAt)
    const lost = await logGuard.lost(tx, ended.logId)
    const details = { ended_log_id: ended.logId, tree_size: ended.treeSize, lost_receipts: lost.length }
    const about = { subject: log.logId, details }
    tx.audit.record({ event: 'log.begun', at: now(), by, ...about })
    return { ended, log, lost }
  })
  logGuard.remember(log)
  return { log, ended, lost }
}

async function document({ storage, config }: Keys, current?: AnchorIdentity): Promise<KeyDocument> {
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
}

/** Creates a new key, and retires the current one. */
async function replaceKey(
  keys: Keys,
  tx: Writes,
  log: LogState,
  location?: KeyLocation,
): Promise<{ by: Signer; issuedAt: Instant }> {
  // Only a host that has the current key may replace it.
  await signer(keys, log.keyId, tx.log)
  const by = await keys.vault.create(tx, location)
  // The old key's window ends here, after everything that it signed.
  const issuedAt = Math.max(keys.now(), log.issuedAt + 1)
  await tx.log.insertSigningKey(toRow(by, issuedAt))
  await tx.log.retireSigningKey(log.keyId, issuedAt)
  return { by, issuedAt }
}

async function begin({ logGuard }: Keys, tx: Writes, by: Signer, issuedAt: Instant): Promise<LogState> {
  const name = logNameOf(by, issuedAt)
  const log = { logId: logIdOf(name), name, ...EMPTY_LOG, issuedAt, keyId: by.keyId }
  await tx.log.create(await signed(log, by), logGuard.file())
  return (await tx.log.state())!
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
