/** All actions of code hosts. A new action is one more line here. */
import { earlierVersion, type Verifier } from '@claimcheck/core/plugin'
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

/** For each action that some of these hosts can read, in the versions in which claims may wait. */
export function verifiersOf(hosts: CodeHosts): Verifier[] {
  return ACTIONS.flatMap((action) => {
    const newest = action(hosts)
    return newest ? [newest, earlierVersion(newest, { version: '1', rulesVersion: 1 })] : []
  })
}
