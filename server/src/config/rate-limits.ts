/** How many requests a minute the service answers, by what it counts. */

/** Requests a minute. 0: no limit. */
export interface RateLimits {
  /** Of one key, or of all tokens of one grant, on the routes that need a credential. */
  readonly key: number
  /** Of one address, on receipts. */
  readonly receipts: number
  /** Of one address, on the log and the key document. */
  readonly log: number
  /** Of one address with a credential that was refused. A host that has seen one too many looks at none of its credentials. */
  readonly refusals: number
  /** Of one address, on the endpoints of the sign-in flow for applications. */
  readonly oauth: number
}

export const DEFAULT_RATE_LIMITS: RateLimits = { key: 600, receipts: 120, log: 300, refusals: 30, oauth: 120 }
