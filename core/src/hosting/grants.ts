/** What of a plugin's manifest allows a check to read where it reads. */
import type { Manifest } from '../contract/plugin.ts'
import { parseUrl } from '../url.ts'
import { isLiteral, socketAddress } from './base-address.ts'

/** `named`: by an entry with its name. `target`: as a place that a claim names, which has to be public. */
export type Grant = 'named' | 'connection' | 'target'

interface Asked {
  /** `https://host`, `tls://host:port`. */
  readonly origin: string
  /** It is the address of a connection, and not one that the plugin names for a claim. */
  readonly throughConnection: boolean
  /** The check has secrets, which it must not send to a host that a claim names: the author of the claim would get them. */
  readonly hasSecrets: boolean
}

/** Undefined where the manifest allows no such check. */
export function grantOf(
  { hosts }: Pick<Manifest, 'hosts'>,
  { origin, throughConnection, hasSecrets }: Asked,
): Grant | undefined {
  const place = placeOf(origin)
  if (hosts.some((entry) => isNamed(entry, place))) return 'named'
  if (throughConnection) return hosts.includes('connection') ? 'connection' : undefined
  return hosts.includes('target') && !hasSecrets ? 'target' : undefined
}

interface Place {
  readonly hostname: string
  readonly port: number
  /** An entry without a port means it: the usual one of http or https; for sockets any, because the manifest lists their ports. */
  readonly isUsualPort: boolean
}

function placeOf(origin: string): Place {
  const socket = socketAddress(origin)
  if (socket) return { ...socket, isUsualPort: true }
  const { hostname, port, protocol } = new URL(origin)
  return { hostname, port: Number(port) || (protocol === 'https:' ? 443 : 80), isUsualPort: port === '' }
}

function isNamed(entry: string, { hostname, port, isUsualPort }: Place): boolean {
  const [, name = '', entryPort] = /^(.*?)(?::([0-9]+))?$/.exec(entry) ?? []
  if (entryPort === undefined ? !isUsualPort : Number(entryPort) !== port) return false
  if (!name.startsWith('*.')) return name === hostname
  // One or more labels below the name.
  return !isLiteral(hostname) && hostname.endsWith(name.slice(1)) && hostname.length >= name.length
}

const OPTION = 'options.'

/** The manifest's hosts, with those in the operator's options. @param given the plugin's options */
export function declaredHosts({ hosts }: Pick<Manifest, 'hosts'>, given: Readonly<Record<string, unknown>>): string[] {
  return hosts.flatMap((host) => (host.startsWith(OPTION) ? hostIn(given[host.slice(OPTION.length)]) : [host]))
}

function hostIn(url: unknown): string[] {
  const parsed = typeof url === 'string' ? parseUrl(url) : undefined
  return parsed ? [parsed.host] : []
}
