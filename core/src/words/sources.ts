/** Where a claim was read, in words that follow from a receipt alone. */
import type { WireSource } from '../receipt/body.ts'

/** To follow "read at". */
export function sourceWords(source: WireSource): string {
  if ('source_id' in source) return 'a server that this workspace chose, address withheld'
  if (source.listed) return `${source.base_url} (listed as ${source.provider})`
  return `a server that the issuer does not list, chosen by the workspace or by the issuer: ${source.base_url}`
}
