/** The host's side of a credential scheme: the values of options, and requests to token hosts. */
import { bytesToHex } from '@noble/hashes/utils.js'
import { DestinationError } from '../contract/destination-error.ts'
import type { Instant } from '../evidence.ts'
import { originOf } from './base-address.ts'
import { type Connected, optionReader } from './credentials.ts'
import { refusal } from './failures.ts'
import { grantOf } from './grants.ts'
import type { Outgoing, Refreshes, TokenHost } from './schemes/scheme.ts'

interface TokenHostOptions {
  readonly connected: Connected
  readonly now: () => Instant
  /** The destination's origin. */
  readonly origin: string
  /** Sends a request to a token host. The signal defaults to the check's. */
  exchange(
    request: Outgoing,
    limits: { readonly mostBytes: number; readonly signal?: AbortSignal; readonly outlives?: boolean },
  ): Promise<Response>
}

const MOST_EXCHANGED_BYTES = 64 * 1024
const NONCE_BYTES = 16
/** Time limit of an exchange that does not end with its check. */
const EXCHANGE_MS = 10_000

export function tokenHost({ connected, now, origin, exchange }: TokenHostOptions): TokenHost {
  return {
    ...optionReader(connected),
    memory: connected.memory,
    now,
    refreshes: connected.refreshes ?? NO_REFRESHES,
    async exchange(request, { outlives } = { outlives: false }) {
      const { options, tokenHosts = [] } = connected
      const asked = originOf(request.url.href)
      // A destination may name any address in its challenge, so the credentials go only where the manifest says.
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
