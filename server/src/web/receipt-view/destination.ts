/** The destination at which a claim was read, and who chose it, from a receipt alone. */

import { parseUrl } from '@claimcheck/core/plugin'
import type { WireSource } from '@claimcheck/core/receipts'
import { withPunycode } from '@claimcheck/core/words/look-alikes'

export interface Destination {
  /** True if the issuer lists the destination as public: it is the same one for every reader. */
  readonly isListed: boolean
  /** The host of the destination; undefined where the receipt does not tell. */
  readonly short: string | undefined
  readonly address: string
  readonly chosenBy: string
}

/**
 * Describes the destination of a receipt.
 * @param source undefined where nothing was read, and in receipts of old rules
 */
export function destinationOf(source: WireSource | undefined): Destination {
  if (!source) {
    return {
      ...UNNAMED,
      address: 'The receipt names no destination.',
      chosenBy: 'Nothing was read, or the receipt is older than the rules that record where.',
    }
  }
  if ('source_id' in source) {
    return {
      ...UNNAMED,
      address: 'A destination with a withheld address',
      chosenBy: 'The workspace chose this destination. Its operator decides what it shows.',
    }
  }
  const { base_url, listed, provider } = source
  // The format leaves `source` to issuers: another one may have anything there.
  const isListed = listed === true
  return {
    isListed,
    short: parseUrl(base_url)?.host,
    address: withPunycode(base_url),
    chosenBy: isListed
      ? `The issuer lists this destination as public, as ${withPunycode(provider)}: it is the same for every workspace, and neither the agent nor the workspace chose it.`
      : 'The workspace or the issuer chose this destination, and the issuer does not list it as public. Its operator decides what it shows.',
  }
}

const UNNAMED = { isListed: false, short: undefined } as const
