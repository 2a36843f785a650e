/** Decides which addresses outgoing requests may reach: https and tls to public ones, and those that the operator names in ALLOW_PRIVATE. */
import type { LookupAddress } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { isLiteral, refusal, type SocketAddress, unbracketed } from '@claimcheck/core/hosting'
import { parseUrl } from '@claimcheck/core/plugin'
import { isAllowed } from '../config/allow-private.ts'
import { isPublicAddress } from './addresses.ts'
import { type Lookup, lookUp, queryNames, systemLookup, toLookupFunction } from './lookup.ts'

/** An address that passed the gate. */
export interface Admitted {
  /** True if the operator allows the address although it may be private or without TLS. */
  readonly mayBePrivate: boolean
}

export interface AdmittedUrl extends Admitted {
  readonly url: URL
}

export type Gate = ReturnType<typeof createGate>

/**
 * Makes the gate.
 * @param resolver replaces name servers and the system in tests
 */
export function createGate(allowPrivate: readonly string[], resolver?: Lookup) {
  const resolverFor = ({ mayBePrivate }: Admitted) => resolver ?? (mayBePrivate ? systemLookup : queryNames)

  function checkHost(hostname: string): void {
    // A host's name that begins with a hyphen would be an option to a program that gets it as an argument.
    if (hostname.startsWith('-')) throw refusal('the name of the host begins with a hyphen')
  }

  function checkLiteral(hostname: string): void {
    if (isLiteral(hostname) && !isPublicAddress(unbracketed(hostname))) throw refusal('the address is not public')
  }

  return {
    /**
     * Admits a URL.
     * @param publicOnly ignores what the operator allows
     * @throws DestinationError `unavailable` when the request is forbidden
     */
    checkUrl(text: string, publicOnly = false): AdmittedUrl {
      const url = parseUrl(text)
      if (url?.username !== '' || url.password !== '') throw refusal('the URL is not valid, or contains credentials')
      checkHost(url.hostname)
      if (!publicOnly && isAllowed(url, allowPrivate)) {
        if (url.protocol !== 'https:' && url.protocol !== 'http:') throw refusal('the URL is neither http nor https')
        return { url, mayBePrivate: true }
      }
      if (url.protocol !== 'https:') throw refusal('the URL is not https')
      checkLiteral(url.hostname)
      return { url, mayBePrivate: false }
    },
    /** Admits the address of a socket by the rules of `checkUrl`. */
    checkSocket({ hostname, port, isTls }: SocketAddress, publicOnly = false): Admitted {
      checkHost(hostname)
      const place = { hostname, port: String(port), protocol: isTls ? 'tls:' : 'tcp:' }
      if (!publicOnly && isAllowed(place, allowPrivate)) return { mayBePrivate: true }
      if (!isTls) throw refusal('the connection is not encrypted')
      checkLiteral(hostname)
      return { mayBePrivate: false }
    },
    /** Finds the addresses behind an admitted name. Rejects when it has none that may be reached. */
    async lookUp(hostname: string, admitted: Admitted): Promise<LookupAddress[]> {
      const name = unbracketed(hostname)
      const family = isIP(name)
      if (family !== 0) return [{ address: name, family }]
      return lookUp(resolverFor(admitted), name, !admitted.mayBePrivate)
    },
    /** Makes a DNS lookup function that returns only admitted addresses. */
    lookupFunction: (admitted: Admitted): LookupFunction =>
      toLookupFunction(resolverFor(admitted), !admitted.mayBePrivate),
  }
}
