/** TRUST_PROXY: the proxies that the service believes about a client's address. */
import { isIP } from 'node:net'
import type { Report } from './section.ts'

/**
 * Trusted proxies: the number of them between clients and this service (0 is none), or the networks that they are in: addresses, `address/prefix`,
 * and the names in NETWORK_NAMES.
 */
export type TrustedProxies = number | readonly string[]

export const NETWORK_NAMES: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.0/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

const MOST_HOPS = 16
const HELP = `write off, the number of proxies that each request passes (1 to ${MOST_HOPS}), or the addresses and networks of the proxies separated by commas, such as 10.0.0.0/8,loopback`

export function readTrustProxy(text: string | undefined, report: Report): TrustedProxies {
  if (!text || /^(off|false|no)$/i.test(text)) return 0
  if (/^(on|true|yes)$/i.test(text)) {
    // To trust every proxy is to trust the client, who writes the first entry.
    report(`TRUST_PROXY: ${text} would believe any address that a client writes: ${HELP}`)
    return 0
  }
  if (/^\d+$/.test(text)) {
    const hops = Number(text)
    if (hops < 1 || hops > MOST_HOPS) report(`TRUST_PROXY: ${HELP}, not ${text}`)
    return hops
  }
  const networks = text.split(',').map((entry) => entry.trim())
  if (!networks.every(isNetwork)) report(`TRUST_PROXY: ${HELP}, not ${text}`)
  return networks
}

/** Tells whether an entry is a network. One with all addresses is refused, as it would be `on` by another name. */
function isNetwork(entry: string): boolean {
  if (Object.hasOwn(NETWORK_NAMES, entry)) return true
  const [, address = '', prefix = '1'] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  return Number(prefix) >= 1 && Number(prefix) <= ({ 4: 32, 6: 128 }[isIP(address)] ?? -1)
}
