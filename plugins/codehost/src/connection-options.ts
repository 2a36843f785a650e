/** Helps all connections to code hosts with options for the base URL and the repositories' owners, and with the claims that fit them. */
import {
  type Claim,
  type ConnectionType,
  DestinationError,
  defineConnectionType,
  type ProbeContext,
  type ProbeResult,
  type Proven,
  parseUrl,
  type Static,
  type Trial,
  Type,
  Value,
} from '@claimcheck/core/plugin'
import { RepositoryPath } from './actions/fields.ts'
import { defineProvider, type Provider, type Readers } from './code-host.ts'
import type { RestAccess } from './rest.ts'

export function baseUrl(description: string) {
  // The pattern refuses credentials, because this option is shown to people, and a host that a program would take for an option.
  return Type.String({
    pattern: '^https?://[^-\\s/?#@][^\\s/?#@]*(?:/[^\\s?#]*)?$',
    'x-pattern-help':
      'enter an address that begins with https:// or http://, without a user name, a password and a query',
    examples: ['https://git.example.com'],
    maxLength: 2048,
    description: `${description} It begins with \`https://\` or \`http://\`, and contains no user name, password or query.`,
  })
}

export const Owners = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 400, examples: ['acme'] }), {
    maxItems: 100,
    description: 'The owners, or groups, whose repositories are read through this connection. When left out: all.',
  }),
)

export const Reporters = Type.Optional(
  Type.Array(
    Type.String({
      pattern: '^(?:account|app)-id:[0-9]{1,15}$',
      'x-pattern-help': 'enter `account-id:NUMBER`, or `app-id:NUMBER` for an app at GitHub',
      maxLength: 26,
      examples: ['account-id:583231'],
    }),
    {
      title: 'Own reports',
      maxItems: 10,
      description:
        'Who posts what Claimcheck reports here, by number. Their checks and statuses called `claimcheck`, or `claimcheck/…`, are no evidence for claims, and left out. When left out, claims that such a check alone would decide end as unverifiable.',
    },
  ),
)

/** Takes the access to a REST API from a connection's options. @param publicUrl the address for options without one */
export function restAccess(
  {
    base_url,
    token,
    reporters,
  }: { readonly base_url?: string; readonly token?: string; readonly reporters?: readonly string[] },
  publicUrl = '',
): RestAccess {
  return { baseUrl: withoutTrailingSlash(base_url ?? publicUrl), token, reporters }
}

/** The result of a host's probe. A warning that does not apply is false. */
type HostProbe = Omit<ProbeResult, 'warnings'> & { readonly warnings: readonly (string | false)[] }

/** Defines a host by what distinguishes it from the others. @param names the names that claims give a host with this base address */
export function defineCodeHost<
  O extends ConnectionType['options'],
  A extends { readonly baseUrl: string; readonly reporters?: readonly string[] },
>({
  access,
  names = (baseUrl) => [hostName(baseUrl)],
  probe,
  readers,
  ...type
}: Pick<ConnectionType<O>, 'provider' | 'title' | 'options' | 'credentials' | 'help' | 'trial' | 'hints'> & {
  access(options: Static<O>): A
  names?(baseUrl: string): readonly string[]
  probe(access: A, context: ProbeContext, options: Static<O>): Promise<HostProbe>
  readonly readers: Readers<A>
}): Provider {
  const ownersOf = (options: unknown) => (options as { readonly owners?: readonly string[] }).owners
  return defineProvider<A>({
    connectionType: defineConnectionType({
      ...type,
      baseUrl: (options) => access(options).baseUrl,
      fits: (options, claim) => fitsClaim(claim, names(access(options).baseUrl), ownersOf(options)),
      refusesHidden: true,
      async probe(options, context) {
        const { warnings, ...proof } = await probe(access(options), context, options)
        return { ...proof, warnings: warnings.filter((warning) => warning !== false) }
      },
    }),
    access: ({ options }) => access(options as Static<O>),
    ownersOf: ({ options }) => ownersOf(options),
    readers,
  })
}

/** Asks people for a repository to try a connection with. @param form how the host writes a repository @param example an example of that form */
export function repositoryTrial(form: string, example: string): Trial {
  return { title: 'Repository', description: `One that is to be read through this connection, as ${form}.`, example }
}

/** Proves credentials that the host accepted: reads the repository that is to be tried, where one is named. */
export async function proveBy(
  target: string | undefined,
  read: (repository: string) => Promise<unknown>,
): Promise<Proven> {
  if (target === undefined) return 'reached'
  if (!Value.Check(RepositoryPath, target)) throw new DestinationError('unsupported_target')
  await read(target)
  return 'works'
}

/**
 * Tells whether the claim is about a repository of one of these owners, at a host with one of these names.
 * @param owners `undefined` for all owners
 */
export function fitsClaim(claim: Claim, hostNames: readonly string[], owners: readonly string[] | undefined): boolean {
  const { host } = claim.params
  if (typeof host === 'string' && !hostNames.includes(host.toLowerCase())) return false
  return owners === undefined || owners.some((owner) => isWithin(claim.target, owner))
}

/** The owner and the groups of a repository, in lower case: hosts take them in any. */
export function namespaceOf(repository: string): string {
  return repository.slice(0, repository.lastIndexOf('/')).toLowerCase()
}

/** Tells whether a repository belongs to this owner, or is in this group or one within it. */
export function isWithin(repository: string, owner: string): boolean {
  return `${namespaceOf(repository)}/`.startsWith(`${owner.toLowerCase()}/`)
}

/** Splits a repository's path into its two parts. @throws DestinationError `unsupported_target` at a host that has no groups */
export function ownerAndName(repository: string): readonly [owner: string, name: string] {
  const [owner, name, ...more] = repository.split('/')
  if (owner === undefined || name === undefined || more.length > 0) throw new DestinationError('unsupported_target')
  return [owner, name]
}

/** The name that claims give a base address: its host and path, less the path under which a provider has its API; empty for a text that is no URL. */
export function hostName(baseUrl: string, apiPath = ''): string {
  const url = parseUrl(baseUrl)
  if (!url) return ''
  const { host, pathname } = url
  const path = withoutTrailingSlash(pathname)
  return (host + (apiPath !== '' && path.endsWith(apiPath) ? path.slice(0, -apiPath.length) : path)).toLowerCase()
}

export function withoutTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '')
}

/** The scopes of a token, as GitHub and Bitbucket tell them in `x-oauth-scopes`; undefined where they do not. */
export function grantedScopes(headers: Headers): string[] | undefined {
  return headers
    .get('x-oauth-scopes')
    ?.split(',')
    .map((scope) => scope.trim())
    .filter(Boolean)
}

/** Warns of a token that can do more than read. */
export function excessWarning(scopes: readonly string[], isReadScope: (scope: string) => boolean): string | false {
  const writing = scopes.filter((scope) => !isReadScope(scope))
  return writing.length > 0 && `This token can also write (${writing.join(', ')}), which is more than is needed.`
}

/** Warns of credentials that anybody on the way can read. @param what the subject of the sentence, with its verb */
export function unencryptedWarning(baseUrl: string, what: 'The token is' | 'The credentials are'): string | false {
  return new URL(baseUrl).protocol === 'http:' && `${what} sent unencrypted: use https.`
}
