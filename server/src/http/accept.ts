/** Reads from the Accept header whether a client prefers a page (RFC 9110 12.5.1). */

/** Tells whether a client prefers a page. Browsers name HTML when a person follows a link; programs name JSON, anything, or nothing. */
export function prefersPage(accept: string | undefined): boolean {
  if (accept === undefined) return false
  const ranges = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()))
  const qualityOf = (...names: readonly string[]) => {
    const range = ranges.find(([name]) => names.includes(name!))
    const quality = range?.find((part) => part.startsWith('q='))
    if (!range) return 0
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0
  }
  return qualityOf('text/html') > qualityOf('application/json', 'application/*', '*/*')
}
