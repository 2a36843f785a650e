/** Where a claim was read, and who chose that place. A receipt alone tells it. */

import { parseUrl } from '@claimcheck/core/plugin'
import type { WireSource } from '@claimcheck/core/receipts'

export interface Place {
  /** The issuer lists it as public: it is the same place for everybody. */
  readonly isListed: boolean
  /** Its host; undefined where the receipt does not tell. */
  readonly short: string | undefined
  readonly address: string
  readonly chosenBy: string
}

/** @param source undefined where nothing was read, and in receipts of old rules */
export function placeOf(source: WireSource | undefined): Place {
  if (!source) {
    return {
      isListed: false,
      short: undefined,
      address: 'The receipt names no place.',
      chosenBy: 'Nothing was read, or the receipt is older than the rules that record where.',
    }
  }
  if ('source_id' in source) {
    return {
      isListed: false,
      short: undefined,
      address: 'A server whose address is withheld',
      chosenBy: 'The workspace chose this server. Who runs it decides what it shows.',
    }
  }
  const { base_url, listed, provider } = source
  const short = parseUrl(base_url)?.host
  // The format leaves `source` to issuers: another one may have anything there.
  if (listed === true) {
    return {
      isListed: true,
      short,
      address: base_url,
      chosenBy: `The issuer lists this place as public, as ${provider}: it is the same for everybody, and neither the agent nor the workspace chose it.`,
    }
  }
  return {
    isListed: false,
    short,
    address: base_url,
    chosenBy:
      'The workspace or the issuer chose this server, and the issuer does not list it as public. Who runs it decides what it shows.',
  }
}
