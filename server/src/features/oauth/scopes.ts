/** The scopes that applications may get: their descriptions for people, and the roles that may grant them. */

import type { ToolScope } from '@claimcheck/cli/mcp/scopes'
import { COMMAND_LINE_CLIENT, KEY_SCOPE } from '@claimcheck/cli/service/oauth-client'
import type { Role } from '../../storage/people.ts'

/** The scope to ask for looks at decided claims, which no tool for agents has. */
const REVISIT_SCOPE = 'claims:revisit'

export type Scope = ToolScope | typeof REVISIT_SCOPE | typeof KEY_SCOPE

interface ScopeRule {
  readonly words: string
  readonly grantedBy: readonly Role[]
}

const RULES: Readonly<Record<Scope, ScopeRule>> = {
  'claims:read': { words: 'See the claims of the workspace, and their receipts', grantedBy: ['owner', 'member'] },
  'claims:submit': { words: 'Submit claims in the name of the workspace', grantedBy: ['owner'] },
  [REVISIT_SCOPE]: {
    words: 'Have decided claims looked at again, to tell whether what was verified is still there',
    grantedBy: ['owner'],
  },
  'connections:read': {
    words: 'See which destinations the workspace is connected to, and what can be verified there',
    grantedBy: ['owner', 'member'],
  },
  [KEY_SCOPE]: {
    words:
      'Make one API key for this machine. For 90 days it can do all that the API offers in the workspace, until an owner revokes it',
    grantedBy: ['owner'],
  },
}

const DEFAULT_SCOPE: Scope = 'claims:read'

/** The scopes that any application or machine may get. */
export const SCOPES = (Object.keys(RULES) as Scope[]).filter((scope) => scope !== KEY_SCOPE)

/** The scopes that tools for agents need. */
export const TOOL_SCOPES = SCOPES.filter((scope) => scope !== REVISIT_SCOPE)

/**
 * Returns the scopes that an application may get. A key outlives its token, so only the command line may ask for one: no other program receives its
 * code.
 */
export function scopesFor(clientId: string | undefined): readonly Scope[] {
  return clientId === COMMAND_LINE_CLIENT.client_id ? [KEY_SCOPE] : SCOPES
}

export function isScope(text: string): text is Scope {
  return Object.hasOwn(RULES, text)
}

/** Returns the scopes that this application may get of those it asks for. If it asks for none of them, it gets the least that is of use. */
export function scopesAskedFor(clientId: string | undefined, text: unknown): Scope[] {
  const possible = scopesFor(clientId)
  const known = readScopes(text).filter((scope) => possible.includes(scope))
  return known.length > 0 ? known : possible.filter((scope) => scope === DEFAULT_SCOPE)
}

/** Returns the granted scopes that a refresh asks for: clients repeat what they asked for at first. Undefined stands for all that was granted. */
export function scopesAskedAgain(granted: unknown, text: unknown): string | undefined {
  const known = readScopes(text)
  const kept = readScopes(granted).filter((scope) => known.includes(scope))
  return (kept.length > 0 ? kept : known).join(' ') || undefined
}

/** Returns the known scopes, each once. */
export function readScopes(text: unknown): Scope[] {
  return typeof text === 'string' ? [...new Set(text.split(' '))].filter(isScope) : []
}

export function scopeWords(scope: Scope): string {
  return RULES[scope].words
}

/** Returns the scopes that a member of this role may grant. */
export function allowedTo(role: Role, scopes: readonly Scope[]): Scope[] {
  return scopes.filter((scope) => RULES[scope].grantedBy.includes(role))
}
