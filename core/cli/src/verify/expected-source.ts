/** Compares the place where a receipt was read with the one that the options of `verify` name. */

import { parseUrl } from '@claimcheck/core/plugin'
import type { WireSource } from '@claimcheck/core/receipts'
import { visible } from '@claimcheck/core/words/plain-text'
import { uncheckable } from './source.ts'

export interface SourceOptions {
  readonly expectSource?: string
  readonly listed?: boolean
}

/**
 * Says in what the source is not as expected, to follow "The receipt is valid, but". Undefined if nothing was asked, or all is as expected.
 * @throws CommandError `could_not_check` for what is no host
 */
export function sourceProblem(source: WireSource | undefined, options: SourceOptions): string | undefined {
  const expected = options.expectSource === undefined ? undefined : placeOf(options.expectSource)
  if (expected === undefined && !options.listed) return undefined
  if (!source) return 'it does not say where it was read'
  if (options.listed && !source.listed) return 'its issuer does not list the place where it was read'
  if (expected === undefined) return undefined
  if ('source_id' in source) return `it withholds the address where it was read, and ${expected} was expected`
  const url = parseUrl(source.base_url)
  const found = url ? nameOf(url) : source.base_url
  return found === expected ? undefined : `it was read at ${visible(found)}, and ${expected} was expected`
}

function placeOf(text: string): string {
  const url = parseUrl(SCHEME.test(text) ? text : `https://${text}`)
  if (!url || /[\s?#@]/.test(text)) {
    throw uncheckable('--expect-source takes a host, such as api.github.com or git.example.com/team.')
  }
  return nameOf(url)
}

const SCHEME = /^(?:https?|tls|tcp):\/\//i
/** Schemes under which anyone on the way can answer: an expected host alone does not mean them. */
const OPEN_SCHEMES: ReadonlySet<string> = new Set(['http:', 'tcp:'])

/** Host, port and path: a host alone does not name a path on it, which may have another owner. */
function nameOf({ protocol, host, pathname }: URL): string {
  return (OPEN_SCHEMES.has(protocol) ? `${protocol}//` : '') + host + pathname.replace(/\/+$/, '')
}
