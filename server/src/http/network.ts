/** The network by which requests are counted. */
import { clientNetwork } from '../base/networks.ts'
import { NO_ADDRESS } from './proxies.ts'

/**
 * Returns the network by which requests from an address are counted. All texts that are no address count as one client, so that inventing texts gains
 * nothing.
 */
export function networkOf(address: string): string {
  return clientNetwork(address) ?? NO_ADDRESS
}
