/** Brings everything that is sealed under the current secret key, while hosts run, and counts what is sealed under which key. */
import { setTimeout } from 'node:timers/promises'
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { replaceFile } from '../../base/files.ts'
import { addKeyToFile, keyFileAgeMs, removeKeysFromFile } from '../../base/secret-keys.ts'
import type { Secrets } from '../../base/secrets.ts'
import type { HostConfig } from '../../config/config.ts'
import type { Schema } from '../../storage/schema.ts'
import { type SealedCell, type SealedColumn, toStored } from '../../storage/sealed-columns.ts'
import { signingKeyContext } from '../../storage/sealed-contexts.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { type SealedKeyFile, sealedKeyFiles } from '../log/signing/key-files.ts'
import { type SealedRow, sealedRows } from './sealed-values.ts'

/** `current` seals and opens, `also` opens, and no configured key opens what is sealed under an `unknown` one. */
export type KeyRole = 'current' | 'also' | 'unknown'

export interface KeyUse {
  /** null: values that name no key. */
  readonly keyId: string | null
  readonly role: KeyRole
  readonly values: number
}

export interface Rotation {
  readonly keyId: string
  /** The key was made now, in the key file. */
  readonly isNew: boolean
  readonly resealed: number
  /** Afterwards. */
  readonly use: readonly KeyUse[]
}

export interface SecretRotation {
  /** Each configured key, the current one first, and each other key that values name. */
  use(): Promise<readonly KeyUse[]>
  /**
   * Seals under the current key what is sealed under another. Where the keys are in the key file, and nothing is left to do, it makes a
   * new key first. After a crash, calling it again goes on.
   */
  rotate(by: Acting, onProgress?: (rows: number, all: number) => void): Promise<Rotation>
  /**
   * Removes the keys from the key file under which nothing is sealed, and returns their ids. Soon after a rotation it waits first.
   * @param pause waits
   * @throws ServiceError `bad_request` where the keys come from the environment
   */
  forget(by: Acting, pause?: (ms: number) => Promise<unknown>): Promise<readonly string[]>
}

interface SecretRotationOptions {
  readonly storage: Storage
  readonly schema: Schema
  readonly secrets: Secrets
  readonly config: Pick<HostConfig, 'dataDir' | 'secretKey'>
  readonly now: () => Instant
}

/** Running hosts seal under their own current key meanwhile, so that a pass may find more. */
const MAX_PASSES = 5
/** What a host has sealed is stored by then, or never: it waits for a connection and for the lock, ten seconds for each. */
const LONGEST_WRITE_MS = 30_000
/** A transaction of so many rows keeps other writers waiting for some milliseconds. */
const ROWS_PER_WRITE = 50

type ResealingOptions = Pick<SecretRotationOptions, 'storage' | 'schema' | 'secrets' | 'config'>

/** Counts the values under each key, and seals them again under the current one. */
function createResealing({ storage, schema, secrets, config }: ResealingOptions) {
  const keyFiles = () => (storage.shared ? [] : sealedKeyFiles(config.dataDir))

  async function use(): Promise<readonly KeyUse[]> {
    const [current, ...also] = secrets.keyIds()
    const counts = new Map<string | null, number>(secrets.keyIds().map((id) => [id, 0]))
    const count = (sealed: string) => {
      const id = secrets.keyIdOf(sealed) ?? null
      counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    for await (const rows of sealedRows(storage.read, schema.sealed)) {
      for (const { values } of rows) for (const { sealed } of values ?? []) count(sealed)
    }
    for (const { sealed } of keyFiles()) count(sealed)
    const roleOf = (id: string | null): KeyRole => {
      if (id === current) return 'current'
      return id !== null && also.includes(id) ? 'also' : 'unknown'
    }
    return [...counts].map(([keyId, values]) => ({ keyId, role: roleOf(keyId), values }))
  }

  /** Undefined where nothing changes: it is sealed under the current key, or no key opens it. */
  function resealed({ column, cell, values = [] }: SealedRow): Replacement | undefined {
    let changed = 0
    const next = values.map(({ name, sealed, context }) => {
      const other = resealOne(sealed, context)
      if (other !== undefined) changed += 1
      return { name, sealed: other ?? sealed }
    })
    return changed === 0 ? undefined : { column, cell, by: toStored(column, next), values: changed }
  }

  function resealOne(sealed: string, context: string): string | undefined {
    try {
      return secrets.reseal(sealed, context)
    } catch {
      // The doctor names it. It may open with a key that the operator still has.
      return undefined
    }
  }

  async function resealRows(onRows: (rows: number) => void): Promise<number> {
    let count = 0
    for await (const rows of sealedRows(storage.read, schema.sealed)) {
      for (let start = 0; start < rows.length; start += ROWS_PER_WRITE) {
        const some = rows.slice(start, start + ROWS_PER_WRITE)
        const replacements = some.flatMap((row) => resealed(row) ?? [])
        if (replacements.length > 0) count += await storage.write((tx) => replaceAll(tx, replacements))
        onRows(some.length)
      }
    }
    return count
  }

  function resealFile({ keyId, path, sealed }: SealedKeyFile): number {
    const other = resealOne(sealed, signingKeyContext(keyId))
    if (other === undefined) return 0
    replaceFile(path, `${other}\n`)
    return 1
  }

  async function pass(onProgress: (rows: number, all: number) => void): Promise<number> {
    const all = await storage.read.sealed.count(schema.sealed)
    let done = 0
    const rows = await resealRows((some) => {
      done += some
      onProgress(done, Math.max(done, all))
    })
    return rows + keyFiles().reduce((sum, file) => sum + resealFile(file), 0)
  }

  return { use, pass }
}

export function createSecretRotation(options: SecretRotationOptions): SecretRotation {
  const { storage, secrets, config, now } = options
  const isFromFile = config.secretKey === undefined
  const { use, pass } = createResealing(options)

  return {
    use,
    async rotate(by, onProgress = () => {}) {
      const isNew = isFromFile && (await makeKey())
      let resealed = 0
      for (let passes = 0; passes < MAX_PASSES; passes += 1) {
        const more = await pass(onProgress)
        resealed += more
        if (more === 0) break
      }
      const keyId = secrets.keyIds()[0]!
      if (isNew || resealed > 0) {
        await storage.write(async (tx) =>
          tx.audit.record({ event: 'secret_key.rotated', at: now(), by, subject: keyId, details: { resealed } }),
        )
      }
      return { keyId, isNew, resealed, use: await use() }
    },
    async forget(by, pause = setTimeout) {
      if (!isFromFile) {
        const message = 'the keys come from the environment: remove them from SECRET_KEY_ALSO on every host'
        throw new ServiceError('bad_request', message)
      }
      if (secrets.keyIds().length === 1) return []
      // A host may be about to store what it sealed before the rotation. Without the key, it could never be opened.
      const restMs = Math.min(LONGEST_WRITE_MS - keyFileAgeMs(config.dataDir), LONGEST_WRITE_MS)
      if (restMs > 0) await pause(restMs)
      // The transaction keeps other commands from changing the file.
      return storage.write(async (tx) => {
        const unused = (await use()).flatMap(({ keyId, role, values }) =>
          role === 'also' && values === 0 && keyId !== null ? [keyId] : [],
        )
        if (unused.length === 0) return []
        removeKeysFromFile(config.dataDir, unused)
        for (const subject of unused) tx.audit.record({ event: 'secret_key.forgotten', at: now(), by, subject })
        return unused
      })
    },
  }

  /** False while values are sealed under the key before: then that rotation is to be ended. */
  function makeKey(): Promise<boolean> {
    // The transaction keeps other commands from changing the file.
    return storage.write(async () => {
      if ((await use()).some(({ role, values }) => role === 'also' && values > 0)) return false
      addKeyToFile(config.dataDir)
      return true
    })
  }
}

interface Replacement {
  readonly column: SealedColumn
  readonly cell: SealedCell
  readonly by: string
  readonly values: number
}

/** Returns how many values were replaced: rows that changed meanwhile stay as they are. */
async function replaceAll(tx: Writes, replacements: readonly Replacement[]): Promise<number> {
  let values = 0
  for (const replacement of replacements) {
    const isReplaced = await tx.sealed.replace(replacement.column, replacement.cell, replacement.by)
    if (isReplaced) values += replacement.values
  }
  return values
}
