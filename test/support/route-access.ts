/** Who may use each route of the service. A new route has a row here, or a test fails: what it shows to whom is decided, not found out. */

/**
 * - `anyone`: it shows the same to everybody, or what whoever has the unguessable id may see
 * - `link`: whoever holds the token in the address
 * - `application`: OAuth clients, and the browsers that they send
 * - `key`: an API key, for its workspace; `credential`: also a token of an application; `audience`: a key, or a token
 *   that is meant for this route alone
 * - `account`: who is signed in, for themselves
 * - `member`, `owner`: who is one of the workspace in the address
 */
export type Access =
  | 'anyone'
  | 'link'
  | 'application'
  | 'key'
  | 'credential'
  | 'audience'
  | 'account'
  | 'member'
  | 'owner'

export const ROUTE_ACCESS: Readonly<Record<string, Access>> = {
  'POST /v1/claims': 'key',
  'GET /v1/claims': 'key',
  'GET /v1/claims/:claim_id': 'key',
  'GET /v1/connections': 'key',
  'GET /v1/whoami': 'credential',
  'POST /mcp': 'audience',
  'POST /v1/keys/self/revoke': 'key',
  'POST /v1/keys': 'application',

  'GET /.well-known/oauth-authorization-server': 'anyone',
  'GET /.well-known/oauth-protected-resource': 'anyone',
  'GET /.well-known/oauth-protected-resource/mcp': 'anyone',
  'GET /.well-known/poaw-keys.json': 'anyone',
  'GET /.well-known/security.txt': 'anyone',
  'GET /v1/receipts/:receipt_id': 'anyone',
  'GET /v1/receipts/:receipt_id/evidence': 'anyone',
  'GET /v1/log/head': 'anyone',
  'GET /v1/log/entries': 'anyone',
  'GET /v1/log/proof': 'anyone',
  'GET /v1/log/consistency': 'anyone',
  'GET /v1/log/anchors': 'anyone',
  'GET /v1/profiles': 'anyone',
  'GET /healthz': 'anyone',
  'GET /readyz': 'anyone',
  'GET /metrics': 'anyone',
  'GET /openapi.json': 'anyone',
  'GET /': 'anyone',
  'GET /check.html': 'anyone',
  'GET /docs': 'anyone',
  'GET /docs/search.json': 'anyone',
  'GET /docs/*': 'anyone',
  'GET /log': 'anyone',
  'GET /log/proof': 'anyone',
  'GET /log/:index': 'anyone',
  'GET /r/:file': 'anyone',

  'GET /oauth/authorize': 'application',
  'GET /oauth/authorize/:uid': 'application',
  'POST /oauth/token': 'application',
  'POST /oauth/revoke': 'application',
  'POST /oauth/register': 'application',

  'GET /console/sign-in': 'anyone',
  'POST /console/sign-in': 'anyone',
  'POST /console/sign-in/code': 'anyone',
  'POST /console/sign-out': 'anyone',
  'POST /console/sign-in/passkey/options': 'anyone',
  'POST /console/sign-in/passkey': 'anyone',
  'POST /console/sign-in/outside': 'anyone',
  'GET /console/sign-in/outside/callback': 'anyone',
  'GET /console/setup/:token': 'link',
  'POST /console/setup/:token': 'link',
  'GET /console/join/:token': 'link',
  'POST /console/join/:token': 'link',
  'GET /console/reset/:token': 'link',
  'POST /console/reset/:token': 'link',

  'GET /console': 'account',
  'GET /console/workspaces/new': 'account',
  'POST /console/workspaces/new': 'account',
  'GET /console/account': 'account',
  'POST /console/account/name': 'account',
  'POST /console/account/password': 'account',
  'POST /console/account/sessions/end': 'account',
  'POST /console/account/sessions/end-others': 'account',
  'GET /console/account/machines': 'account',
  'POST /console/account/machines': 'account',
  'GET /console/account/machines/:machine/revoke': 'account',
  'POST /console/account/machines/:machine/revoke': 'account',
  'GET /console/account/second-step': 'account',
  'POST /console/account/second-step': 'account',
  'POST /console/account/second-step/codes': 'account',
  'POST /console/account/second-step/off': 'account',
  'GET /console/account/close': 'account',
  'POST /console/account/close': 'account',
  'GET /console/confirm': 'account',
  'POST /console/account/passkeys/options': 'account',
  'POST /console/account/passkeys': 'account',
  'POST /console/account/passkeys/remove': 'account',
  'POST /console/account/unlink': 'account',
  'GET /console/account/applications': 'account',
  'GET /console/account/events': 'account',
  'POST /console/account/applications/:grant/revoke': 'account',
  'GET /oauth/consent/:uid': 'account',
  'POST /oauth/consent/:uid': 'account',

  'GET /console/w/:workspace/claims': 'member',
  'GET /console/w/:workspace/claims.csv': 'member',
  'GET /console/w/:workspace/claims.json': 'member',
  'GET /console/w/:workspace/claims/:claim_id': 'member',
  'GET /console/w/:workspace/agents': 'member',
  'GET /console/w/:workspace/agents/:agent_id': 'member',
  'GET /console/w/:workspace/connections': 'member',
  'GET /console/w/:workspace/developers': 'member',
  'GET /console/w/:workspace/developers/keys': 'member',
  'GET /console/w/:workspace/members': 'member',
  'GET /console/w/:workspace/retention': 'member',

  'GET /console/w/:workspace/claims/new': 'owner',
  'POST /console/w/:workspace/claims/new': 'owner',
  'GET /console/w/:workspace/connections/new/:provider': 'owner',
  'POST /console/w/:workspace/connections/new/:provider': 'owner',
  'GET /console/w/:workspace/connections/:connection/credentials': 'owner',
  'POST /console/w/:workspace/connections/:connection/credentials': 'owner',
  'POST /console/w/:workspace/connections/:connection/test': 'owner',
  'GET /console/w/:workspace/connections/:connection/name': 'owner',
  'POST /console/w/:workspace/connections/:connection/name': 'owner',
  'GET /console/w/:workspace/connections/:connection/disconnect': 'owner',
  'POST /console/w/:workspace/connections/:connection/disconnect': 'owner',
  'POST /console/w/:workspace/developers/keys': 'owner',
  'GET /console/w/:workspace/developers/keys/:key': 'owner',
  'POST /console/w/:workspace/developers/keys/:key': 'owner',
  'GET /console/w/:workspace/developers/keys/:key/rotate': 'owner',
  'POST /console/w/:workspace/developers/keys/:key/rotate': 'owner',
  'POST /console/w/:workspace/developers/sites': 'owner',
  'GET /console/w/:workspace/developers/agents/release': 'owner',
  'POST /console/w/:workspace/developers/agents/release': 'owner',
  'GET /console/w/:workspace/developers/keys/:key/revoke': 'owner',
  'POST /console/w/:workspace/developers/keys/:key/revoke': 'owner',
  'POST /console/w/:workspace/members/invitations': 'owner',
  'POST /console/w/:workspace/members/invitations/withdraw': 'owner',
  'POST /console/w/:workspace/name': 'owner',
  'GET /console/w/:workspace/retention/change': 'owner',
  'POST /console/w/:workspace/retention': 'owner',
  'POST /console/w/:workspace/sign-in-rule': 'owner',
  'GET /console/w/:workspace/delete': 'owner',
  'POST /console/w/:workspace/delete': 'owner',
  'GET /console/w/:workspace/members/:member/role': 'owner',
  'POST /console/w/:workspace/members/:member/role': 'owner',
  // Also who is that member: everybody may leave.
  'GET /console/w/:workspace/members/:member/remove': 'owner',
  'POST /console/w/:workspace/members/:member/remove': 'owner',
  'GET /console/w/:workspace/plugins': 'owner',
  'GET /console/w/:workspace/audit-trail': 'owner',
  'POST /console/w/:workspace/audit-trail/export': 'owner',
}
