/** Whether an address is read as it was written: a name that a claim chose must not lead to another object. */

/**
 * A dot segment, also in percent encoding, which parsers of URLs resolve: `/a/x/../b` is `/a/b`. Servers that decode the path first, such as
 * nginx, resolve it between encoded slashes, too: `/a/x%2F..%2Fb`; and others after they cut off what follows a semicolon: `/a/x/..;/b`.
 */
const DOT_SEGMENT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?=[/\\;]|%2f|%5c|$)/i

/** What a parser of URLs or a server removes or replaces in the text of an address, in words; undefined where both keep all. */
export function lostInAddress(text: string): string | undefined {
  const [beforeFragment = '', fragment] = text.split('#', 2)
  const path = beforeFragment.replace(/^[a-z]+:\/\/[^/\\?]*/i, '').split('?', 1)[0]!
  if (DOT_SEGMENT.test(path)) return 'a segment . or .. in its path'
  if (path.includes('\\')) return 'a backslash in its path'
  if (fragment !== undefined) return 'a fragment, after #'
  // Parsers of URLs remove it.
  return /[\t\n\r]|^[\0- ]|[\0- ]$/.test(text) ? 'white space that is not encoded' : undefined
}
