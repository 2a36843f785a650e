/** Where everything in the console is. */
import { VERSION } from '../base/version.ts'

const ROOT = '/console'

function inWorkspace(rest: string) {
  return (workspaceId: string) => `${ROOT}/w/${encodeURIComponent(workspaceId)}/${rest}`
}

export const paths = {
  home: ROOT,
  assets: `${ROOT}/assets`,
  setup: (token: string) => `${ROOT}/setup/${encodeURIComponent(token)}`,
  invitation: (token: string) => `${ROOT}/join/${encodeURIComponent(token)}`,
  reset: (token: string) => `${ROOT}/reset/${encodeURIComponent(token)}`,
  signIn: `${ROOT}/sign-in`,
  signOut: `${ROOT}/sign-out`,
  account: `${ROOT}/account`,
  applications: `${ROOT}/account/applications`,
  accountName: `${ROOT}/account/name`,
  accountPassword: `${ROOT}/account/password`,
  endSession: `${ROOT}/account/sessions/end`,
  endOtherSessions: `${ROOT}/account/sessions/end-others`,
  passkeys: `${ROOT}/account/passkeys`,
  passkeyOptions: `${ROOT}/account/passkeys/options`,
  removePasskey: `${ROOT}/account/passkeys/remove`,
  unlink: `${ROOT}/account/unlink`,
  passkeySignIn: `${ROOT}/sign-in/passkey`,
  passkeySignInOptions: `${ROOT}/sign-in/passkey/options`,
  oidc: `${ROOT}/sign-in/outside`,
  oidcCallback: `${ROOT}/sign-in/outside/callback`,
  newWorkspace: `${ROOT}/workspaces/new`,
  claims: inWorkspace('claims'),
  newClaim: inWorkspace('claims/new'),
  claim: (workspaceId: string, claimId: string) => inWorkspace(`claims/${encodeURIComponent(claimId)}`)(workspaceId),
  connections: inWorkspace('connections'),
  developers: inWorkspace('developers'),
  members: inWorkspace('members'),
  keys: inWorkspace('developers/keys'),
  revokeKey: (workspaceId: string, id: string) =>
    inWorkspace(`developers/keys/${encodeURIComponent(id)}/revoke`)(workspaceId),
  newConnection: (workspaceId: string, provider: string) =>
    inWorkspace(`connections/new/${encodeURIComponent(provider)}`)(workspaceId),
  credentials: (workspaceId: string, id: string) =>
    inWorkspace(`connections/${encodeURIComponent(id)}/credentials`)(workspaceId),
  disconnect: (workspaceId: string, id: string) =>
    inWorkspace(`connections/${encodeURIComponent(id)}/disconnect`)(workspaceId),
} as const

/** Where the routes of a workspace are declared. */
export const WORKSPACE_PREFIX = `${ROOT}/w/:workspace`

/** A file of the console's own. Its address changes with every version, so that it may be kept for good. */
export function assetPath(name: string): string {
  return `${paths.assets}/${VERSION}/${name}`
}

/** The page that somebody was on their way to, if it is one of ours; else the console's first. */
export function returnPath(next: unknown): string {
  if (typeof next !== 'string' || !URL.canParse(next, 'http://here.invalid')) return paths.home
  const { origin, pathname, search } = new URL(next, 'http://here.invalid')
  const isOurs = pathname === ROOT || pathname.startsWith(`${ROOT}/`) || pathname.startsWith('/oauth/')
  // Put together anew from its parts: what browsers would read otherwise than URL does is not passed on.
  return origin === 'http://here.invalid' && isOurs ? pathname + search : paths.home
}

export function signInPath(next: string): string {
  return `${paths.signIn}?${new URLSearchParams({ next })}`
}
