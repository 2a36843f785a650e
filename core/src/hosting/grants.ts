/** Finds the entry of a plugin's manifest that allows a check to read an origin. */
import type { Manifest } from '../contract/plugin.ts'
import { parseUrl } from '../url.ts'
import { isLiteral, originOf, portOf, socketAddress } from './base-address.ts'

/** The reason a check may read an origin: an entry names it, a workspace typed it, or a claim names it, which then has to be public. */
export type Grant = 'named' | 'connection' | 'target'

/** The options of a connection as its workspace typed them. */
export type TypedOptions = Readonly<Record<string, unknown>>

/**
 * Finds the reason a check may read an origin.
 * @param origin `https://host`, `tls://host:port`
 * @param typed the options of the connection that the check reads through
 * @param hasSecrets tells whether the check has secrets: sent to a host that a claim names, the claim's author would get them
 * @returns undefined where the manifest allows no such check
 */
export function grantOf(
  { hosts, sockets = [] }: Pick<Manifest, 'hosts' | 'sockets'>,
  {
    origin,
    typed = {},
    hasSecrets,
  }: { readonly origin: string; readonly typed?: TypedOptions | undefined; readonly hasSecrets: boolean },
): Grant | undefined {
  const place = placeOf(origin)
  // The address that a workspace typed comes first, because the port may be the workspace's, which no other entry knows.
  if (hosts.some((entry) => typedOrigins(entry, typed, sockets).includes(origin))) return 'connection'
  if (hosts.some((entry) => isNamed(entry, place))) return 'named'
  return hosts.includes('target') && !hasSecrets ? 'target' : undefined
}

const CONNECTION = 'connection.'

/** The option that an entry of the manifest's hosts names; undefined for other entries. */
export function optionOfConnection(entry: string): string | undefined {
  return entry.startsWith(CONNECTION) ? entry.slice(CONNECTION.length) : undefined
}

/**
 * Origins that the workspace typed, and not what the plugin makes of them: a plugin that moves the port would get the credentials there. A
 * host without a scheme means https, and the sockets that the manifest declares: at their ports, or at the one that is typed behind it.
 */
function typedOrigins(
  entry: string,
  typed: TypedOptions,
  sockets: NonNullable<Manifest['sockets']>,
): readonly string[] {
  const option = optionOfConnection(entry)
  const value = option !== undefined && Object.hasOwn(typed, option) ? typed[option] : undefined
  if (typeof value !== 'string') return []
  const texts = value.includes('://')
    ? [value]
    : [
        `https://${value}`,
        ...sockets.map(
          ({ port, tls }) => `${tls ? 'tls' : 'tcp'}://${value}${port === 'connection' ? '' : `:${port}`}`,
        ),
      ]
  return texts.map(originOf).filter((origin) => origin !== undefined)
}

interface HostAndPort {
  readonly hostname: string
  readonly port: number
  /** Tells whether an entry without a port means it: the usual port of http or https, and any of sockets, whose ports the manifest lists. */
  readonly isUsualPort: boolean
}

function placeOf(origin: string): HostAndPort {
  const socket = socketAddress(origin)
  if (socket) return { ...socket, isUsualPort: true }
  const url = new URL(origin)
  return { hostname: url.hostname, port: portOf(url), isUsualPort: url.port === '' }
}

function isNamed(entry: string, { hostname, port, isUsualPort }: HostAndPort): boolean {
  const [, name = '', entryPort] = /^(.*?)(?::([0-9]+))?$/.exec(entry) ?? []
  if (entryPort === undefined ? !isUsualPort : Number(entryPort) !== port) return false
  if (!name.startsWith('*.')) return name === hostname
  // One or more labels below the name.
  return !isLiteral(hostname) && hostname.endsWith(name.slice(1)) && hostname.length >= name.length
}

const OPTION = 'options.'

/** Completes a manifest's hosts by those in the operator's options. @param given the plugin's options */
export function declaredHosts(hosts: readonly string[], given: Readonly<Record<string, unknown>>): string[] {
  return hosts.flatMap((host) => {
    if (!host.startsWith(OPTION)) return [host]
    const url = given[host.slice(OPTION.length)]
    const parsed = typeof url === 'string' ? parseUrl(url) : undefined
    return parsed ? [parsed.host] : []
  })
}
