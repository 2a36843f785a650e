/** The audiences that tokens may have (RFC 8707): this service, and the resources in the configuration. */
import { parseUrl } from '@claimcheck/core'

export interface Audiences {
  readonly own: string
  /** The name of the audience in tokens; undefined when the audience is unknown. */
  find(resource: string): string | undefined
}

export function createAudiences(own: string, others: readonly string[]): Audiences {
  // Clients may write the same URL with or without the slash after the host.
  const known = new Map([...others, own].map((name) => [normalize(name), name]))
  return { own, find: (resource) => known.get(normalize(resource)) }
}

function normalize(resource: string): string {
  return parseUrl(resource)?.href ?? resource
}
