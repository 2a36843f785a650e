/** Reads the challenges of an answer (RFC 9110 11.6.1). */

export interface Challenge {
  /** The challenge's scheme in lower case, such as `bearer`. */
  readonly scheme: string
  /** The challenge's parameters, by their names in lower case. */
  readonly parameters: ReadonlyMap<string, string>
}

/** Matches a name that begins a challenge, or a name with a value that belongs to the challenge before it. */
const PART = /[\s,]*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:[ \t]*=[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*)))?/gy

export function challengesOf(headers: Headers): readonly Challenge[] {
  const found: { scheme: string; parameters: Map<string, string> }[] = []
  for (const [, name, quoted, token] of (headers.get('www-authenticate') ?? '').matchAll(PART)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? token
    if (value === undefined) found.push({ scheme: name!.toLowerCase(), parameters: new Map() })
    else found.at(-1)?.parameters.set(name!.toLowerCase(), value)
  }
  return found
}
