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
  /** Makes a key, and keeps it before it returns. */
  create(): Promise<Signer>
  /** @throws SigningError when there is no such key here: the log cannot go on without it */
  load(keyId: string): Promise<Signer>
}

/** What an append must know, read under the writer's lock. */
export interface CurrentLog {
  readonly logId: string
  readonly treeSize: number
  readonly rootHash: Uint8Array
  readonly signer: Signer
  /** Nothing may be issued before this: the last head, and the start of the key's window. */
  readonly notBefore: Instant
}

export interface SigningKeys {
  /** Makes the log with its first key and its signed empty head, unless it is there. @throws SigningError */
  ensureLog(): Promise<void>
  current(tx: Writes): Promise<CurrentLog>
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

  function signer(keyId: string): Promise<Signer> {
    const known = signers.get(keyId) ?? vault.load(keyId)
    signers.set(keyId, known)
    known.catch(() => signers.delete(keyId))
    return known
  }

  async function current(tx: Writes): Promise<CurrentLog> {
    const state = (await tx.log.state())!
    const [key, head] = await Promise.all([tx.log.signingKey(state.keyId), tx.log.newestHead()])
    return {
      logId: state.logId,
      treeSize: state.treeSize,
      rootHash: head!.rootHash,
      signer: await signer(state.keyId),
      notBefore: Math.max(key!.validFrom, head!.issuedAt),
    }
  }

  async function signHead(
    tx: Writes,
    head: { logId: string; treeSize: number; rootHash: Uint8Array; issuedAt: Instant },
    by: Signer,
  ) {
    await tx.log.insertHead({ ...head, signed: JSON.stringify(await signTreeHead(by, head)) })
  }

  return {
    current,

    async ensureLog() {
      const state = await storage.read.log.state()
      if (state) {
        // Told at the start, not by the first decision that cannot be signed.
        await signer(state.keyId)
        return
      }
      await storage.write(async (tx) => {
        if (await tx.log.state()) return
        const first = await vault.create()
        const issuedAt = now()
        await tx.log.insertSigningKey(toRow(first, issuedAt))
        // Named after its first key, so that no two installations share a log id.
        const name = `claimcheck/${first.keyId}`
        const logId = logIdOf(name)
        await tx.log.create({ logId, name, treeSize: 0, keyId: first.keyId })
        await signHead(tx, { logId, treeSize: 0, rootHash: SHA256_TREE.empty, issuedAt }, first)
      })
    },

    async rotate() {
      return storage.write(async (tx) => {
        const { logId, treeSize, rootHash, signer: old, notBefore } = await current(tx)
        const next = await vault.create()
        // After everything that the old key signed: its window ends here.
        const from = Math.max(now(), notBefore + 1)
        await tx.log.insertSigningKey(toRow(next, from))
        await tx.log.retireSigningKey(old.keyId, from)
        await tx.log.setSigningKey(next.keyId)
        await signHead(tx, { logId, treeSize, rootHash, issuedAt: from }, next)
        return { keyId: next.keyId, retiredKeyId: old.keyId }
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
