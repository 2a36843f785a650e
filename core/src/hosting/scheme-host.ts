/** What a credential scheme gets of the host for one request: the values of options, and requests to the destination and to token hosts. */
import { bytesToHex } from '@noble/hashes/utils.js'
import { DestinationError } from '../contract/destination-error.ts'
import type { Instant } from '../evidence.ts'
import { originOf } from './base-address.ts'
import { type Connected, optionReader } from './credentials.ts'
import { refusal } from './failures.ts'
import { grantOf } from './grants.ts'
import type { Outgoing, Refreshes, SchemeHost } from './schemes/scheme.ts'

interface SchemeHostOptions {
  readonly connected: Connected
  readonly now: () => Instant
  /** Of the destination. */
  readonly origin: string
  /** Sends a request to the destination. */
  send(request: Outgoing): Promise<Response>
  /** Sends a request to where the credentials are exchanged. */
  exchange(request: Outgoing, limits: ExchangeLimits): Promise<Response>
}

interface ExchangeLimits {
  readonly mostBytes: number
  /** Left out: that of the check. */
  readonly signal?: AbortSignal
  readonly outlives?: boolean
}

const MOST_EXCHANGED_BYTES = 64 * 1024
const NONCE_BYTES = 16
/** Of an exchange that does not end with its check. */
const EXCHANGE_MS = 10_000

export function schemeHost({ connected, now, origin, send, exchange }: SchemeHostOptions): SchemeHost {
  return {
    ...optionReader(connected),
    memory: connected.memory,
    now,
    send,
    refreshes: connected.refreshes ?? NO_REFRESHES,
    async exchange(request, { outlives } = { outlives: false }) {
      const { options, tokenHosts = [] } = connected
      const asked = originOf(request.url.href)
      // A destination names any address in its challenge: the credentials go where the manifest says, and nowhere else.
      const isDeclared =
        asked !== undefined && grantOf({ hosts: tokenHosts }, { origin: asked, typed: options, hasSecrets: true })
      if (asked !== origin && !isDeclared)
        throw refusal(`the manifest does not declare ${request.url.origin} in tokenHosts`, 'unexpected_response')
      const own = outlives ? { outlives, signal: AbortSignal.timeout(EXCHANGE_MS) } : {}
      const response = await exchange(request, { mostBytes: MOST_EXCHANGED_BYTES, ...own })
      return { status: response.status, headers: response.headers, text: await response.text() }
    },
    nonce: () => bytesToHex(crypto.getRandomValues(new Uint8Array(NONCE_BYTES))),
  }
}

const NO_REFRESHES: Refreshes = {
  refresh: () => Promise.reject(new DestinationError('misconfigured')),
}
