/** What a plugin may reach, from its manifest and the options that the operator gives it. */
import type { Manifest } from '@claimcheck/core'
import type { Reach } from '../outbound/outbound.ts'

const OPTION = 'options.'

/**
 * @param given the plugin's options
 * @param isTrusted the plugin runs in this process
 */
export function reachOf(manifest: Manifest, given: Readonly<Record<string, unknown>>, isTrusted: boolean): Reach {
  const { hosts, methods, sockets, programs = [] } = manifest
  return {
    hosts: hosts.flatMap((host) => (host.startsWith(OPTION) ? hostIn(given[host.slice(OPTION.length)]) : [host])),
    ...(methods ? { methods } : {}),
    ...(sockets ? { sockets } : {}),
    mayReveal: isTrusted && programs.length > 0,
  }
}

function hostIn(url: unknown): string[] {
  return typeof url === 'string' && URL.canParse(url) ? [new URL(url).host] : []
}
