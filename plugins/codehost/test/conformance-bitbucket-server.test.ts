/** The plugin passes the conformance kit at a stand-in for Bitbucket Data Center. */
import { verifierConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t from 'tap'
import { startBitbucketServer } from '../../../test/destinations/forge/bitbucket-server.ts'
import { MINUTE, NOON } from './bitbucket-fixture.ts'
import { type Ids, inSituations, LIMITED_TOKEN, TOKEN } from './conformance-bitbucket.ts'

t.setTimeout(500_000)

t.test('at Bitbucket Data Center', async (t) => {
  const push = {
    claim: ({ sha }: Ids) => ({
      action: 'codehost.commit.push',
      target: 'acme/app',
      params: { sha, branch: 'main' },
      claimedAt: NOON,
    }),
    absentRoutes: [/\/commits/],
    submittedAfterMs: 2 * MINUTE,
  }
  const merge = {
    claim: ({ sha }: Ids) => ({
      action: 'codehost.pull_request.merge',
      target: 'acme/app',
      params: { number: 1, head_sha: sha },
      claimedAt: NOON,
    }),
    absentRoutes: [/\/pull-requests\/1$/, /\/commits/],
    submittedAfterMs: 2 * MINUTE,
  }
  const connection = (token: string) => (url: string) => ({
    provider: 'bitbucket-server',
    options: { token, base_url: url },
  })
  const report = await verifierConformance(t, {
    plugin: codehost,
    connection: connection(TOKEN),
    unprivileged: connection(LIMITED_TOKEN),
    destination: inSituations(startBitbucketServer),
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
        sees: { kind: 'absent', mark: 'may_have_been' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.strictSame(report.untested, [])
})
