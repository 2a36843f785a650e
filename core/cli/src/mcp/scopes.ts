/** The scopes that tools and resources need of a token. */
import type { ScopeChallengeHandler } from '@modelcontextprotocol/server'

export type ToolScope = 'claims:read' | 'claims:submit' | 'connections:read'

/** Challenges a token that lacks a scope. The challenge names the scopes of the token as well: a client that asks for these anew loses none. */
export function needs(scope: ToolScope): ScopeChallengeHandler {
  return ({ authInfo }) => {
    if (!authInfo || authInfo.scopes.includes(scope)) return undefined
    return { scopes: [scope, ...authInfo.scopes], errorDescription: `the token lacks the scope ${scope}` }
  }
}
