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

type AddressConfig = Pick<HostConfig, 'publicUrl' | 'host' | 'port'>

/** Returns PUBLIC_URL, or else the URL at which the service listens. */
export function publicAddress(config: AddressConfig): string {
  return config.publicUrl ?? listeningUrl(config)
}

export type OwnAddress = ReturnType<typeof createOwnAddress>

/** Makes the public address of this service, with which its links begin. It never comes from a request. */
export function createOwnAddress(config: AddressConfig) {
  let listening = () => listeningUrl(config)
  /** Returns PUBLIC_URL, or else the address at which the service listens; without a slash at the end. */
  const url = () => config.publicUrl ?? listening()
  return {
    url,
    /** Returns the origin of the public address, without a path. */
    origin: () => new URL(url()).origin,
    /** Sets the source of the address without PUBLIC_URL: its port is known only when the service listens. */
    listensAt(url: () => string) {
      listening = url
    },
  }
}
