/** Copies an installation to another database: all rows and the signing key. It only reads the source. */
import { ServiceError } from '../../base/errors.ts'
import type { HostConfig } from '../../config/config.ts'
import { describeDatabase } from '../../config/database-url.ts'
import { type Copied, type CopyProgress, copyRows, openSource, openTarget, rowsOfDatabase } from '../../storage/copy.ts'
import type { Schema } from '../../storage/schema.ts'
import { handOver, takeOver, using } from './handover.ts'

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
      const { signingKey } = await handOver(source, snapshot, { config: from, schema })
      return using(await openTarget(to.databaseUrl, schema), (target) =>
        target.transaction(async (tx) => {
          const copied = await copyRows(rowsOfDatabase(snapshot), tx, schema, onProgress)
          const details = { from: describeDatabase(from.databaseUrl), to: describeDatabase(to.databaseUrl) }
          await takeOver(target, tx, { config: to, schema, signingKey }, { event: 'database.copied', details })
          source.requireUnchanged()
          return copied
        }),
      )
    }),
  )
}
