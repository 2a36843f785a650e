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
import type { Config } from '../config.ts'
import { SHA256_TREE } from '../services/stored-log.ts'
import type { SigningKeyRow } from '../storage/log.ts'
import type { Storage, Writes } from '../storage/storage.ts'

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
  /** What `/.well-known/poaw-keys.json` says. */
  document(): Promise<KeyDocument>
}

interface SigningKeysOptions {
  readonly storage: Storage
  readonly vault: KeyVault
  readonly now: () => Instant
  readonly config: Pick<Config, 'issuerName' | 'publicUrl'>
}

export function createSigningKeys({ storage, vault, now, config }: SigningKeysOptions): SigningKeys {
  const signers = new Map<string, Promise<Signer>>()
  let latestKeyId: string | undefined

  function signer(keyId: string): Promise<Signer> {
    const known = signers.get(keyId) ?? vault.load(keyId)
    signers.set(keyId, known)
    known.catch(() => signers.delete(keyId))
    latestKeyId = keyId
    return known
  }

  async function signHead(
    tx: Writes,
    head: { logId: string; treeSize: number; rootHash: Uint8Array; issuedAt: Instant },
    by: Signer,
  ) {
    await tx.log.insertHead({ ...head, signed: JSON.stringify(await signTreeHead(by, head)) })
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
        // Named after its first key, so that no two installations share a log id.
        const name = `claimcheck/${first.keyId}`
        const head = { logId: logIdOf(name), treeSize: 0, rootHash: SHA256_TREE.empty, issuedAt }
        await tx.log.create({ ...head, name, keyId: first.keyId })
        await signHead(tx, head, first)
      })
    },

    async rotate() {
      return storage.write(async (tx) => {
        const log = (await tx.log.lock())!
        // Only who could sign may say who signs next.
        await signer(log.keyId)
        const next = await vault.create(tx)
        // After everything that the old key signed: its window ends here.
        const issuedAt = Math.max(now(), log.issuedAt + 1)
        await tx.log.insertSigningKey(toRow(next, issuedAt))
        await tx.log.retireSigningKey(log.keyId, issuedAt)
        const head = { logId: log.logId, treeSize: log.treeSize, rootHash: log.rootHash, issuedAt }
        await tx.log.replace({ ...head, name: log.name, keyId: next.keyId })
        await signHead(tx, head, next)
        return { keyId: next.keyId, retiredKeyId: log.keyId }
      })
    },

    async document() {
      const [state, keys] = await Promise.all([storage.read.log.state(), storage.read.log.signingKeys()])
      return {
        issuer: config.issuerName ?? config.publicUrl ?? 'claimcheck',
        log_id: state!.logId,
        keys: keys.map(toEntry),
        anchor_addresses: [],
        anchor_schemas: [],
      }
    },
  }
}

function toRow({ keyId, publicKey }: Signer, validFrom: Instant): SigningKeyRow {
  return { keyId, publicKey: toBase64url(publicKey), validFrom, revokedAt: null }
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
