/**
 * Signing keys in a PKCS#11 token, which makes and uses them. Keys from before there was a token stay where they are stored, and sign until
 * the first rotation.
 */
import { keyIdOf, type Signer, signedMessage, toBase64url, utf8 } from '@claimcheck/core'
import { withinTime } from '../../base/time-limit.ts'
import { type KeyStore, SigningError } from './key-store.ts'
import type { TokenClient } from './pkcs11/client.ts'
import type { TokenKey } from './pkcs11/messages.ts'
import type { KeyVault } from './signing-keys.ts'

const PROBE_MS = 2000
/** No document: each of those begins with the name of its domain, and a line feed. */
const PROBE = utf8('claimcheck asks whether the token signs')

export function createTokenKeys(token: TokenClient, stored: KeyVault & KeyStore): KeyVault & KeyStore {
  /** The key in the token that signs now. */
  let inUse: string | undefined

  function toSigner({ keyId, publicKey }: TokenKey): Signer {
    if (keyIdOf(publicKey) !== keyId) throw new SigningError('unusable_key', `the key ${keyId} has another id`)
    inUse = keyId
    return {
      keyId,
      publicKey,
      async sign(domain, body) {
        const value = await token.sign(keyId, signedMessage(domain, body))
        return { alg: 'Ed25519', key_id: keyId, value: toBase64url(value) }
      },
    }
  }

  return {
    ...stored,
    async create(tx, place) {
      if (place === 'stored') return stored.create(tx)
      const known = new Set((await tx.log.signingKeys()).map(({ keyId }) => keyId))
      // Made by the operator, or by a rotation that did not come to its end.
      const unused = (await token.keys()).find(({ keyId }) => !known.has(keyId))
      return toSigner(unused ?? (await token.generate()))
    },
    async load(keyId, rows) {
      try {
        const signer = await stored.load(keyId, rows)
        inUse = undefined
        return signer
      } catch (error) {
        if (!(error instanceof SigningError) || error.code !== 'missing_key') throw error
        const found = (await token.keys()).find((key) => key.keyId === keyId)
        if (found) return toSigner(found)
        const message = `the private key of ${keyId}, which signs the log, is neither in the token nor stored: use the token that has it`
        throw new SigningError('missing_key', message, { cause: error })
      }
    },
    async problem() {
      if (inUse === undefined) return undefined
      try {
        await withinTime(token.sign(inUse, PROBE), PROBE_MS, () => new Error('the token does not answer'))
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    },
    async close() {
      token.close()
    },
  }
}
