/** The contract for plugins of others that read the actions of this plugin at a code host of their own. */
import type { Verifier } from '@claimcheck/core/plugin'
import { verifiersOf } from './actions/index.ts'
import type { Provider } from './code-host.ts'

export { isBranchName } from './actions/fields.ts'
export { isReachable } from './ancestry.ts'
export {
  type Check,
  type ChecksQuery,
  type CommitQuery,
  defineProvider,
  type FoundChecks,
  type FoundCommit,
  type FoundIssue,
  type FoundPullRequest,
  type FoundRelease,
  type FoundRepository,
  type Held,
  type Issue,
  type Log,
  type NumberQuery,
  type Place,
  type Provider,
  type PullRequest,
  type PullRequestField,
  type Reader,
  type Readers,
  type Release,
  type ReleaseQuery,
  type RepositoryQuery,
  type WantedCheck,
} from './code-host.ts'
export {
  awaitedReports,
  type Candidate,
  type Comparable,
  type ComparableCommit,
  comparableBefore,
  comparableCommits,
  isKnownReporter,
  masked,
  type PostedReport,
  type RefKind,
  type Report,
  type RunReport,
} from './comparable.ts'
export { baseUrl, fitsClaim, hostName, Owners, withoutTrailingSlash } from './connection-options.ts'
export { markOf, type Surroundings } from './forgetting.ts'
export { keptForLong } from './lately.ts'

/** The verifiers of `codehost.*`, in all versions of this package, for claims that are read through connections of these providers. */
export function codeHostVerifiers(providers: readonly Provider[]): Verifier[] {
  return verifiersOf({ providers })
}
