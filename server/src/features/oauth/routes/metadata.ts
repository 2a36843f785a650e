/** The metadata by which applications discover the OAuth endpoints (RFC 8414) and the protected resources (RFC 9728). */

import type { App } from '../../../http/instance.ts'
import type { OAuth } from '../oauth.ts'
import { OAUTH_PATHS } from '../paths.ts'
import { CLIENT_AUTHENTICATION } from '../registration.ts'
import { SCOPES, TOOL_SCOPES } from '../scopes.ts'

export function metadataRoutes(app: App, oauth: OAuth): void {
  const schema = { hide: true }
  for (const path of [OAUTH_PATHS.serverMetadata, OAUTH_PATHS.mcpServerMetadata]) {
    app.get(path, { schema }, async () => serverMetadata(oauth))
  }
  for (const path of [OAUTH_PATHS.openidMetadata, OAUTH_PATHS.mcpOpenidMetadata]) {
    app.get(path, { schema }, async () => openidMetadata(oauth))
  }
  app.get(OAUTH_PATHS.jwks, { schema }, async () => NO_KEYS)
  for (const [path, end] of [
    [OAUTH_PATHS.resourceMetadata, ''],
    [OAUTH_PATHS.mcpMetadata, '/mcp'],
    [OAUTH_PATHS.mcpSlashMetadata, '/mcp/'],
  ] as const) {
    app.get(path, { schema }, async ({ host }) => resourceMetadata(oauth, oauth.audiences().originAt(host) + end))
  }
}

function serverMetadata(oauth: OAuth) {
  const issuer = oauth.issuer()
  return {
    issuer,
    authorization_endpoint: issuer + OAUTH_PATHS.authorize,
    token_endpoint: issuer + OAUTH_PATHS.token,
    revocation_endpoint: issuer + OAUTH_PATHS.revoke,
    ...(oauth.registrations ? { registration_endpoint: issuer + OAUTH_PATHS.register } : {}),
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    revocation_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
  }
}

/**
 * Makes the metadata for clients that look for OpenID Connect Discovery alone, or look there second (RFC 8414 5). The service is no OpenID provider:
 * it leaves the scope `openid` out and issues no ID token. Clients refuse a document without the members that OpenID Connect Discovery requires.
 */
function openidMetadata(oauth: OAuth) {
  return {
    ...serverMetadata(oauth),
    jwks_uri: oauth.issuer() + OAUTH_PATHS.jwks,
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: [],
  }
}

/** An empty key set, because no token is signed. */
const NO_KEYS = { keys: [] }

function resourceMetadata(oauth: OAuth, resource: string) {
  return {
    resource,
    authorization_servers: [oauth.issuer()],
    scopes_supported: TOOL_SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Claimcheck',
  }
}
