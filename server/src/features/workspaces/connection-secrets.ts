/** Seals and unseals the secrets of a connection: its secret options, and the key of the id that replaces a withheld address. */
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { JsonObject } from '@claimcheck/core/rules'
import type { Secrets } from '../../base/secrets.ts'
import { secretContext, sourceKeyContext } from '../../storage/sealed-contexts.ts'
import type { ConnectionRow } from '../../storage/workspaces.ts'

type SealedOptions = Pick<ConnectionRow, 'id' | 'sealedSecrets'>
type SourceKeyRow = Pick<ConnectionRow, 'id' | 'sourceKey'>

const SOURCE_KEY_BYTES = 32

export type ConnectionSecrets = ReturnType<typeof createConnectionSecrets>

export function createConnectionSecrets(secrets: Secrets) {
  /**
   * Unseals the secret options of a connection.
   * @throws SecretError
   */
  function unseal({ id, sealedSecrets }: SealedOptions): JsonObject {
    const sealed = Object.entries(sealedSecrets)
    return Object.fromEntries(sealed.map(([name, text]) => [name, secrets.open(text, secretContext(id, name))]))
  }

  /**
   * Unseals the source key, which every connection has until it is removed.
   * @throws SecretError
   */
  function sourceKeyOf({ id, sourceKey }: SourceKeyRow): Buffer {
    return Buffer.from(secrets.open(sourceKey!, sourceKeyContext(id)), 'base64url')
  }

  function newSourceKey(id: string): string {
    return secrets.seal(randomBytes(SOURCE_KEY_BYTES).toString('base64url'), sourceKeyContext(id))
  }

  return {
    /** Seals each of the named options. */
    seal: (id: string, names: readonly string[], options: JsonObject): Readonly<Record<string, string>> =>
      Object.fromEntries(names.map((name) => [name, secrets.seal(String(options[name]), secretContext(id, name))])),
    unseal,
    /** Compares the options of two rows, which may be sealed under different keys. */
    haveSame(one: SealedOptions, other: SealedOptions): boolean {
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
    /** Returns the row's source key, sealed; a new one where the secret key that sealed it is lost. */
    usableSourceKey(row: SourceKeyRow): string {
      try {
        sourceKeyOf(row)
        return row.sourceKey!
      } catch {
        return newSourceKey(row.id)
      }
    },
  }
}
