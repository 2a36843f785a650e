/** The rate limits and their defaults. */
import { LIMIT, settings } from './settings.ts'

/** Rate limits of a minute; 0 is no limit. */
export interface RateLimits {
  /** The most tokens of a network on each host, for requests without a credential or a session. */
  readonly network: number
  /** The most tokens of a key, or of a grant with all its tokens, over all hosts. */
  readonly key: number
  /** The most tokens of a workspace, over all hosts. */
  readonly workspace: number
  /** The most tokens of an account, over all hosts: its sessions, and the keys of the workspaces that it pays for. */
  readonly account: number
  /** The most refused credentials of a network, over all hosts. Above the limit a host refuses credentials without checking them. */
  readonly refusals: number
}

export const rateLimitSettings = settings<RateLimits & { readonly signIn: number }>({
  network: ['network', LIMIT, 8_000],
  key: ['key', LIMIT, 12_000],
  workspace: ['workspace', LIMIT, 24_000],
  account: ['account', LIMIT, 48_000],
  refusals: ['refusals', LIMIT, 30],
  signIn: ['sign_in', LIMIT, 10],
})
