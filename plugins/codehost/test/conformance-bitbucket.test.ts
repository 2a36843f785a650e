/** The plugin passes the conformance kit at a stand-in for Bitbucket Cloud. */
import { verifierConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t from 'tap'
import { startBitbucket } from '../../../test/destinations/forge/bitbucket.ts'
import { LONG } from '../../../test/support/extent.ts'
import { casesOf, inSituations, LIMITED_TOKEN, TOKEN } from './conformance-bitbucket.ts'

t.setTimeout(500_000)

t.test('at Bitbucket Cloud', LONG, async (t) => {
  const push = { absentRoutes: [/\/refs\/branches/, /\/merge-base\//, /\/commits?\//] }
  const merge = {
    absentRoutes: [/\/pullrequests\/1$/, /\/refs\/branches/, /\/merge-base\//, /\/commits?\//],
    // Without it, the time of the merge is not told.
    extraRoutes: [/\/activity/],
  }
  const report = await verifierConformance(t, {
    plugin: codehost,
    connection: (url) => ({
      provider: 'bitbucket',
      options: { token: TOKEN, base_url: `${url}/2.0` },
      target: 'acme/app',
    }),
    unprivileged: (url) => ({ provider: 'bitbucket', options: { token: LIMITED_TOKEN, base_url: `${url}/2.0` } }),
    destination: inSituations(startBitbucket),
    before: 'nothing',
    cases: casesOf(push, merge, { sees: { kind: 'absent', mark: 'never_before' }, verdict: 'failed' }),
  })
  t.strictSame(report.untested, [])
})
