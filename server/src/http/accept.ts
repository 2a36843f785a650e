/** Reads the Accept header: the form of an answer that a client prefers (RFC 9110 12.5.1). */

/** Tells whether a client prefers a page. Browsers name HTML when a person follows a link; programs name JSON, anything, or nothing. */
export function prefersPage(accept: string | undefined): boolean {
  const qualityOf = qualitiesIn(accept)
  return qualityOf('text/html') > qualityOf('application/json', 'application/*', '*/*')
}

/** Tells whether a client asks for JSON and not for a stream of events. Libraries that read JSON add that they take anything. */
export function prefersJson(accept: string | undefined): boolean {
  const qualityOf = qualitiesIn(accept)
  return qualityOf('application/json', 'application/*') > qualityOf('text/event-stream')
}

/** Tells whether a client asks for a stream of events by its name, as browsers do. */
export function namesEvents(accept: string | undefined): boolean {
  return qualitiesIn(accept)('text/event-stream') > 0
}

/** @returns a function that finds the quality of the first range with one of these names; 0 where there is none */
function qualitiesIn(accept = '') {
  const ranges = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()))
  return (...names: readonly string[]) => {
    const range = ranges.find(([name]) => names.includes(name!))
    const quality = range?.find((part) => part.startsWith('q='))
    if (!range) return 0
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0
  }
}
