/** Puts together what a receipt is checked with: everything that this service publishes about it. */

import type { ProfileList } from '@claimcheck/core/api'
import type { Bundle, Receipt } from '@claimcheck/core/receipts'
import type { JsonValue } from '@claimcheck/core/rules'
import type { LogService } from '../../log/log.ts'
import type { ReceiptService } from '../../receipts/receipts.ts'

export interface BundleSources {
  readonly receipts: ReceiptService
  readonly log: Pick<LogService, 'headAbove'>
  readonly keyDocument: () => Promise<object | string>
  /** The answer of `GET /v1/profiles`. */
  readonly profiles: () => Promise<ProfileList>
}

/** Undefined where there is no such receipt. */
export async function bundleOf(
  receiptId: string,
  sources: BundleSources,
): Promise<(Required<Pick<Bundle, 'keys' | 'profiles'>> & Bundle) | undefined> {
  const { receipts, log, keyDocument, profiles } = sources
  const receipt = await receipts.get(receiptId)
  if (receipt === undefined) return undefined
  const { body, proof } = JSON.parse(receipt) as Receipt
  const [evidence, keys, { treeHead, consistency }, published] = await Promise.all([
    receipts.evidence(receiptId),
    keyDocument(),
    log.headAbove(proof),
    profiles(),
  ])
  const { id, version } = body.observation.verifier
  const judging = <P extends Pick<ProfileList['profiles'][number], 'action' | 'version'>>(all: readonly P[]) =>
    all.filter((profile) => profile.action === id && profile.version === version)
  return {
    receipt,
    keys: textOf(keys),
    ...(evidence === undefined ? {} : { evidence }),
    tree_head: treeHead,
    ...(consistency ? { consistency: textOf(consistency) } : {}),
    profiles: textOf({ profiles: judging(published.profiles), settings: judging(published.settings ?? []) }),
  }
}

function textOf(document: object | string | JsonValue): string {
  return typeof document === 'string' ? document : JSON.stringify(document)
}
