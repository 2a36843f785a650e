/** Fetches what a receipt is checked with. Receipt and keys must be there; the report leaves out what else is missing. */
import {
  type Bundle,
  type BundleOptions,
  type BundleReport,
  checkBundle,
  consistencyPath,
  parseKeySet,
} from '@claimcheck/core/checker'
import { ApiError, objectIn, UnexpectedAnswerError } from './errors.ts'
import type { CallOptions } from './transport.ts'
import type { Receipt } from './wire.ts'

type Fetch = (path: string) => Promise<string>

export interface VerifyOptions extends CallOptions, Omit<BundleOptions, 'keys' | 'fromIssuer'> {
  /** The issuer's key document that you keep, which replaces the one that the service publishes. */
  readonly keys?: string | BundleOptions['keys']
}

export function receiptPath(receiptId: string): string {
  return `/v1/receipts/${encodeURIComponent(receiptId)}`
}

/** Fetches a receipt and what it is checked with. @throws ClaimcheckError without a receipt or keys */
export async function fetchBundle(fetch: Fetch, receiptId: string): Promise<Bundle> {
  const [receipt, keys, evidence, profiles, tree_head] = await Promise.all([
    fetch(receiptPath(receiptId)),
    fetch('/.well-known/poaw-keys.json'),
    ifThere(fetch(`${receiptPath(receiptId)}/evidence`)),
    ifThere(fetch('/v1/profiles')),
    ifThere(fetch('/v1/log/head')),
  ])
  const { body } = objectIn(receipt) as Partial<Receipt>
  // The id is compared, because otherwise a service could answer with any valid receipt of its log.
  if (body?.receipt_id !== receiptId) {
    throw new UnexpectedAnswerError(`the service answered with something else than the receipt ${receiptId}`)
  }
  const path = consistencyPath(receipt, tree_head)
  const consistency = path === undefined ? undefined : await ifThere(fetch(path))
  return { receipt, keys, evidence, profiles, tree_head, consistency }
}

export async function verifyReceipt(
  fetch: Fetch,
  receiptId: string,
  { keys, signal: _, ...options }: VerifyOptions = {},
): Promise<BundleReport> {
  const bundle = await fetchBundle(fetch, receiptId)
  const trusted = typeof keys === 'string' ? parseKeySet(keys) : keys
  return checkBundle(bundle, { ...options, ...(trusted ? { keys: trusted } : { fromIssuer: true }) })
}

/** Resolves to the text; to undefined for what the service does not offer, or not now. */
async function ifThere(text: Promise<string>): Promise<string | undefined> {
  try {
    return await text
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}
