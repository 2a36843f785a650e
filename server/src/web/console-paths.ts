/** The paths of the console. */
import { parseUrl } from '@claimcheck/core/plugin'

const ROOT = '/console'

/** Writes an agent's id as a segment of a path. A segment `.` or `..` would lead elsewhere, however it is written, so `~` precedes it. */
function agentSegment(agentId: string): string {
  return encodeURIComponent(/^~*\.\.?$/.test(agentId) ? `~${agentId}` : agentId)
}

/** Reads the agent's id from a segment that `paths.agent` made. */
export function agentOfSegment(segment: string): string {
  return /^~+\.\.?$/.test(segment) ? segment.slice(1) : segment
}

function inWorkspace(rest: string) {
  return (workspaceId: string) => `${ROOT}/w/${encodeURIComponent(workspaceId)}/${rest}`
}

function ofOne(list: string, rest = '') {
  return (workspaceId: string, id: string) => inWorkspace(`${list}/${encodeURIComponent(id)}${rest}`)(workspaceId)
}

export const paths = {
  home: ROOT,
  setup: (token: string) => `${ROOT}/setup/${encodeURIComponent(token)}`,
  invitation: (token: string) => `${ROOT}/join/${encodeURIComponent(token)}`,
  reset: (token: string) => `${ROOT}/reset/${encodeURIComponent(token)}`,
  signIn: `${ROOT}/sign-in`,
  forgotten: `${ROOT}/forgotten`,
  signInCode: `${ROOT}/sign-in/code`,
  confirm: `${ROOT}/confirm`,
  signOut: `${ROOT}/sign-out`,
  account: `${ROOT}/account`,
  applications: `${ROOT}/account/applications`,
  machines: `${ROOT}/account/machines`,
  revokeMachine: (id: string) => `${ROOT}/account/machines/${encodeURIComponent(id)}/revoke`,
  accountName: `${ROOT}/account/name`,
  accountAddress: `${ROOT}/account/address`,
  confirmAddress: (token: string) => `${ROOT}/account/address/${encodeURIComponent(token)}`,
  accountPassword: `${ROOT}/account/password`,
  secondStep: `${ROOT}/account/second-step`,
  recoveryCodes: `${ROOT}/account/second-step/codes`,
  secondStepOff: `${ROOT}/account/second-step/off`,
  closeAccount: `${ROOT}/account/close`,
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
  accountEvents: `${ROOT}/account/events`,
  newWorkspace: `${ROOT}/workspaces/new`,
  claims: inWorkspace('claims'),
  newClaim: inWorkspace('claims/new'),
  claim: ofOne('claims'),
  claimsExport: inWorkspace('claims/export'),
  agents: inWorkspace('agents'),
  agent: (workspaceId: string, agentId: string) => inWorkspace(`agents/${agentSegment(agentId)}`)(workspaceId),
  connections: inWorkspace('connections'),
  developers: inWorkspace('developers'),
  members: inWorkspace('members'),
  workspaceName: inWorkspace('name'),
  retention: inWorkspace('retention'),
  signInRule: inWorkspace('sign-in-rule'),
  payer: inWorkspace('payer'),
  deleteWorkspace: inWorkspace('delete'),
  plugins: inWorkspace('plugins'),
  auditTrail: inWorkspace('audit-trail'),
  auditTrailExport: inWorkspace('audit-trail/export'),
  keys: inWorkspace('developers/keys'),
  key: ofOne('developers/keys'),
  rotateKey: ofOne('developers/keys', '/rotate'),
  releaseAgent: inWorkspace('developers/agents/release'),
  sites: inWorkspace('developers/sites'),
  domain: inWorkspace('developers/domain'),
  revokeKey: ofOne('developers/keys', '/revoke'),
  newConnection: ofOne('connections/new'),
  credentials: ofOne('connections', '/credentials'),
  connectionName: ofOne('connections', '/name'),
  testConnection: ofOne('connections', '/test'),
  disconnect: ofOne('connections', '/disconnect'),
} as const

/** The prefix of all routes of a workspace. */
export const WORKSPACE_PREFIX = `${ROOT}/w/:workspace`

/** Finds the workspace that a path of the console names. */
export function workspaceIn(path: string): string | undefined {
  return /^\/console\/w\/([^/?]+)/.exec(path)?.[1]
}

/** Returns `next` if it is one of our own pages, else the start page. */
export function returnPath(next: unknown): string {
  if (typeof next !== 'string' || !parseUrl(next, 'http://here.invalid')) return paths.home
  const { origin, pathname, search } = new URL(next, 'http://here.invalid')
  const isOurs = pathname === ROOT || pathname.startsWith(`${ROOT}/`) || pathname.startsWith('/oauth/')
  // The path is built from the parsed parts: a browser may read the original text differently from URL.
  return origin === 'http://here.invalid' && isOurs ? pathname + search : paths.home
}

/** Makes the path of the page that asks a signed-in person to sign in again. */
export function confirmPath(next: string): string {
  return `${paths.confirm}?${new URLSearchParams({ next })}`
}

/** The longest `next`, longer than any page's address; three times as long, as escaped, no client would take the redirect. */
const LONGEST_NEXT = 2048

export function signInPath(next: string): string {
  return `${paths.signIn}?${new URLSearchParams({ next: next.length > LONGEST_NEXT ? paths.home : next })}`
}
