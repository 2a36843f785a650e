/** What we take of an application that makes itself known: what we need of it, and nothing that would have us call elsewhere. */
import type { ClientMetadata } from 'oidc-provider'
import { isReadable, MAX_NAME_LENGTH } from '../base/names.ts'
import { MAX_REDIRECT_URI_LENGTH, MAX_REDIRECT_URIS, redirectProblem } from '../config/redirect-uris.ts'
import type { Library } from './library.ts'

const TAKEN: ReadonlySet<string> = new Set([
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

/** Changes the metadata to what is taken. @throws InvalidClientMetadata */
export function restrictMetadata(metadata: ClientMetadata, errors: Library['errors']): void {
  for (const name of Object.keys(metadata)) {
    if (!TAKEN.has(name)) delete metadata[name]
  }
  Object.assign(metadata, FIXED)
  const { client_name: name, redirect_uris: uris } = metadata
  if (name !== undefined && (typeof name !== 'string' || name.length > MAX_NAME_LENGTH)) {
    throw new errors.InvalidClientMetadata(`client_name must have at most ${MAX_NAME_LENGTH} characters`)
  }
  // People decide by it whom they trust.
  if (name !== undefined && (name.trim() === '' || !isReadable(name))) {
    throw new errors.InvalidClientMetadata('client_name must be a name that people can read')
  }
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_REDIRECT_URIS) {
    throw new errors.InvalidClientMetadata(`redirect_uris must be 1 to ${MAX_REDIRECT_URIS} addresses`)
  }
  for (const uri of uris) {
    const isTooLong = typeof uri !== 'string' || uri.length > MAX_REDIRECT_URI_LENGTH
    const problem = isTooLong ? `must have at most ${MAX_REDIRECT_URI_LENGTH} characters` : redirectProblem(uri)
    if (problem !== undefined) throw new errors.InvalidClientMetadata(`redirect_uris: each ${problem}`)
  }
}

/** How applications may show who they are. */
export const CLIENT_AUTHENTICATION = ['none', 'client_secret_basic', 'client_secret_post'] as const

/** `native`: then the library lets loopback addresses be of any port (RFC 8252 7.3). */
export const FIXED = { application_type: 'native', response_types: ['code'] } as const
