/**
 * Signing keys in a backend that a plugin offers, such as a token, which makes and uses them. Keys from before there was a backend stay where
 * they are stored, and sign until the first rotation.
 */
import { createPublicKey, verify } from 'node:crypto'
import { promisify } from 'node:util'
import type { BackendKey, SigningBackend } from '@claimcheck/core/plugin'
import { keyIdOf, type Signer, signedMessage, toBase64url, utf8 } from '@claimcheck/core/receipts'
import { withinTime } from '../../../base/time-limit.ts'
import { type KeyStore, SigningError } from './key-store.ts'
import type { KeyVault } from './signing-keys.ts'

/** The log waits meanwhile. */
const ANSWER_MS = 6000
const PROBE_MS = 2000
/** No document: each of those begins with the name of its domain, and a line feed. */
const PROBE = utf8('claimcheck asks whether the key signs')

const verifyInPool = promisify(verify)

export function createBackendKeys(backend: SigningBackend, stored: KeyVault & KeyStore): KeyVault & KeyStore {
  /** The key in the backend that signs now. */
  let inUse: string | undefined

  function toSigner({ keyId, publicKey }: BackendKey): Signer {
    if (keyIdOf(publicKey) !== keyId) throw new SigningError('unusable_key', `the key ${keyId} has another id`)
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: toBase64url(publicKey) }
    const verifier = createPublicKey({ key: jwk, format: 'jwk' })
    inUse = keyId
    return {
      keyId,
      publicKey,
      async sign(domain, body) {
        const message = signedMessage(domain, body)
        const signature = await asked(async () => {
          const made = await backend.sign(keyId, message)
          // A backend that errs must not put into the log what cannot be removed again. And a wrong signature may reveal the key.
          if (await verifyInPool(null, message, verifier, made)) return made
          throw new Error(`${backend.name} made a signature that does not hold`)
        })
        return { alg: 'Ed25519', key_id: keyId, value: toBase64url(signature) }
      },
    }
  }

  /** @throws SigningError `unavailable` with the backend's message */
  async function asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await withinTime(work(), ANSWER_MS, noAnswer)
    } catch (cause) {
      throw new SigningError('unavailable', (cause as Error).message, { cause })
    }
  }

  const noAnswer = () => new Error(`${backend.name} does not answer`)

  return {
    ...stored,
    async create(tx, place) {
      if (place === 'stored') return stored.create(tx)
      const known = new Set((await tx.log.signingKeys()).map(({ keyId }) => keyId))
      // Made by the operator, or by a rotation that did not come to its end.
      const unused = (await asked(() => backend.keys())).find(({ keyId }) => !known.has(keyId))
      return toSigner(unused ?? (await asked(() => backend.generate())))
    },
    async load(keyId, rows) {
      try {
        const signer = await stored.load(keyId, rows)
        inUse = undefined
        return signer
      } catch (error) {
        if (!(error instanceof SigningError) || error.code !== 'missing_key') throw error
        const found = (await asked(() => backend.keys())).find((key) => key.keyId === keyId)
        if (found) return toSigner(found)
        const message = `the private key of ${keyId}, which signs the log, is neither in ${backend.name} nor stored: use the one that has it`
        throw new SigningError('missing_key', message, { cause: error })
      }
    },
    async problem() {
      if (inUse === undefined) return undefined
      try {
        await withinTime(backend.sign(inUse, PROBE), PROBE_MS, noAnswer)
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    },
  }
}
