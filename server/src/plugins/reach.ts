/** Derives what a plugin may reach from its manifest and the options that the operator gives it. */

import { declaredHosts, type Manifest } from '@claimcheck/core/hosting'
import type { Reach } from '../outbound/outbound.ts'

/**
 * Derives the hosts and methods that a plugin may use.
 * @param given the plugin's options
 * @param isTrusted true if the plugin runs in this process
 */
export function reachOf(manifest: Manifest, given: Readonly<Record<string, unknown>>, isTrusted: boolean): Reach {
  const { methods, sockets, programs = [], tokenHosts = [] } = manifest
  return {
    hosts: declaredHosts(manifest.hosts, given),
    ...(tokenHosts.length > 0 ? { tokenHosts: declaredHosts(tokenHosts, given) } : {}),
    ...(methods ? { methods } : {}),
    ...(sockets ? { sockets } : {}),
    mayReveal: isTrusted && programs.length > 0,
  }
}
