/** The `oauth` section of the configuration file: the clients, and the resource servers that tokens may be for. */

import { COMMAND_LINE_CLIENT } from '@claimcheck/cli/service/oauth-client'
import { parseUrl, type Static, Type } from '@claimcheck/core/plugin'
import type { ConfigSection, Report } from '../../config/section.ts'
import { lookAlike } from '../../names/confusables.ts'
import { composed, MAX_NAME_LENGTH } from '../../names/names.ts'
import { MAX_REDIRECT_URI_LENGTH, MAX_REDIRECT_URIS, redirectProblem } from './redirect-uris.ts'
import { clientNameProblem } from './registration.ts'

export interface OAuthClient {
  readonly clientId: string
  readonly clientName: string
  readonly redirectUris: readonly string[]
  /** The secret; undefined for a public client, which cannot keep one. */
  readonly clientSecret: string | undefined
}

export interface OAuthConfig {
  readonly clients: readonly OAuthClient[]
  /** Further audiences that tokens may have. */
  readonly resources: readonly string[]
  /** True when clients may register themselves (RFC 7591). */
  readonly dynamicRegistration: boolean
}

/** The clients that people know by their names: those of the operator, and the command line. */
export function configuredClients({ clients }: Pick<OAuthConfig, 'clients'>): readonly OAuthClient[] {
  return [COMMAND_LINE_CLIENT, ...clients]
}

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const OAuthFile = Type.Object(
  {
    clients: Type.Optional(
      Type.Array(
        Type.Object(
          {
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
          },
          { additionalProperties: false },
        ),
      ),
    ),
    resources: Type.Optional(Type.Array(text(2000), { maxItems: 100 })),
    dynamic_registration: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: false },
)
type OAuthFile = Static<typeof OAuthFile>

function readOAuth(file: OAuthFile, report: Report): OAuthConfig {
  const { clients: given = [], resources = [], dynamic_registration: dynamicRegistration = false } = file
  const clients = given.map((client) => ({
    clientId: client.client_id,
    clientName: composed(client.client_name),
    redirectUris: client.redirect_uris,
    clientSecret: client.client_secret,
  }))
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
function clientProblems({ clientId, clientName, redirectUris }: OAuthClient, others: readonly OAuthClient[]): string[] {
  const problems: string[] = []
  if (clientId === COMMAND_LINE_CLIENT.clientId) problems.push(`client_id: ${clientId} is the command line's own`)
  if (others.some((other) => other.clientId === clientId))
    problems.push(`client_id: another client has the id ${clientId}`)
  const names = configuredClients({ clients: others }).map((other) => other.clientName)
  const nameProblem = clientNameProblem(clientName) ?? likeness(clientName, names)
  if (nameProblem !== undefined) problems.push(`client_name: ${nameProblem}`)
  for (const [position, uri] of redirectUris.entries()) {
    const problem = redirectProblem(uri)
    if (problem !== undefined) problems.push(`redirect_uris.${position}: ${problem}`)
  }
  return problems
}

/** Finds another client's name that looks like this one. Two clients of the operator may have one name, such as one with a secret and one without. */
function likeness(name: string, others: readonly string[]): string | undefined {
  const other = name === COMMAND_LINE_CLIENT.clientName ? name : lookAlike(name, others)
  return other && `it is, or looks like, the name ${other} of another client`
}

// RFC 8707 2 asks for an absolute URI without a fragment. The service compares audiences and sends no request to them.
function resourceProblem(resource: string): string | undefined {
  if (!parseUrl(resource)) return 'must be an absolute URI'
  return resource.includes('#') ? 'must have no fragment' : undefined
}

export const oauthConfig: ConfigSection<{ readonly oauth: OAuthConfig }> = {
  file: { oauth: Type.Optional(OAuthFile) },
  read: ({ oauth = {} }: { readonly oauth?: OAuthFile }, { reportInFile }) => ({
    oauth: readOAuth(oauth, (problem) => reportInFile(`oauth.${problem}`)),
  }),
}
