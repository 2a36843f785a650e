/** The plugin passes the conformance kit at a stand-in for Bitbucket Data Center. */
import { verifierConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t from 'tap'
import { startBitbucketServer } from '../../../test/destinations/forge/bitbucket-server.ts'
import { LONG } from '../../../test/support/extent.ts'
import { casesOf, inSituations, LIMITED_TOKEN, TOKEN } from './conformance-bitbucket.ts'

t.setTimeout(500_000)

t.test('at Bitbucket Data Center', LONG, async (t) => {
  const push = { absentRoutes: [/\/commits/] }
  const merge = { absentRoutes: [/\/pull-requests\/1$/, /\/commits/] }
  const connection = (token: string) => (url: string) => ({
    provider: 'bitbucket-server',
    options: { token, base_url: url },
    target: 'acme/app',
  })
  const report = await verifierConformance(t, {
    plugin: codehost,
    connection: connection(TOKEN),
    unprivileged: connection(LIMITED_TOKEN),
    destination: inSituations(startBitbucketServer),
    before: 'nothing',
    cases: casesOf(push, merge, { sees: { kind: 'absent' }, verdict: 'unverifiable' }),
  })
  t.strictSame(report.untested, [])
})
