/** A connection that is kept although nothing may answer at its destination, as `connection add --untested` makes it. */
import type { JsonObject } from '@claimcheck/core/rules'
import type { Claimcheck } from '@claimcheck/server/claimcheck'
import type { ConnectionSummary } from '@claimcheck/server/features/workspaces/connections'

export async function connect(
  { connections }: Pick<Claimcheck, 'connections'>,
  workspaceId: string,
  provider: string,
  options: JsonObject,
): Promise<ConnectionSummary> {
  const connected = await connections.connect(workspaceId, provider, options, { userId: null, insists: true })
  if ('isRefused' in connected) throw new Error(`${provider} is not connected: ${connected.failure}`)
  return connected
}
