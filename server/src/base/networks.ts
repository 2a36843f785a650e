/** Networks in CIDR notation (RFC 4632, RFC 4291 2.3), whether an address is in one, and the network of a client. */
import { isIP, isIPv4, isIPv6 } from 'node:net'
import ipaddr from 'ipaddr.js'
import { ServiceError } from './errors.ts'

/**
 * The network in its one form: of `10.1.2.3/8` that is `10.0.0.0/8`; a single address is a network of one.
 * @throws ServiceError `bad_request`
 */
export function readNetwork(text: string): string {
  const [, address = '', length] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? []
  const family = isIP(address)
  const bits = family === 4 ? 32 : 128
  const prefix = length === undefined ? bits : Number(length)
  // The library reads more than the one form of an address.
  if (family === 0 || prefix > bits) throw notANetwork(text)
  if (family === 4) return `${ipaddr.IPv4.networkAddressFromCIDR(`${address}/${prefix}`)}/${prefix}`
  const start = ipaddr.IPv6.networkAddressFromCIDR(`${inGroups(address)}/${prefix}`)
  if (prefix >= 96 && start.isIPv4MappedAddress()) {
    throw new ServiceError('bad_request', `${text} is an IPv4 network in the form of IPv6: write it as IPv4`)
  }
  return `${start}/${prefix}`
}

/**
 * An IPv4 address that is mapped to IPv6 (RFC 4291 2.5.5.2) counts as that IPv4 address.
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
 * The network by which a client, or a machine, is counted: one IPv4 address, also one that is mapped to IPv6, or an IPv6 /64, all of which it
 * usually has to itself. Undefined for what is no address.
 */
export function clientNetwork(address: string): string | undefined {
  if (isIPv4(address)) return address
  if (!isIPv6(address)) return undefined
  // Of a socket that serves both, the usual form.
  if (address.startsWith(MAPPED) && isIPv4(address.slice(MAPPED.length))) return address.slice(MAPPED.length)
  const [plain = ''] = address.split('%')
  const given = ipaddr.process(inGroups(plain))
  if (!(given instanceof ipaddr.IPv6)) return given.toString()
  const groups = given.parts.slice(0, 4).map((group) => group.toString(16))
  return `${groups.join(':')}::/64`
}

/** As the URL parser writes it: the library takes `::10.0.0.1` for the IPv4 address. */
function inGroups(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

function notANetwork(text: string): ServiceError {
  return new ServiceError(
    'bad_request',
    `${JSON.stringify(text)} is not a network: write it as 10.0.0.0/8, 2001:db8::/32, or a single address`,
  )
}
