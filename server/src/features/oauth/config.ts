/** The `oauth` section of the configuration file: the clients, and the resource servers that tokens may be for. */

import { COMMAND_LINE_CLIENT } from '@claimcheck/cli/service/oauth-client'
import { parseUrl, type Static, Type } from '@claimcheck/core/plugin'
import { closed, configSection, type Report } from '../../config/section.ts'
import { lookAlike } from '../../names/confusables.ts'
import { composed, MAX_NAME_LENGTH } from '../../names/names.ts'
import { MAX_REDIRECT_URI_LENGTH, MAX_REDIRECT_URIS, redirectProblem } from './redirect-uris.ts'
import { clientNameProblem } from './registration.ts'

export interface OAuthConfig {
  readonly clients: readonly OAuthClient[]
  /** Further audiences that tokens may have. */
  readonly resources: readonly string[]
  /** True when clients may register themselves (RFC 7591). */
  readonly dynamicRegistration: boolean
}

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const ClientInFile = closed({
  client_id: Type.String({
    pattern: '^[A-Za-z0-9._~-]{1,64}$',
    'x-pattern-help': 'write 1 to 64 letters, digits, dots, underscores, tildes or dashes',
    examples: ['desk'],
  }),
  client_name: text(MAX_NAME_LENGTH),
  redirect_uris: Type.Array(text(MAX_REDIRECT_URI_LENGTH), { minItems: 1, maxItems: MAX_REDIRECT_URIS }),
  client_secret: Type.Optional(
    Type.String({
      pattern: '^[!-~]{32,256}$',
      'x-pattern-help': 'write 32 to 256 characters of ASCII, without spaces',
      'x-secret': true,
    }),
  ),
})

/** The metadata of a client (RFC 7591). A client without a secret is public: it cannot keep one. */
type OAuthClient = Static<typeof ClientInFile> & { readonly grant_types?: string[] }

/** The clients that people know by their names: those of the operator, and the command line. */
export function configuredClients({ clients }: Pick<OAuthConfig, 'clients'>): readonly OAuthClient[] {
  return [COMMAND_LINE_CLIENT, ...clients]
}

const OAuthFile = closed({
  clients: Type.Optional(Type.Array(ClientInFile)),
  resources: Type.Optional(Type.Array(text(2000), { maxItems: 100 })),
  dynamic_registration: Type.Optional(Type.Boolean()),
})

function readOAuth(file: Static<typeof OAuthFile>, report: Report): OAuthConfig {
  const { clients: given = [], resources = [], dynamic_registration: dynamicRegistration = false } = file
  const clients = given.map((client) => ({ ...client, client_name: composed(client.client_name) }))
  for (const [index, client] of clients.entries()) {
    for (const problem of clientProblems(client, clients.slice(0, index))) report(`clients.${index}.${problem}`)
  }
  for (const [index, resource] of resources.entries()) {
    const problem = resourceProblem(resource)
    if (problem !== undefined) report(`resources.${index}: ${problem}`)
  }
  return { clients, resources, dynamicRegistration }
}

/**
 * Finds what is wrong with a client.
 * @param others the clients before it
 */
function clientProblems(
  { client_id, client_name, redirect_uris }: OAuthClient,
  others: readonly OAuthClient[],
): string[] {
  const isTaken = others.some((other) => other.client_id === client_id)
  const names = configuredClients({ clients: others }).map((other) => other.client_name)
  const problems: (readonly [member: string, problem: string | undefined | false])[] = [
    ['client_id', client_id === COMMAND_LINE_CLIENT.client_id && `${client_id} is the command line's own`],
    ['client_id', isTaken && `another client has the id ${client_id}`],
    ['client_name', clientNameProblem(client_name) ?? likeness(client_name, names)],
    ...redirect_uris.map((uri, index) => [`redirect_uris.${index}`, redirectProblem(uri)] as const),
  ]
  return problems.flatMap(([member, problem]) => (problem ? `${member}: ${problem}` : []))
}

/** Finds another client's name that looks like this one. Two clients of the operator may have one name, such as one with a secret and one without. */
function likeness(name: string, others: readonly string[]): string | undefined {
  const other = name === COMMAND_LINE_CLIENT.client_name ? name : lookAlike(name, others)
  return other && `it is, or looks like, the name ${other} of another client`
}

// RFC 8707 2 asks for an absolute URI without a fragment. The service compares audiences and sends no request to them.
function resourceProblem(resource: string): string | undefined {
  if (!parseUrl(resource)) return 'must be an absolute URI'
  return resource.includes('#') ? 'must have no fragment' : undefined
}

export const oauthConfig = configSection({ oauth: Type.Optional(OAuthFile) }, ({ oauth = {} }, { reportInFile }) => ({
  oauth: readOAuth(oauth, (problem) => reportInFile(`oauth.${problem}`)),
}))
