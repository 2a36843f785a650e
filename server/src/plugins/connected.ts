/** A connection in the form that the host's requests need: the options that its workspace typed, and how its type has the secrets spent. */
import type { Refreshes } from '@claimcheck/core/hosting'
import type { JsonObject } from '@claimcheck/core/rules'
import type { GivenConnection } from '../outbound/outbound.ts'
import type { HostedConnectionType } from './hosted.ts'

/**
 * Makes that form of a connection.
 * @param connection null when the destination is read without one
 */
export function connectedBy(
  { credentials, reach }: Pick<HostedConnectionType, 'credentials' | 'reach'>,
  connection: { readonly id: string; readonly options: JsonObject } | null,
  refreshes?: Refreshes,
): GivenConnection {
  const { id, options } = connection ?? { id: '', options: {} }
  return { id, options, credentials, tokenHosts: reach.tokenHosts, refreshes }
}
