/**
 * The rules for clients that register themselves: which metadata is accepted. Metadata that would make the service send requests is
 * dropped.
 */
import type { ClientMetadata } from 'oidc-provider'
import { isPartlyLike, lookAlike } from '../../names/confusables.ts'
import { composed, idProblem, MAX_NAME_LENGTH } from '../../names/names.ts'
import type { Library } from './library.ts'
import { MAX_REDIRECT_URI_LENGTH, MAX_REDIRECT_URIS, redirectProblem } from './redirect-uris.ts'

const ACCEPTED: ReadonlySet<string> = new Set([
  'client_id',
  'client_id_issued_at',
  'client_secret',
  'client_secret_expires_at',
  'client_name',
  'redirect_uris',
  'grant_types',
  'response_types',
  'token_endpoint_auth_method',
  'application_type',
])

/** The most bytes of the stored JSON of a client that registers itself: anyone may register, and each row stays for a week. */
const MOST_BYTES = 4096

/** Finds the mistake in the name of a client in its one form (`composed`). People decide by it whether they trust the application. */
export function clientNameProblem(name: string): string | undefined {
  if (name === '') return 'it is empty'
  return name.length > MAX_NAME_LENGTH ? `it has more than ${MAX_NAME_LENGTH} characters` : idProblem(name)
}

const SERVICE = 'Claimcheck'

/**
 * Tells whether a name is, or has within it, one like the service's: people would take "Official Claimcheck" for a part of it. What stands in brackets,
 * or after a dash, at the end of another name, as in "Claude Code (claimcheck)" and "MCPJam - claimcheck", only says which service the application is
 * set up for.
 */
function isLikeService(name: string): boolean {
  const words =
    [name.replace(/(?:\([^()]*\)| [-–—] [^()]*)$/, ''), name]
      .map((text) => text.match(/[\p{L}\p{N}]+/gu))
      .find(Boolean) ?? []
  // The service's name may be written as two words. "Reclaim checkout" is none that begins like it.
  return words.some((word, at) => {
    return isPartlyLike(words.slice(at).join(''), SERVICE, 'startsWith') || isPartlyLike(word, SERVICE, 'includes')
  })
}

/**
 * Finds the mistake in the name of a client that registers itself.
 * @param taken the names of the operator's clients
 */
function newNameProblem(given: unknown, taken: readonly string[]): string | undefined {
  if (typeof given !== 'string') return 'must be a text'
  const name = composed(given)
  const problem = clientNameProblem(name)
  if (problem !== undefined) return `must be readable: ${problem}`
  if (isLikeService(name))
    return `has the name of this service, ${SERVICE}, in it: register the name of your application`
  if (!taken.includes(name) && lookAlike(name, taken) === undefined) return undefined
  return 'is, or looks like, that of a client that the operator registered: register another name, or use that client'
}

function redirectsProblem(uris: unknown): string | undefined {
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS)
    return `redirect_uris must contain 1 to ${MAX_REDIRECT_URIS} URIs`
  for (const uri of uris) {
    const isTooLong = typeof uri !== 'string' || uri.length > MAX_REDIRECT_URI_LENGTH
    const problem = isTooLong ? `must have at most ${MAX_REDIRECT_URI_LENGTH} characters` : redirectProblem(uri)
    if (problem !== undefined) return `redirect_uris: each ${problem}`
  }
  return undefined
}

/**
 * Removes metadata that is not accepted, in place.
 * @param taken for a client that registers itself, the names that it may not have. Undefined for clients of the configuration and stored ones, which
 * may be larger, and have names that an earlier policy allowed
 * @throws InvalidClientMetadata
 */
export function restrictMetadata(
  metadata: ClientMetadata,
  taken: readonly string[] | undefined,
  { InvalidClientMetadata }: Library['errors'],
): void {
  const refuseFor = (problem: string | undefined) => {
    if (problem !== undefined) throw new InvalidClientMetadata(problem)
  }
  for (const [name, value] of Object.entries(metadata)) {
    if (!ACCEPTED.has(name)) delete metadata[name]
    // The library writes values into its messages: lists within a thousand lists would exhaust the stack, and be a fault of the service.
    else if (!isFlat(value)) refuseFor(`${name} must be a text, or a list of texts`)
  }
  Object.assign(metadata, FIXED)
  // Clients list all grant types that they can use, also some that this service does not offer. No client gives itself the grant of machines.
  if (Array.isArray(metadata.grant_types)) {
    metadata.grant_types = metadata.grant_types.filter((type) => GRANT_TYPES.has(type))
    if (!metadata.grant_types.includes('authorization_code'))
      refuseFor('grant_types must name authorization_code, and may name refresh_token')
  }
  const { client_name: name, redirect_uris: uris } = metadata
  if (name !== undefined && taken) {
    const problem = newNameProblem(name, taken)
    refuseFor(problem && `client_name ${problem}`)
    metadata.client_name = composed(name)
  }
  refuseFor(redirectsProblem(uris))
  if (taken && Buffer.byteLength(JSON.stringify(metadata)) > MOST_BYTES)
    refuseFor(`the metadata of a client must have at most ${MOST_BYTES} bytes: register fewer or shorter redirect_uris`)
}

/** The grant types that clients of people may have. */
const GRANT_TYPES: ReadonlySet<string> = new Set(['authorization_code', 'refresh_token'])

function isFlat(value: unknown): boolean {
  return (Array.isArray(value) ? value : [value]).every((one) => typeof one !== 'object' || one === null)
}

/** The methods of client authentication. */
export const CLIENT_AUTHENTICATION = ['none', 'client_secret_basic', 'client_secret_post'] as const

/** Metadata that every client gets. With `native` the library accepts any port of a loopback address (RFC 8252 7.3). */
export const FIXED = { application_type: 'native', response_types: ['code'] } as const
