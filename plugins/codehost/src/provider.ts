/** For plugins of others: what they need to read the actions of this plugin at a code host of their own. */
import type { Verifier } from '@claimcheck/core/plugin'
import type { Provider } from './code-host.ts'
import { createCommitPush } from './commit-push.ts'
import { createCommitPushV1 } from './commit-push-v1.ts'

export { isReachable } from './ancestry.ts'
export type { CodeHost, CommitQuery, FoundCommit, Place, Provider } from './code-host.ts'
export { baseUrl, fitsClaim, hostName, Owners, withoutTrailingSlash } from './connection-options.ts'
export { markOf, type Surroundings } from './forgetting.ts'
export { isBranchName } from './profile.ts'

/** The verifiers of `codehost.*`, in all versions of this package, for claims that are read through connections of these providers. */
export function codeHostVerifiers(providers: readonly Provider[]): Verifier[] {
  return [createCommitPush({ providers }), createCommitPushV1({ providers })]
}
