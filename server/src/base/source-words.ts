/** Where a claim was read, in words that the console and the command line share. */
import type { WireSource } from '@claimcheck/core'

/** To follow "read at". @param title of the provider, for people */
export function sourceWords(source: WireSource, title: string = source.provider): string {
  if ('source_id' in source) return 'a server that this workspace chose, address withheld'
  return source.listed
    ? `${source.base_url} (listed as ${title})`
    : `a server that this workspace chose: ${source.base_url}`
}
