/** Reads the base address of a destination: a URL of http or https, or `tls://host:port` and `tcp://host:port` for other protocols. */
import { parseUrl } from '../url.ts'

/** The parts of an address such as `tls://host:port`, by which a destination without HTTP is reached. */
export interface SocketAddress {
  /** The host name as in a URL of https, an IPv6 address in brackets. */
  readonly hostname: string
  readonly port: number
  readonly isTls: boolean
}

/** Matches a host and a port, and nothing else: no credentials, no path. */
const SOCKET = /^(tls|tcp):\/\/(\[[0-9a-f:.]+\]|[^\s/?#@\\:[\]]+):([0-9]{1,5})\/?$/i
const LARGEST_PORT = 65_535

/** Parses the address of a socket; undefined for any other text. */
export function socketAddress(text: string): SocketAddress | undefined {
  const [, scheme, host, digits] = SOCKET.exec(text) ?? []
  // The host is parsed as in a URL of https, because the URL parser normalizes names and IP addresses only for schemes that it knows.
  const url = host === undefined ? undefined : parseUrl(`https://${host}`)
  if (!url) return undefined
  const port = Number(digits)
  if (port === 0 || port > LARGEST_PORT) return undefined
  return { hostname: url.hostname, port, isTls: scheme!.toLowerCase() === 'tls' }
}

/** Origins by base address, stored because each check asks several times for its destination's, and parsing a URL takes microseconds. */
const origins = new Map<string, string | undefined>()
const MOST_ORIGINS = 1000
/** Limit of the characters of a stored address: whoever types longer ones does not fill the memory. */
const LONGEST_KEPT = 1000

/** The scheme, host and port of a base address, in one form; undefined for any other text. */
export function originOf(text: string): string | undefined {
  if (text.length > LONGEST_KEPT) return readOrigin(text)
  if (!origins.has(text)) {
    if (origins.size >= MOST_ORIGINS) origins.clear()
    origins.set(text, readOrigin(text))
  }
  return origins.get(text)
}

function readOrigin(text: string): string | undefined {
  const socket = socketAddress(text)
  if (socket) return `${socket.isTls ? 'tls' : 'tcp'}://${socket.hostname}:${socket.port}`
  const origin = parseUrl(text)?.origin
  return origin === 'null' ? undefined : origin
}

/** Tells whether one origin is the other with `www.` before its name, which by habit is one site. */
export function isOwnWww(one: string, other: string): boolean {
  const withWww = (origin: string) => origin.replace('://', '://www.')
  return withWww(one) === other || withWww(other) === one
}

/** Returns the origin of a base address. @throws TypeError for any other text, which its message does not repeat */
export function requireOrigin(text: string): string {
  const origin = originOf(text)
  if (origin === undefined) throw new TypeError('a base address is not a URL of http, https, tls or tcp')
  return origin
}

/** Normalizes a base address. @throws TypeError for what is not a URL */
export function normalAddress(text: string): string {
  return socketAddress(text) ? requireOrigin(text) : new URL(text).href.replace(/\/+$/, '')
}

/** The port of a URL of http or https. */
export function portOf({ port, protocol }: URL): number {
  return Number(port) || (protocol === 'https:' ? 443 : 80)
}

export function unbracketed(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/**
 * Tells whether a host name is an IP address.
 * @param hostname a URL's, because the parser writes each IPv4 address with four numbers, and brackets around IPv6
 */
export function isLiteral(hostname: string): boolean {
  return hostname.startsWith('[') || /^[0-9]{1,3}(?:\.[0-9]{1,3}){3}$/.test(hostname)
}
