/** Lists all actions of code hosts. A new action is one more line here. */
import { type ActionProfile, earlierVersion, type Verifier } from '@claimcheck/core/plugin'
import type { Action, CodeHosts } from './action.ts'
import { checksPass } from './checks-pass.ts'
import { commitPush } from './commit-push.ts'
import { issueClose } from './issue-close.ts'
import { pullRequestMerge } from './pull-request-merge.ts'
import { pullRequestOpen } from './pull-request-open.ts'
import { releasePublish } from './release-publish.ts'

const ACTIONS: readonly Action[] = [
  commitPush,
  pullRequestOpen,
  pullRequestMerge,
  checksPass,
  releasePublish,
  issueClose,
]

/** Makes the verifiers of the actions that some of these hosts can read, in the versions in which claims may wait. */
export function verifiersOf(hosts: CodeHosts): Verifier[] {
  return ACTIONS.flatMap((action) => {
    const verifier = action(hosts)
    if (!verifier) return []
    const newest = withLag(verifier)
    return [newest, earlierVersion(newest, { ...FIRST, shows: SHOWN_AT_FIRST[newest.profile.action] })]
  })
}

const FIRST = { version: '1', rulesVersion: 1, compared: undefined, past: undefined } as const

/** The `shows` of version 1 of each profile. */
const SHOWN_AT_FIRST: Readonly<Record<string, ActionProfile['shows']>> = {
  'codehost.pull_request.merge': { state: 'merged', merge_commit_on_base: true },
  'codehost.checks.pass': { commit_found: true, failed: 0, pending: 0, missing: 0 },
  'codehost.release.publish': { assets_missing: 0 },
  'codehost.issue.close': { state: 'closed' },
}

/** Time by which caches and replicas of hosts lag at times, also of those that keep no answer for longer. Milliseconds. */
const LAG_MS = 10_000

/**
 * Counts answers from the end of the tolerance on as this old, at least: what an answer does not show yet may be there. A look just after the
 * submission keeps the age that its host declares, else no look could show that the outcome was not there.
 */
function withLag(verifier: Verifier): Verifier {
  const { toleranceMs } = verifier.profile
  return {
    ...verifier,
    async check(claim, context) {
      const isLate = context.now() >= claim.claimedAt + toleranceMs
      const seen = await verifier.check(claim, context)
      return isLate ? { ...seen, ageMs: Math.max(seen.ageMs ?? 0, LAG_MS) } : seen
    },
  }
}
