/** The plugin passes the conformance kit at a stand-in for Bitbucket Cloud. */
import { verifierConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t from 'tap'
import { startBitbucket } from '../../../test/destinations/forge/bitbucket.ts'
import { MINUTE, NOON } from './bitbucket-fixture.ts'
import { type Ids, inSituations, LIMITED_TOKEN, TOKEN } from './conformance-bitbucket.ts'

t.setTimeout(500_000)

t.test('at Bitbucket Cloud', async (t) => {
  const push = {
    claim: ({ sha }: Ids) => ({
      action: 'codehost.commit.push',
      target: 'acme/app',
      params: { sha, branch: 'main' },
      claimedAt: NOON,
    }),
    absentRoutes: [/\/refs\/branches/, /\/merge-base\//, /\/commits?\//],
    submittedAfterMs: 2 * MINUTE,
  }
  const merge = {
    claim: ({ sha }: Ids) => ({
      action: 'codehost.pull_request.merge',
      target: 'acme/app',
      params: { number: 1, head_sha: sha },
      claimedAt: NOON,
    }),
    absentRoutes: [/\/pullrequests\/1$/, /\/refs\/branches/, /\/merge-base\//, /\/commits?\//],
    // Without it, the time of the merge is not told.
    extraRoutes: [/\/activity/],
    submittedAfterMs: 2 * MINUTE,
  }
  const report = await verifierConformance(t, {
    plugin: codehost,
    connection: (url) => ({ provider: 'bitbucket', options: { token: TOKEN, base_url: `${url}/2.0` } }),
    unprivileged: (url) => ({ provider: 'bitbucket', options: { token: LIMITED_TOKEN, base_url: `${url}/2.0` } }),
    destination: inSituations(startBitbucket),
    before: 'nothing',
    cases: [
      {
        ...push,
        name: 'pushed in time',
        situation: 'pushed',
        sees: { kind: 'present', facts: { branch_listed: true } },
        verdict: 'verified',
      },
      {
        ...push,
        name: 'never pushed',
        situation: 'nothing',
        sees: { kind: 'absent', mark: 'never_before' },
        verdict: 'failed',
      },
      {
        ...merge,
        name: 'merged in time',
        situation: 'merged',
        sees: { kind: 'present', facts: { state: 'merged', merge_commit_on_base: true } },
        verdict: 'verified',
      },
      {
        ...merge,
        name: 'never opened',
        situation: 'nothing',
        sees: { kind: 'absent', mark: 'never_before' },
        verdict: 'failed',
      },
    ],
  })
  t.strictSame(report.untested, [])
})
