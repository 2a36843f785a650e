/** The configuration file's part about OAuth: which applications may ask, and for whom tokens may be meant. */
import { type Static, Type } from 'typebox'
import { MAX_NAME_LENGTH } from '../base/names.ts'
import { MAX_REDIRECT_URI_LENGTH, MAX_REDIRECT_URIS, redirectProblem } from './redirect-uris.ts'

export interface OAuthClient {
  readonly clientId: string
  readonly clientName: string
  readonly redirectUris: readonly string[]
  /** Undefined: a public client, which can keep no secret. */
  readonly clientSecret: string | undefined
}

export interface OAuthConfig {
  readonly clients: readonly OAuthClient[]
  /** The audiences beside our own. */
  readonly resources: readonly string[]
  /** Whether applications may make themselves known without being configured (RFC 7591). */
  readonly dynamicRegistration: boolean
}

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

export const OAuthFile = Type.Object(
  {
    clients: Type.Optional(
      Type.Array(
        Type.Object(
          {
            client_id: Type.String({ pattern: '^[A-Za-z0-9._~-]{1,64}$' }),
            client_name: text(MAX_NAME_LENGTH),
            redirect_uris: Type.Array(text(MAX_REDIRECT_URI_LENGTH), { minItems: 1, maxItems: MAX_REDIRECT_URIS }),
            client_secret: Type.Optional(Type.String({ pattern: '^[!-~]{32,256}$', 'x-secret': true })),
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

/** Complains of each thing that is wrong, with its place. */
export function readOAuth(file: OAuthFile, complain: (problem: string) => void): OAuthConfig {
  const { clients = [], resources = [], dynamic_registration: dynamicRegistration = false } = file
  for (const [index, { client_id: id, redirect_uris: uris }] of clients.entries()) {
    const isTaken = clients.findIndex((client) => client.client_id === id) < index
    if (isTaken) complain(`clients.${index}.client_id: another client has the id ${id}`)
    for (const [place, uri] of uris.entries()) {
      const problem = redirectProblem(uri)
      if (problem !== undefined) complain(`clients.${index}.redirect_uris.${place}: ${problem}`)
    }
  }
  for (const [index, resource] of resources.entries()) {
    const problem = resourceProblem(resource)
    if (problem !== undefined) complain(`resources.${index}: ${problem}`)
  }
  return {
    clients: clients.map((client) => ({
      clientId: client.client_id,
      clientName: client.client_name,
      redirectUris: client.redirect_uris,
      clientSecret: client.client_secret,
    })),
    resources,
    dynamicRegistration,
  }
}

// RFC 8707 2: an absolute URI without a fragment. Audiences are compared, never called.
function resourceProblem(resource: string): string | undefined {
  if (!URL.canParse(resource)) return 'is no absolute URI'
  return resource.includes('#') ? 'must have no fragment' : undefined
}
