/** The paths of the OAuth flow for applications. */
export const OAUTH_PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  register: '/oauth/register',
  /** Required by the library, and not served: no token is signed. */
  jwks: '/oauth/jwks',
  consent: (uid: string) => `/oauth/consent/${encodeURIComponent(uid)}`,
  consentRoute: '/oauth/consent/:uid',
  // RFC 8414 3 and RFC 9728 3
  serverMetadata: '/.well-known/oauth-authorization-server',
  resourceMetadata: '/.well-known/oauth-protected-resource',
  mcpMetadata: '/.well-known/oauth-protected-resource/mcp',
} as const
