/** All actions of code hosts. A new action is one more line here. */
import { type ActionProfile, earlierVersion, type Verifier } from '@claimcheck/core/plugin'
import type { Action, CodeHosts } from './action.ts'
import { checksPass } from './checks-pass.ts'
import { commitPush } from './commit-push.ts'
import { issueClose } from './issue-close.ts'
import { withLag } from './late-look.ts'
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

/** For each action that some of these hosts can read, in the versions in which claims may wait. */
export function verifiersOf(hosts: CodeHosts): Verifier[] {
  return ACTIONS.flatMap((action) => {
    const verifier = action(hosts)
    if (!verifier) return []
    const newest = withLag(verifier)
    return [newest, earlierVersion(newest, { ...FIRST, shows: SHOWN_AT_FIRST[newest.profile.action] })]
  })
}

const FIRST = { version: '1', rulesVersion: 1, compared: undefined, past: undefined } as const

/** By version 1 of each profile. */
const SHOWN_AT_FIRST: Readonly<Record<string, ActionProfile['shows']>> = {
  'codehost.pull_request.merge': { state: 'merged', merge_commit_on_base: true },
  'codehost.checks.pass': { commit_found: true, failed: 0, pending: 0, missing: 0 },
  'codehost.release.publish': { assets_missing: 0 },
  'codehost.issue.close': { state: 'closed' },
}
