/** What all connections to code hosts share: options for the base URL and the repositories' owners, and which claims fit them. */
import { type Claim, Type } from '@claimcheck/core/plugin'

export function baseUrl(description: string) {
  // The pattern refuses credentials, because this option is shown to people, and a host that a program would take for an option.
  return Type.String({
    pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*(?:/[^\\s?#]*)?$',
    maxLength: 2048,
    description: `${description} It begins with \`https://\` or \`http://\`, and contains no user name, password or query.`,
  })
}

export const Owners = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 100,
    description: 'The owners whose repositories are read through this connection. When left out: all.',
  }),
)

/** Whether the claim is about a repository of one of these owners, at a host with one of these names. @param owners `undefined`: all */
export function fitsClaim(claim: Claim, hostNames: readonly string[], owners: readonly string[] | undefined): boolean {
  const { host } = claim.params
  if (typeof host === 'string' && !hostNames.includes(host.toLowerCase())) return false
  return owners === undefined || owners.some((name) => name.toLowerCase() === ownerOf(claim.target))
}

/** In lower case: hosts take owners in any. */
export function ownerOf(target: string): string {
  return target.split('/')[0]!.toLowerCase()
}

/** The name that claims give a base address: its host and path, less the path under which a provider has its API. None, for no URL. */
export function hostName(baseUrl: string, apiPath = ''): string {
  if (!URL.canParse(baseUrl)) return ''
  const { host, pathname } = new URL(baseUrl)
  const path = withoutTrailingSlash(pathname)
  return (host + (apiPath !== '' && path.endsWith(apiPath) ? path.slice(0, -apiPath.length) : path)).toLowerCase()
}

export function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
