/** Says where a claim was read, in words that follow from a receipt alone. */
import type { WireSource } from '../receipt/body.ts'
import { withPunycode } from './look-alikes.ts'

/** Names the place of a read, to follow "read at". */
export function sourceWords(source: WireSource): string {
  if ('source_id' in source) return 'a server that this workspace chose, address withheld'
  const address = withPunycode(source.base_url)
  if (source.listed) return `${address} (listed as ${withPunycode(source.provider)})`
  return `a server that the issuer does not list, chosen by the workspace or by the issuer: ${address}`
}
