/** The addresses of the service: the one at which it listens, and the one that people and applications use. */
import { isIPv6 } from 'node:net'
import type { HostConfig } from './config.ts'

/**
 * Addresses that browsers of this machine reach as `localhost`. Links use that name for all of them: passkeys belong to a host name, and browsers
 * keep separate cookies for `localhost` and `127.0.0.1`.
 */
const THIS_MACHINE: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '0.0.0.0', '::', 'localhost'])

/**
 * Writes the URL at which the service listens.
 * @param port the port in use, where the configuration asks for any free one
 */
export function listeningUrl({ host, port }: Pick<HostConfig, 'host' | 'port'>): string {
  if (THIS_MACHINE.has(host)) return `http://localhost:${port}`
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** Returns PUBLIC_URL, or else the URL at which the service listens. */
export function publicAddress(config: Pick<HostConfig, 'publicUrl' | 'host' | 'port'>): string {
  return config.publicUrl ?? listeningUrl(config)
}
