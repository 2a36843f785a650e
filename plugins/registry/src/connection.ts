/** Helps all connections to registries with the address, the packages that are read there, and the claims that fit. */
import { type Claim, parseUrl, Type } from '@claimcheck/core/plugin'

/** Describes the option for the address. @param publicUrl the registry that is read when the option is left out */
export function baseUrl(description: string, publicUrl: string) {
  return Type.String({
    title: 'Address',
    // Credentials are refused, because this option is shown to people.
    pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*(?:/[^\\s?#]*)?$',
    'x-pattern-help':
      'enter an address that begins with https:// or http://, without a user name, a password and a query',
    maxLength: 2048,
    description: `${description} When left out: \`${publicUrl}\`.`,
    examples: [publicUrl],
  })
}

const PackageName = Type.String({
  pattern: '^[^*]+\\*?$',
  'x-pattern-help': 'enter the name of a package, or the beginning of names and an asterisk',
  minLength: 1,
  maxLength: 220,
  examples: ['@acme/*'],
})

export const common = {
  packages: Type.Optional(
    Type.Array(PackageName, {
      title: 'Packages',
      maxItems: 100,
      description:
        'The packages that are read through this connection: names, or beginnings of names with an asterisk. When left out: all.',
    }),
  ),
  sees_all_packages: Type.Optional(
    Type.Boolean({
      title: 'Sees all packages',
      description:
        'These credentials see every package that the registry has. Then a package that it does not know is not there; else nothing is said of it.',
    }),
  ),
}

interface CommonOptions {
  readonly base_url?: string
  readonly packages?: readonly string[]
}

export function addressOf({ base_url }: CommonOptions, publicUrl: string): string {
  return withoutTrailingSlash(base_url ?? publicUrl)
}

export function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** Tells whether a claim is about a package of this kind of registry, at one of these names, and among the packages of the connection. */
export function fitsClaim(
  { packages }: CommonOptions,
  { target, params }: Claim,
  kind: string,
  names: readonly string[],
  normalizeName = (name: string) => name,
): boolean {
  const [prefix, name = ''] = target.split(':', 2)
  if (prefix !== kind) return false
  if (typeof params.registry === 'string' && !names.includes(params.registry.toLowerCase())) return false
  // A name that is spelled in another way must not lead the claim to the public registry, where it may be somebody else's.
  const oneForm = (text: string) => normalizeName(text).toLowerCase()
  return packages === undefined || packages.some((one) => isNamed(oneForm(one), oneForm(name)))
}

function isNamed(pattern: string, name: string): boolean {
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** The name that claims give a base address: its host and path; empty for a text that is no URL. */
export function registryName(url: string): string {
  const parsed = parseUrl(url)
  return parsed ? (parsed.host + withoutTrailingSlash(parsed.pathname)).toLowerCase() : ''
}
