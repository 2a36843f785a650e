/** For whom tokens may be meant (RFC 8707): ourselves, and whom the configuration names. */

export interface Audiences {
  readonly own: string
  /** Under the name that tokens carry; undefined for an audience that is none here. */
  find(resource: string): string | undefined
}

export function createAudiences(own: string, others: readonly string[]): Audiences {
  // The same address may come with or without the slash after the host.
  const known = new Map([...others, own].map((name) => [normal(name), name]))
  return { own, find: (resource) => known.get(normal(resource)) }
}

function normal(resource: string): string {
  return URL.canParse(resource) ? new URL(resource).href : resource
}
