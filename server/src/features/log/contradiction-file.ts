/**
 * Writes down how a client's head contradicts the log, for anybody to check: the two signed heads, the keys, and the log's own proof between
 * them, which fails, where the log is not shorter. `claimcheck verify` checks each document.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { proveConsistency, type SignedTreeHead } from '@claimcheck/core/log'
import { formatInstant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { replaceFile } from '../../base/files.ts'
import type { HostConfig } from '../../config/config.ts'
import type { Witnessed } from '../../storage/log-state.ts'
import type { Storage } from '../../storage/storage.ts'
import { toConsistency } from './log.ts'
import { SHA256_TREE, tileReader } from './log-rows.ts'
import { toEntry } from './signing/signed-heads.ts'

interface FileOptions {
  readonly storage: Pick<Storage, 'read'>
  readonly config: Pick<HostConfig, 'dataDir'>
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

/** Each host writes it once, whichever heard of it. A host that cannot write it stops all the same, and says each reason once. */
export function contradictionWriter({ storage, config, logger }: FileOptions) {
  let said: string | undefined
  return async ({ head, at }: Witnessed): Promise<void> => {
    try {
      const heard: SignedTreeHead = JSON.parse(head)
      const path = join(config.dataDir, `log-contradiction-${heard.body.log_id}.json`)
      if (!existsSync(path)) replaceFile(path, `${JSON.stringify(await documentOf(storage, heard, at), null, 2)}\n`)
      said = undefined
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const reason = code ?? message
      if (said !== reason) logger.error({ err: error }, 'cannot write down how a client contradicts the log')
      said = reason
    }
  }
}

async function documentOf({ read: { log: rows } }: FileOptions['storage'], heard: SignedTreeHead, at: number) {
  const { log_id: logId, tree_size: first } = heard.body
  const { signed } = (await rows.newestHead())!
  const own: SignedTreeHead = JSON.parse(signed)
  const second = own.body.tree_size
  const isShorter = second < first
  const proof = isShorter
    ? {}
    : {
        consistency: toConsistency(
          logId,
          first,
          second,
          await proveConsistency(first, second, tileReader(rows, logId), SHA256_TREE),
        ),
      }
  return {
    finding: isShorter ? 'this log is shorter' : 'this log had another root at that size',
    found_at: formatInstant(at),
    tree_head_of_client: heard,
    tree_head_of_log: own,
    ...proof,
    keys: { keys: (await rows.signingKeys()).map(toEntry) },
  }
}
