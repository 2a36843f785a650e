// Test run: end-to-end, slow
/** Merges pass the conformance kit at a stand-in for GitHub, by a token and by an app. */
import { generateKeyPairSync } from 'node:crypto'
import { verifierConformance } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t from 'tap'
import { startGitHub } from '../../../test/destinations/forge/github.ts'
import { addApp } from '../../../test/destinations/forge/github-apps.ts'
import { LONG } from '../../../test/support/extent.ts'
import { MINUTE, NOON } from './github-things.ts'
import { inSituations } from './situations.ts'

t.setTimeout(500_000)

const TOKEN = 'ghp_0123456789abcdefghijABCDEFGHIJ'
const LIMITED_TOKEN = 'ghp_metadata0123456789metadata0123'
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const app = (installation: number) => ({
  ...{ app_id: '12345', installation_id: String(installation) },
  private_key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
})
/** The options that read all, and those that read metadata alone. */
const WAYS = {
  'a token': [{ token: TOKEN }, { token: LIMITED_TOKEN }],
  'an app': [app(1), app(2)],
} as const
const SITUATIONS = ['open', 'merged', 'merged late', 'merged elsewhere'] as const
type Situation = (typeof SITUATIONS)[number]

/** A repository with one pull request. */
async function build(situation: Situation, now: () => number) {
  let built: number | undefined = NOON - 60 * MINUTE
  const standIn = await startGitHub({ now: () => built ?? now() })
  const repository = await standIn.createRepository('acme/app', { isPrivate: true })
  const date = new Date(NOON - 60 * MINUTE)
  const first = await repository.commit({ message: 'First', date })
  const head = await repository.commit({ message: 'Second', parents: [first], date })
  for (const branch of ['main', 'next']) await repository.push(branch, first)
  await repository.push('topic', head)
  const base = situation === 'merged elsewhere' ? 'next' : 'main'
  const number = await repository.pullRequests.open({ head: 'topic', base })
  built = situation === 'merged late' ? NOON + 12 * MINUTE : NOON + MINUTE
  if (situation !== 'open') await repository.pullRequests.merge(number)
  standIn.addToken({ token: TOKEN, repositories: [repository] })
  standIn.addToken({ token: LIMITED_TOKEN, repositories: [repository], contents: false })
  const repositories = [repository]
  const metadata = { metadata: 'read' } as const
  const installations = [
    {
      id: 1,
      repositories,
      permissions: { ...metadata, contents: 'read', issues: 'read', pull_requests: 'write' } as const,
    },
    { id: 2, repositories, permissions: metadata },
  ]
  addApp(standIn, { id: 12345, publicKey, installations })
  built = undefined
  return { standIn, named: { number } }
}

for (const [way, [all, limited]] of Object.entries(WAYS))
  t.test(`a merge at GitHub, by ${way}`, LONG, async (t) => {
    const common = {
      claim: ({ number }: { readonly number: number }) => ({
        action: 'codehost.pull_request.merge',
        target: 'acme/app',
        params: { number, base: 'main' },
        claimedAt: NOON,
      }),
      absentRoutes: [/\/git\/ref\//, /\/compare\//, /\/pulls\/\d/, /\/branches-where-head/],
      submittedAfterMs: 13 * MINUTE,
    }
    const report = await verifierConformance(t, {
      plugin: codehost,
      connection: (url) => ({ provider: 'github', options: { ...all, base_url: url }, target: 'acme/app' }),
      unprivileged: (url) => ({ provider: 'github', options: { ...limited, base_url: url } }),
      destination: inSituations(SITUATIONS, build),
      before: 'open',
      cases: [
        { ...common, name: 'merged in time', situation: 'merged', sees: { kind: 'present' }, verdict: 'verified' },
        { ...common, name: 'merged late', situation: 'merged late', sees: { kind: 'present' }, verdict: 'late' },
        {
          ...common,
          name: 'open',
          situation: 'open',
          sees: { kind: 'absent', mark: 'never_before' },
          verdict: 'failed',
        },
        {
          ...common,
          name: 'merged into another branch',
          situation: 'merged elsewhere',
          sees: { kind: 'present', differs: ['base'], mark: 'final', facts: { base: 'next' } },
          verdict: 'mismatch',
        },
      ],
    })
    t.strictSame(report.untested, [])
  })
