/** Where a claim was read, in words that the console and the command line share. */
import type { WireSource } from '../receipt/body.ts'

interface Known {
  /** Of the provider, for people. */
  readonly title?: string
  /** Who chose an address that is not listed. A receipt alone does not tell: some claims are read without a connection. */
  readonly chosenBy?: 'workspace' | 'service'
}

/** To follow "read at". */
export function sourceWords(source: WireSource, { title = source.provider, chosenBy }: Known = {}): string {
  if ('source_id' in source) return 'a server that this workspace chose, address withheld'
  if (source.listed) return `${source.base_url} (listed as ${title})`
  if (chosenBy === 'workspace') return `a server that this workspace chose: ${source.base_url}`
  if (chosenBy === 'service') return `a server that this service chose, and does not list: ${source.base_url}`
  return `a server that the issuer does not list, chosen by the workspace or by the issuer: ${source.base_url}`
}
