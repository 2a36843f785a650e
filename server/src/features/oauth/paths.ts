/** The paths of the OAuth flow for applications. */
export const OAUTH_PATHS = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  revoke: '/oauth/revoke',
  register: '/oauth/register',
  jwks: '/oauth/jwks',
  consent: (uid: string) => `/oauth/consent/${encodeURIComponent(uid)}`,
  consentRoute: '/oauth/consent/:uid',
  // RFC 8414 3 and 5, and RFC 9728 3, define these paths.
  serverMetadata: '/.well-known/oauth-authorization-server',
  openidMetadata: '/.well-known/openid-configuration',
  // Some clients of MCP take the address of the MCP server for that of the authorization server.
  mcpServerMetadata: '/.well-known/oauth-authorization-server/mcp',
  mcpOpenidMetadata: '/.well-known/openid-configuration/mcp',
  resourceMetadata: '/.well-known/oauth-protected-resource',
  mcpMetadata: '/.well-known/oauth-protected-resource/mcp',
  // Clients compare `resource` with the address that a person gave them: here the one with a slash at its end.
  mcpSlashMetadata: '/.well-known/oauth-protected-resource/mcp/',
} as const
