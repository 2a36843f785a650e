/**
 * The address of a client behind proxies. Each proxy appends the address that it sees to X-Forwarded-For, so the entries are read from the right, as
 * far as the proxies are trusted: entries that a client wrote stand to the left of those.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'
import { NETWORK_NAMES, type TrustedProxies } from '../config/trust-proxy.ts'
import type { App } from './instance.ts'

/** Tells whether an address is a trusted proxy's. @param hop 0 for the address that connects, 1 for the one that it names, and so on */
export type IsProxy = (address: string, hop: number) => boolean

/** Stands for an entry that is no address, such as the identifiers of RFC 7239: `request.ip` is an address, or this. */
export const NO_ADDRESS = 'unknown'

const HEADER = 'x-forwarded-for'

export function proxiesIn(trusted: TrustedProxies): IsProxy {
  if (typeof trusted === 'number') return (_address, hop) => hop < trusted
  const networks = new BlockList()
  for (const entry of trusted.flatMap((entry) => NETWORK_NAMES[entry] ?? entry)) {
    const [address = '', prefix] = entry.split('/')
    const family = familyOf(address)
    networks.addSubnet(address, Number(prefix ?? (family === 'ipv4' ? 32 : 128)), family)
  }
  return (address) => {
    const [plain = ''] = address.split('%')
    return isIP(plain) !== 0 && networks.check(plain, familyOf(plain))
  }
}

/** Rewrites X-Forwarded-For before anything reads `request.ip`: some proxies add ports and brackets, and some write entries that are no address. */
export function readPlainAddresses(app: App): void {
  app.addHook('onRequest', ({ raw: { headers } }, _reply, done) => {
    const named = namedIn(headers)
    if (named.length > 0) headers[HEADER] = named.join(', ')
    done()
  })
}

/** Finds the client's address of a request that reaches no hook: Fastify's `request.ip` is then the address that connects. */
export function clientAddress({ headers, socket }: IncomingMessage, isProxy: IsProxy): string {
  const addresses = [socket.remoteAddress ?? NO_ADDRESS, ...namedIn(headers).toReversed()]
  return addresses.find((address, hop) => !isProxy(address, hop)) ?? addresses.at(-1)!
}

function namedIn({ [HEADER]: given }: IncomingHttpHeaders): string[] {
  // Node joins several lines of this header with commas, in their order.
  return typeof given === 'string' ? given.split(',').map(plainAddress) : []
}

/** Removes port and brackets from an entry such as `192.0.2.1:443` or `[2001:db8::1]:443`. */
export function plainAddress(entry: string): string {
  const text = entry.trim()
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(text) ?? []
  const address = bracketed ?? dotted ?? text
  return isIP(address) === 0 ? NO_ADDRESS : address
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6'
}
