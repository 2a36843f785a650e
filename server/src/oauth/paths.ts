/** Where the sign-in flow for applications is. */
export const OAUTH_PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  register: '/oauth/register',
  /** The library's own; nothing that it signs is ever handed out, and we serve none of it. */
  jwks: '/oauth/jwks',
  consent: (uid: string) => `/oauth/consent/${encodeURIComponent(uid)}`,
  consentRoute: '/oauth/consent/:uid',
  // RFC 8414 3 and RFC 9728 3
  serverMetadata: '/.well-known/oauth-authorization-server',
  resourceMetadata: '/.well-known/oauth-protected-resource',
} as const
