/** All actions of code hosts, in all their versions. A new action is one more line here. */
import type { Verifier } from '@claimcheck/core/plugin'
import type { Action, CodeHosts } from './action.ts'
import { checksPass } from './checks-pass.ts'
import { checksPassV1 } from './checks-pass-v1.ts'
import { commitPush, commitPushV3 } from './commit-push.ts'
import { commitPushV1 } from './commit-push-v1.ts'
import { commitPushV2 } from './commit-push-v2.ts'
import { issueClose, issueCloseV1 } from './issue-close.ts'
import { pullRequestMerge, pullRequestMergeV1 } from './pull-request-merge.ts'
import { pullRequestOpen, pullRequestOpenV1 } from './pull-request-open.ts'
import { releasePublish, releasePublishV1 } from './release-publish.ts'

const ACTIONS: readonly Action[] = [
  commitPush,
  commitPushV3,
  commitPushV2,
  commitPushV1,
  pullRequestOpen,
  pullRequestOpenV1,
  pullRequestMerge,
  pullRequestMergeV1,
  checksPass,
  checksPassV1,
  releasePublish,
  releasePublishV1,
  issueClose,
  issueCloseV1,
]

/** One for each action that some of these hosts can read. */
export function verifiersOf(hosts: CodeHosts): Verifier[] {
  return ACTIONS.flatMap((action) => action(hosts) ?? [])
}
