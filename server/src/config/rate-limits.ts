/** The rate limits and their defaults. */

/** Requests a minute. 0: no limit. */
export interface RateLimits {
  /** Per key, or per grant with all its tokens, on the routes that need a credential. */
  readonly key: number
  /** Per address, on receipts. */
  readonly receipts: number
  /** Per address, on the log and the key document. */
  readonly log: number
  /**
   * Per address, requests with a refused credential. Above the limit a host refuses the address's requests without checking their
   * credentials.
   */
  readonly refusals: number
  /** Per address, on the endpoints of the OAuth flow. */
  readonly oauth: number
  /** Per address and host, on health, readiness, metrics, and the documents that describe the service. */
  readonly service: number
}

export const DEFAULT_RATE_LIMITS: RateLimits = {
  key: 600,
  receipts: 120,
  log: 300,
  refusals: 30,
  oauth: 120,
  service: 600,
}
