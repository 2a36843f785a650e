/** The scopes that applications may get: their descriptions for people, and the roles that may grant them. */

import type { ToolScope } from '@claimcheck/cli/mcp/tools'
import { COMMAND_LINE_CLIENT, KEY_SCOPE } from '@claimcheck/cli/service/oauth-client'
import type { Role } from '../../storage/people.ts'

export type Scope = ToolScope | typeof KEY_SCOPE

interface ScopeRule {
  readonly words: string
  readonly grantedBy: readonly Role[]
}

const RULES: Readonly<Record<Scope, ScopeRule>> = {
  'claims:read': { words: 'See the claims of the workspace, and their receipts', grantedBy: ['owner', 'member'] },
  'claims:submit': { words: 'Submit claims in the name of the workspace', grantedBy: ['owner'] },
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

/** Those that any application or machine may get. */
export const SCOPES = (Object.keys(RULES) as Scope[]).filter((scope) => scope !== KEY_SCOPE)

/** Those that this application may get: a key outlives its token, so only the command line may ask for one: no other program receives its code. */
export function scopesFor(clientId: string | undefined): readonly Scope[] {
  return clientId === COMMAND_LINE_CLIENT.clientId ? [KEY_SCOPE] : SCOPES
}

export function isScope(text: string): text is Scope {
  return Object.hasOwn(RULES, text)
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
