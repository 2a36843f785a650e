/** Networks in CIDR notation (RFC 4632, RFC 4291 2.3): reads them, tells whether an address is in one, and finds the network of a client. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ServiceError } from './errors.ts'

/**
 * Reads a network in its one form: `10.1.2.3/8` becomes `10.0.0.0/8`, and a single address a network of one.
 * @throws ServiceError `bad_request`
 */
export function readNetwork(text: string): string {
  const [, address = '', length] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? []
  const family = isIP(address)
  const bits = family === 4 ? 32 : 128
  const prefix = length === undefined ? bits : Number(length)
  // The library accepts other spellings of an address, too.
  if (family === 0 || prefix > bits) throw notANetwork(text)
  if (family === 4) return `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${prefix}`)}/${prefix}`
  const start = ipaddr.IPv6.networkAddressFromCIDR(`${inGroups(address)}/${prefix}`)
  if (prefix >= 96 && start.isIPv4MappedAddress()) {
    throw new ServiceError('bad_request', `${text} is an IPv4 network in the form of IPv6: write it as IPv4`)
  }
  return `${start}/${prefix}`
}

/**
 * Tells whether an address is in one of the networks. An IPv4 address that is mapped to IPv6 (RFC 4291 2.5.5.2) counts as that IPv4 address.
 * @param networks as `readNetwork` returns them
 */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  const [plain = ''] = address.split('%')
  const family = isIP(plain)
  if (family === 0) return false
  const given = ipaddr.process(family === 6 ? inGroups(plain) : plain)
  return networks.some((network) => {
    const [start, prefix] = ipaddr.parseCIDR(network)
    return start.kind() === given.kind() && given.match(start, prefix)
  })
}

const MAPPED = '::ffff:'

/**
 * Finds the network by which a client, or a machine, is counted: one IPv4 address, also one that is mapped to IPv6, or an IPv6 /64, all of which it
 * usually has to itself. Undefined for a text that is no address.
 */
export function clientNetwork(address: string): string | undefined {
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return undefined
  // A socket that serves both IPv4 and IPv6 usually shows IPv4 addresses in the mapped form.
  if (address.startsWith(MAPPED) && isIPv4(address.slice(MAPPED.length))) return address.slice(MAPPED.length)
  const [plain = ''] = address.split('%')
  const given = ipaddr.process(inGroups(plain))
  if (!(given instanceof ipaddr.IPv6)) return given.toString()
  const groups = given.parts.slice(0, 4).map((group) => group.toString(16))
  return `${groups.join(':')}::/64`
}

/** Writes an IPv6 address as the URL parser does: the library takes `::10.0.0.1` for the IPv4 address. */
function inGroups(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

function notANetwork(text: string): ServiceError {
  return new ServiceError(
    'bad_request',
    `${JSON.stringify(text)} is not a network: write it as 10.0.0.0/8, 2001:db8::/32, or a single address`,
  )
}
