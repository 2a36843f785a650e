/** The keys that sign: which one does now, which ones did, and how one follows another. */
import {
  formatInstant,
  type Instant,
  type KeyDocument,
  type KeyEntry,
  logIdOf,
  type Signer,
  signTreeHead,
  toBase64url,
} from '@claimcheck/core'
import { ServiceError } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import type { SigningKeyRow } from '../../storage/log.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { LogGuard } from '../log-guard.ts'
import { SHA256_TREE } from '../stored-log.ts'

/** Where private keys are kept. */
export interface KeyVault {
  /** Makes a key, and keeps it: before it returns, or with the transaction. */
  create(tx: Writes): Promise<Signer>
  /** @throws SigningError when there is no such key here: the log cannot go on without it */
  load(keyId: string): Promise<Signer>
}

export interface SigningKeys {
  /** Makes the log with its first key and its signed empty head, unless it is there. @throws SigningError */
  ensureLog(): Promise<void>
  /** @throws SigningError when there is no such key here */
  signer(keyId: string): Promise<Signer>
  /** The one that signs, as far as is known here: another host may have changed it. */
  latest(): Promise<Signer>
  /** From now on a new key signs. The old one's window ends in the moment in which the new one's begins. */
  rotate(): Promise<{ readonly keyId: string; readonly retiredKeyId: string }>
  /**
   * Another log goes on with the entries of this one, which ends: for a log whose newest entries are lost. It has a key of its own.
   * @throws ServiceError `not_found` when there is no log, `read_only` when what is stored is damaged
   */
  beginLog(): Promise<{ readonly log: LogState; readonly ended: LogState }>
  /** What `/.well-known/poaw-keys.json` says. */
  document(): Promise<KeyDocument>
}

interface SigningKeysOptions {
  readonly storage: Storage
  readonly vault: KeyVault
  readonly logGuard: LogGuard
  readonly now: () => Instant
  readonly config: Pick<Config, 'issuerName' | 'publicUrl'>
}

export function createSigningKeys({ storage, vault, logGuard, now, config }: SigningKeysOptions): SigningKeys {
  const signers = new Map<string, Promise<Signer>>()
  let latestKeyId: string | undefined

  function signer(keyId: string): Promise<Signer> {
    const known = signers.get(keyId) ?? vault.load(keyId)
    signers.set(keyId, known)
    known.catch(() => signers.delete(keyId))
    latestKeyId = keyId
    return known
  }

  async function signHead(tx: Writes, log: LogState, by: Signer): Promise<void> {
    await tx.log.insertHead({ ...log, signed: JSON.stringify(await signTreeHead(by, log)) })
  }

  /** A new key signs the log as it stands, and what comes next. */
  async function succeed(tx: Writes, log: LogState, nameBy: (signer: Signer) => string): Promise<LogState> {
    // Only who could sign may say who signs next.
    await signer(log.keyId)
    const next = await vault.create(tx)
    // After everything that the old key signed: its window ends here.
    const issuedAt = Math.max(now(), log.issuedAt + 1)
    await tx.log.insertSigningKey(toRow(next, issuedAt))
    await tx.log.retireSigningKey(log.keyId, issuedAt)
    const name = nameBy(next)
    const succeeded = { ...log, logId: logIdOf(name), name, issuedAt, keyId: next.keyId }
    await tx.log.replace(succeeded)
    await signHead(tx, succeeded, next)
    return succeeded
  }

  return {
    signer,
    latest: async () => signer(latestKeyId ?? (await storage.read.log.state())!.keyId),

    async ensureLog() {
      const state = await storage.read.log.state()
      if (state) {
        // Told at the start, not by the first decision that cannot be signed.
        await signer(state.keyId)
        return
      }
      await storage.write(async (tx) => {
        await tx.log.lockCreation()
        if (await tx.log.state()) return
        const first = await vault.create(tx)
        const issuedAt = now()
        await tx.log.insertSigningKey(toRow(first, issuedAt))
        const name = logNameOf(first)
        const empty = { treeSize: 0, rootHash: SHA256_TREE.empty }
        const log = { logId: logIdOf(name), name, ...empty, issuedAt, keyId: first.keyId }
        await tx.log.create(log)
        await signHead(tx, log, first)
      })
    },

    async rotate() {
      const { before, after } = await storage.write(async (tx) => {
        const before = (await tx.log.lock())!
        await logGuard.check(before, tx.log)
        return { before, after: await succeed(tx, before, () => before.name) }
      })
      logGuard.remember(after)
      return { keyId: after.keyId, retiredKeyId: before.keyId }
    },

    async beginLog() {
      const { ended, log } = await storage.write(async (tx) => {
        const ended = await tx.log.lock()
        if (!ended) throw new ServiceError('not_found', 'there is no log yet: the first start makes one')
        await logGuard.checkStored(ended, tx.log)
        const endings = await logGuard.ending(ended, tx.log)
        const log = await succeed(tx, ended, logNameOf)
        for (const { logId, name } of endings) {
          await tx.log.insertRetiredLog({ logId, name, retiredAt: log.issuedAt })
        }
        return { ended, log }
      })
      logGuard.remember(log)
      return { log, ended }
    },

    async document() {
      const { log, anchors } = storage.read
      const [state, keys, identities] = await Promise.all([log.state(), log.signingKeys(), anchors.identities()])
      return {
        issuer: config.issuerName ?? config.publicUrl ?? 'claimcheck',
        log_id: state!.logId,
        keys: keys.map(toEntry),
        anchor_addresses: unique(identities.map(({ attester }) => attester)),
        anchor_schemas: unique(identities.map(({ schema }) => schema)),
      }
    },
  }
}

/** After its first key, so that no two logs share an id. */
function logNameOf({ keyId }: Signer): string {
  return `claimcheck/${keyId}`
}

function toRow({ keyId, publicKey }: Signer, validFrom: Instant): SigningKeyRow {
  return { keyId, publicKey: toBase64url(publicKey), validFrom, revokedAt: null }
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)]
}

function toEntry({ keyId, publicKey, validFrom, revokedAt }: SigningKeyRow): KeyEntry {
  return {
    key_id: keyId,
    public_key: publicKey,
    valid_from: formatInstant(validFrom),
    revoked_at: revokedAt === null ? null : formatInstant(revokedAt),
    jwk: { kty: 'OKP', crv: 'Ed25519', kid: keyId, x: publicKey },
  }
}
