/** The limits of a host and their defaults: `rate_limits` and `connections`. 0 is no limit. */
import type { MembersOf } from './section.ts'
import { LIMIT, settingsSection } from './settings.ts'

export const limitsSection = settingsSection({
  /** Limits of a minute. */
  rateLimits: {
    /** The most tokens of a network on each host, for requests without a credential or a session. */
    network: [LIMIT, 8_000],
    /** The most tokens of a key, or of a grant with all its tokens, over all hosts. */
    key: [LIMIT, 12_000],
    /** The most tokens of a workspace, over all hosts. */
    workspace: [LIMIT, 24_000],
    /** The most tokens of an account, over all hosts: its sessions, and the keys of the workspaces that it pays for. */
    account: [LIMIT, 48_000],
    /** The most refused credentials of a network, over all hosts. Above the limit a host refuses credentials without checking them. */
    refusals: [LIMIT, 30],
    /** The most sign-in attempts from one address, and for one account. */
    signIn: [LIMIT, 10],
  },
  /** Limits on the connections that a host holds open. */
  connections: {
    /** The most connections of all clients together. */
    most: [LIMIT, 10_000],
    /** The most connections of one address that is no trusted proxy's. */
    perAddress: [LIMIT, 512],
  },
})

type HostLimits = MembersOf<typeof limitsSection>

export type RateLimits = Omit<HostLimits['rateLimits'], 'signIn'>
export type ConnectionSettings = HostLimits['connections']
