/** All actions of code hosts. A new action is one more line here. */
import type { Verifier } from '@claimcheck/core/plugin'
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

/** One for each action that some of these hosts can read. */
export function verifiersOf(hosts: CodeHosts): Verifier[] {
  return ACTIONS.flatMap((action) => action(hosts) ?? [])
}
