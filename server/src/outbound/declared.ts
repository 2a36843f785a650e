/** What of a plugin's manifest allows a check to read where it reads. */
import type { Manifest } from '@claimcheck/core'

export { type Grant, grantOf } from '@claimcheck/core'

/** What a plugin may reach, by its manifest. */
export interface Reach extends Pick<Manifest, 'hosts' | 'methods' | 'sockets'> {
  /** It starts programs, which send requests of their own with the credentials that it reveals to them. */
  readonly mayReveal: boolean
}
