/** Opens everything that is sealed, and names what no configured key opens. */

import type { Problems } from '../../../base/problems.ts'
import type { Secrets } from '../../../base/secrets.ts'
import type { Schema } from '../../../storage/schema.ts'
import { signingKeyContext } from '../../../storage/sealed-contexts.ts'
import type { Reads } from '../../../storage/storage.ts'
import type { SealedKeyFile } from '../../log/signing/key-files.ts'
import { nameOf, sealedRows, sealProblem } from '../sealed-values.ts'

export async function checkSealed(
  reads: Pick<Reads, 'sealed'>,
  schema: Schema,
  problems: Problems,
  secrets: Pick<Secrets, 'open'>,
  keyFiles: readonly SealedKeyFile[] = [],
): Promise<void> {
  for await (const rows of sealedRows(reads, schema.sealed)) {
    for (const row of rows) {
      for (const value of row.values ?? []) {
        const problem = sealProblem(secrets, value)
        if (problem !== undefined) problems.add(`${nameOf(row, value.name)}: ${problem}`)
      }
    }
  }
  for (const { keyId, path, sealed } of keyFiles) {
    const problem = sealProblem(secrets, { name: undefined, sealed, context: signingKeyContext(keyId) })
    if (problem !== undefined) problems.add(`the signing key ${path}: ${problem}`)
  }
}
