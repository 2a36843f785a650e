/** The addresses of the service: where it listens, and where people and applications find it. */
import { isIPv6 } from 'node:net'
import type { HostConfig } from './config.ts'

/**
 * Addresses that browsers of this machine reach as `localhost`. That name is used for all of them: passkeys belong to a host
 * name, and a browser has separate cookies for `localhost` and `127.0.0.1`, so that links may name one of them only.
 */
const THIS_MACHINE: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '0.0.0.0', '::', 'localhost'])

/** @param port the one that is bound, where any free one was asked for */
export function listeningUrl({ host, port }: Pick<HostConfig, 'host' | 'port'>): string {
  if (THIS_MACHINE.has(host)) return `http://localhost:${port}`
  return `http://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/** PUBLIC_URL, or else where it listens. */
export function publicAddress(config: Pick<HostConfig, 'publicUrl' | 'host' | 'port'>): string {
  return config.publicUrl ?? listeningUrl(config)
}
