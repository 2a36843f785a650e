/** What connections to code hosts have in common: their base URL, whose repositories they are for, and which claims fit them. */
import { type Claim, Type } from '@claimcheck/core/plugin'

export function baseUrl(description: string) {
  // No credentials in it: it is shown, they are not.
  return Type.String({
    pattern: '^https?://[^\\s/?#@]+(?:/[^\\s?#]*)?$',
    maxLength: 2048,
    description: `${description} It begins with \`https://\` or \`http://\` and has no user name, password or query in it.`,
  })
}

export const Owners = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 100 }), {
    maxItems: 100,
    description: 'The owners whose repositories are read through this connection. All, when left out.',
  }),
)

/** The claim is about one of these owners, at a host of one of these names. */
export function fitsClaim(claim: Claim, hostNames: readonly string[], owners: readonly string[] | undefined): boolean {
  const { host } = claim.params
  if (typeof host === 'string' && !hostNames.includes(host.toLowerCase())) return false
  const owner = claim.target.split('/')[0]?.toLowerCase()
  return owners === undefined || owners.some((name) => name.toLowerCase() === owner)
}

export function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
