/** Names in place of values that plugins must not know: they can compare the names, and learn nothing else. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Connection } from '@claimcheck/core/plugin'

export type OpaqueNames = ReturnType<typeof createOpaqueNames>

/** Makes names by a secret of one plugin in this process: a plain hash lets a plugin guess short credentials, and two plugins compare notes. */
export function createOpaqueNames() {
  const secret = randomBytes(32)
  const named = (kind: string, text: string) =>
    createHmac('sha256', secret).update(`${kind} ${text}`).digest('base64url')
  return {
    /** Makes a name for a workspace, which does not reveal its id. */
    share: (workspaceId: string) => named('workspace', workspaceId),
    /**
     * Names one connection with its current credentials and the identity of its destination. What is read with them stays hidden from other
     * connections, and from this connection after either changes.
     */
    cacheKey(connection: Connection | null): string {
      if (!connection) return ''
      const { id, provider, options, identity } = connection
      return `${named('connection', JSON.stringify({ id, provider, options, identity }))} `
    },
  }
}
