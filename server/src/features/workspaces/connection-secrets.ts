/** Seals and unseals what a connection keeps secret: its secret options, and the key of the id that replaces a withheld address. */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '@claimcheck/core/rules'
import { secretContext, sourceKeyContext } from '../../base/sealed-contexts.ts'
import type { Secrets } from '../../base/secrets.ts'
import type { ConnectionRow } from '../../storage/workspaces.ts'

type SealedOptions = Pick<ConnectionRow, 'id' | 'sealedSecrets'>
type SealedRow = SealedOptions & Pick<ConnectionRow, 'sourceKey'>

export interface ConnectionSecrets {
  /** The named options, each sealed. */
  seal(id: string, names: readonly string[], options: JsonObject): Readonly<Record<string, string>>
  /** @throws SecretError */
  unseal(row: SealedOptions): JsonObject
  /** They may be sealed under different keys. */
  haveSame(one: SealedOptions, other: SealedOptions): boolean
  /** @throws SecretError */
  sourceKeyOf(row: SealedRow): Buffer
  newSourceKey(id: string): string
  /** The row's, sealed; a new one where the secret key that sealed it is lost. */
  usableSourceKey(row: SealedRow): string
}

const SOURCE_KEY_BYTES = 32

export function createConnectionSecrets(secrets: Secrets): ConnectionSecrets {
  function unseal({ id, sealedSecrets }: SealedOptions): JsonObject {
    const sealed = Object.entries(sealedSecrets)
    return Object.fromEntries(sealed.map(([name, text]) => [name, secrets.open(text, secretContext(id, name))]))
  }

  function sealSourceKey(id: string, key: Buffer): string {
    return secrets.seal(key.toString('base64url'), sourceKeyContext(id))
  }

  /** Rows of earlier versions have none: there it followed from the secret key, of which there was one. */
  function sourceKeyOf({ id, sourceKey, sealedSecrets }: SealedRow): Buffer {
    if (sourceKey !== null) return Buffer.from(secrets.open(sourceKey, sourceKeyContext(id)), 'base64url')
    const [name = '', sealed] = Object.entries(sealedSecrets)[0] ?? []
    return secrets.deriveAs(sealed, secretContext(id, name), `source of connection ${id}`)
  }

  const newSourceKey = (id: string) => sealSourceKey(id, randomBytes(SOURCE_KEY_BYTES))

  return {
    seal: (id, names, options) =>
      Object.fromEntries(names.map((name) => [name, secrets.seal(String(options[name]), secretContext(id, name))])),
    unseal,
    haveSame(one, other) {
      try {
        return (
          isDeepStrictEqual(one.sealedSecrets, other.sealedSecrets) || isDeepStrictEqual(unseal(one), unseal(other))
        )
      } catch {
        return false
      }
    },
    sourceKeyOf,
    newSourceKey,
    usableSourceKey(row) {
      try {
        const key = sourceKeyOf(row)
        return row.sourceKey ?? sealSourceKey(row.id, key)
      } catch {
        return newSourceKey(row.id)
      }
    },
  }
}
