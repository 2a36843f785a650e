/** Networks in CIDR notation (RFC 4632, RFC 4291 2.3), and whether an address is in one. */
import { isIP } from 'node:net'
import { ServiceError } from './errors.ts'

const BITS = { 4: 32, 6: 128 } as const

/**
 * The network in its one form: of `10.1.2.3/8` that is `10.0.0.0/8`; a single address is a network of one.
 * @throws ServiceError `bad_request`
 */
export function readNetwork(text: string): string {
  const [, address = '', length] = /^([0-9A-Fa-f.:]+)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? []
  const family = isIP(address)
  if (family !== 4 && family !== 6) throw notANetwork(text)
  const bits = BITS[family]
  const prefix = length === undefined ? bits : Number(length)
  if (prefix > bits) throw notANetwork(text)
  const hostBits = BigInt(bits - prefix)
  const start = (toNumber(address, family) >> hostBits) << hostBits
  if (family === 6 && prefix >= 96 && start >> 32n === 0xffffn) {
    throw new ServiceError('bad_request', `${text} is an IPv4 network in the form of IPv6: write it as IPv4`)
  }
  return `${toText(start, family)}/${prefix}`
}

/**
 * An IPv4 address that is mapped to IPv6 (RFC 4291 2.5.5.2) counts as that IPv4 address.
 * @param networks as `readNetwork` returns them
 */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  const given = addressOf(address)
  if (!given) return false
  return networks.some((network) => {
    const [start = '', prefix] = network.split('/')
    const { family, value } = addressOf(start)!
    const hostBits = BigInt(BITS[family] - Number(prefix))
    return family === given.family && given.value >> hostBits === value >> hostBits
  })
}

interface Address {
  readonly family: 4 | 6
  readonly value: bigint
}

function addressOf(text: string): Address | undefined {
  const [plain = ''] = text.split('%')
  const family = isIP(plain)
  if (family !== 4 && family !== 6) return undefined
  const value = toNumber(plain, family)
  return family === 6 && value >> 32n === 0xffffn ? { family: 4, value: value & 0xffffffffn } : { family, value }
}

function toNumber(address: string, family: 4 | 6): bigint {
  if (family === 4) return address.split('.').reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  // The URL parser normalizes the address, and writes an embedded IPv4 address in hexadecimal.
  const [head = [], tail = []] = new URL(`http://[${address}]`).hostname
    .slice(1, -1)
    .split('::')
    .map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0')
  return [...head, ...zeros, ...tail].reduce((sum, group) => (sum << 16n) | BigInt(`0x${group}`), 0n)
}

function toText(value: bigint, family: 4 | 6): string {
  if (family === 4) return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}

function notANetwork(text: string): ServiceError {
  return new ServiceError(
    'bad_request',
    `${JSON.stringify(text)} is not a network: write it as 10.0.0.0/8, 2001:db8::/32, or a single address`,
  )
}
