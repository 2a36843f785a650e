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
} as const

export type WorkspacePaths = ReturnType<typeof pathsIn>

/** Makes the paths in a workspace. */
export function pathsIn(workspaceId: string) {
  const root = `${ROOT}/w/${encodeURIComponent(workspaceId)}`
  const ofOne =
    (list: string, rest = '') =>
    (id: string) =>
      `${root}/${list}/${encodeURIComponent(id)}${rest}`
  return {
    claims: `${root}/claims`,
    newClaim: `${root}/claims/new`,
    claim: ofOne('claims'),
    revisit: ofOne('claims', '/revisit'),
    claimsExport: `${root}/claims/export`,
    events: `${root}/events`,
    agents: `${root}/agents`,
    agent: (agentId: string) => `${root}/agents/${agentSegment(agentId)}`,
    connections: `${root}/connections`,
    newConnection: ofOne('connections/new'),
    credentials: ofOne('connections', '/credentials'),
    connectionName: ofOne('connections', '/name'),
    testConnection: ofOne('connections', '/test'),
    disconnect: ofOne('connections', '/disconnect'),
    hints: ofOne('connections', '/hints'),
    endHints: ofOne('connections', '/hints/end'),
    developers: `${root}/developers`,
    keys: `${root}/developers/keys`,
    key: ofOne('developers/keys'),
    rotateKey: ofOne('developers/keys', '/rotate'),
    revokeKey: ofOne('developers/keys', '/revoke'),
    releaseAgent: `${root}/developers/agents/release`,
    sites: `${root}/developers/sites`,
    webhooks: `${root}/developers/webhooks`,
    newWebhook: `${root}/developers/webhooks/new`,
    newReport: `${root}/developers/webhooks/new-report`,
    webhook: ofOne('developers/webhooks'),
    testWebhook: ofOne('developers/webhooks', '/test'),
    changeWebhook: ofOne('developers/webhooks', '/change'),
    webhookSecret: ofOne('developers/webhooks', '/secret'),
    switchWebhookOn: ofOne('developers/webhooks', '/on'),
    switchWebhookOff: ofOne('developers/webhooks', '/off'),
    removeWebhook: ofOne('developers/webhooks', '/remove'),
    resendDelivery: ofOne('developers/webhooks', '/resend'),
    domain: `${root}/developers/domain`,
    members: `${root}/members`,
    changeRole: ofOne('members', '/role'),
    removeMember: ofOne('members', '/remove'),
    invitations: `${root}/members/invitations`,
    workspaceName: `${root}/name`,
    retention: `${root}/retention`,
    silence: `${root}/silence`,
    revisits: `${root}/revisits`,
    signInRule: `${root}/sign-in-rule`,
    payer: `${root}/payer`,
    deleteWorkspace: `${root}/delete`,
    plugins: `${root}/plugins`,
    auditTrail: `${root}/audit-trail`,
    auditTrailExport: `${root}/audit-trail/export`,
  }
}

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
