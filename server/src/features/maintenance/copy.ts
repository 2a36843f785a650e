/** Copies an installation to another database: all rows and the signing key. It only reads the source. */
import { byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import type { HostConfig } from '../../config/config.ts'
import { describeDatabase } from '../../config/database-url.ts'
import { databaseClock } from '../../storage/clock.ts'
import {
  type Copied,
  type CopyProgress,
  copyRows,
  openSource,
  openTarget,
  rowsOfDatabase,
  stayIdle,
} from '../../storage/copy.ts'
import type { Schema } from '../../storage/schema.ts'
import { reads, writes } from '../../storage/storage.ts'
import { readSigningKey, requireSecretKey, storedKeys, using } from './handover.ts'

export interface CopyOptions {
  /** Must have the same SECRET_KEY as `to`: encrypted credentials are copied unchanged. */
  readonly from: HostConfig
  readonly to: HostConfig
  readonly schema: Schema
  readonly onProgress?: CopyProgress
}

/**
 * Copies everything or nothing. A server may use the source at the same time; the copy has the state at the start.
 * @throws ServiceError `conflict` when both are the same database; StorageError, SecretError, SigningError
 */
export async function copyInstallation({ from, to, schema, onProgress }: CopyOptions): Promise<Copied> {
  if (describeDatabase(from.databaseUrl) === describeDatabase(to.databaseUrl))
    throw new ServiceError('conflict', 'source and target are the same database')
  return using(await openSource(from.databaseUrl, schema), (source) =>
    source.snapshot(async (snapshot) => {
      await stayIdle(snapshot)
      // Checks the key before it writes to the target: a copy whose secrets cannot be decrypted is useless.
      const sourceReads = reads(snapshot)
      await requireSecretKey(sourceReads, schema, from)
      const signingKey = await readSigningKey(sourceReads, source, from)
      return using(await openTarget(to.databaseUrl, schema), (target) =>
        target.transaction(async (tx) => {
          const copied = await copyRows(rowsOfDatabase(snapshot), tx, schema, onProgress)
          if (signingKey) await storedKeys(target, to).insert(writes(tx, schema), signingKey.keyId, signingKey.pem)
          await writes(tx, schema).log.unbind()
          const at = await databaseClock(tx)()
          const details = { from: describeDatabase(from.databaseUrl), to: describeDatabase(to.databaseUrl) }
          const { audit } = writes(tx, schema)
          audit.record({ event: 'database.copied', at: Math.floor(at), by: byCommand(), details })
          await audit.flush()
          source.requireUnchanged()
          return copied
        }),
      )
    }),
  )
}
