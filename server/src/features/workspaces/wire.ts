/** Converts connections to the form of the API. */

import type * as wire from '@claimcheck/core/api'
import { formatInstant } from '@claimcheck/core/rules'
import type { ConnectionSummary } from './connections.ts'

export function toConnectionList(
  connections: readonly ConnectionSummary[],
  publicActions: readonly string[],
): wire.ConnectionList {
  return {
    connections: connections.map(({ id, name, provider, scopes, connectedAt, identity, actions, aliases }) => ({
      id,
      name,
      provider,
      scopes: [...scopes],
      connected_at: formatInstant(connectedAt),
      identity: identity?.text,
      actions: [...actions, ...aliases],
    })),
    public_actions: [...publicActions],
  }
}
