/** What of a plugin's manifest allows a check to read where it reads. */
import type { Manifest } from '../contract/plugin.ts'
import { parseUrl } from '../url.ts'
import { isLiteral, originOf, socketAddress } from './base-address.ts'

/** `named`: by an entry with its name. `connection`: as the address that a workspace typed. `target`: as a place that a claim names, which has to be public. */
export type Grant = 'named' | 'connection' | 'target'

/** The options of a connection as its workspace typed them. */
export type Typed = Readonly<Record<string, unknown>>

interface Asked {
  /** `https://host`, `tls://host:port`. */
  readonly origin: string
  /** Of the connection that the check reads through; none, when left out. */
  readonly typed?: Typed | undefined
  /** The check has secrets, which it must not send to a host that a claim names: the author of the claim would get them. */
  readonly hasSecrets: boolean
}

/** Undefined where the manifest allows no such check. */
export function grantOf(
  { hosts, sockets = [] }: Pick<Manifest, 'hosts' | 'sockets'>,
  { origin, typed = {}, hasSecrets }: Asked,
): Grant | undefined {
  const place = placeOf(origin)
  if (hosts.some((entry) => isNamed(entry, place))) return 'named'
  if (hosts.some((entry) => typedOrigins(entry, typed, sockets).includes(origin))) return 'connection'
  return hosts.includes('target') && !hasSecrets ? 'target' : undefined
}

const CONNECTION = 'connection.'

/** The option that an entry of the manifest's hosts names; undefined for other entries. */
export function optionOfConnection(entry: string): string | undefined {
  return entry.startsWith(CONNECTION) ? entry.slice(CONNECTION.length) : undefined
}

/**
 * What the workspace typed decides, and not what the plugin makes of it: a plugin that moves the port would get the credentials there. A
 * host without a scheme is one of https, and of the sockets that the manifest declares.
 */
function typedOrigins(entry: string, typed: Typed, sockets: NonNullable<Manifest['sockets']>): readonly string[] {
  const option = optionOfConnection(entry)
  const value = option !== undefined && Object.hasOwn(typed, option) ? typed[option] : undefined
  if (typeof value !== 'string') return []
  const texts = value.includes('://')
    ? [value]
    : [`https://${value}`, ...sockets.map(({ port, tls }) => `${tls ? 'tls' : 'tcp'}://${value}:${port}`)]
  return texts.map(originOf).filter((origin) => origin !== undefined)
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

/** Hosts of a manifest, with those in the operator's options. @param given the plugin's options */
export function declaredHosts(hosts: readonly string[], given: Readonly<Record<string, unknown>>): string[] {
  return hosts.flatMap((host) => (host.startsWith(OPTION) ? hostIn(given[host.slice(OPTION.length)]) : [host]))
}

function hostIn(url: unknown): string[] {
  const parsed = typeof url === 'string' ? parseUrl(url) : undefined
  return parsed ? [parsed.host] : []
}
