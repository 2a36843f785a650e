// Test run: slow
/** A GitHub App in place of a token, over the lives of claims: what it may not read, or may read no more, blames nobody. */
import { generateKeyPairSync } from 'node:crypto'
import type { JsonObject } from '@claimcheck/core/plugin'
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import codehost from '@claimcheck/plugin-codehost'
import t, { type Test } from 'tap'
import { startGitHub } from '../../../test/destinations/forge/github.ts'
import { type App, addApp, type Installation, tokensGiven } from '../../../test/destinations/forge/github-apps.ts'
import { MINUTE, NOON } from './github-things.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const PRIVATE_KEY = String(privateKey.export({ type: 'pkcs1', format: 'pem' }))
const OPTIONS = { app_id: '12345', installation_id: '678', private_key: PRIVATE_KEY }

const RIGHTS = ['actions', 'checks', 'contents', 'issues', 'metadata', 'pull_requests', 'statuses']
const rights = (names: readonly string[], level: 'read' | 'write' = 'read'): Installation['permissions'] =>
  Object.fromEntries(names.map((name) => [name, level]))
const without = (name: string) => rights(RIGHTS.filter((one) => one !== name))

/** A private repository with a pull request, and an app that is installed for it. */
async function atGitHub(t: Test, { isMerged = true, permissions = rights(RIGHTS), isElsewhere = false } = {}) {
  const clock = createVirtualClock(NOON)
  let built: number | undefined = NOON - 60 * MINUTE
  const github = await startGitHub({ now: () => built ?? clock.now() })
  t.teardown(() => github.close())
  const repository = await github.createRepository('acme/app', { isPrivate: true })
  const other = await github.createRepository('acme/other', { isPrivate: true })
  const date = new Date(built)
  const first = await repository.commit({ date })
  const head = await repository.commit({ parents: [first], date })
  await repository.push('main', first)
  await repository.push('topic', head)
  const number = await repository.pullRequests.open({ head: 'topic', base: 'main' })
  built = NOON - MINUTE
  if (isMerged) await repository.pullRequests.merge(number)
  repository.checks.run({ sha: first, name: 'scan', app: 'scanner' })
  built = undefined
  const installation: Installation = { id: 678, repositories: [isElsewhere ? other : repository], permissions }
  const app = addApp(github, { id: 12345, publicKey, installations: [installation] })
  return { clock, github, number, first, app, installation }
}

type Place = Awaited<ReturnType<typeof atGitHub>>

interface Row {
  readonly what: string
  readonly verdict: 'verified' | 'failed' | 'unverifiable'
  readonly place?: Parameters<typeof atGitHub>[1]
  /** Claims that the app's scan passed, and not that the pull request was merged. */
  readonly ofScan?: true
  /** Changes the app, by milliseconds after the claim. */
  readonly happens?: Readonly<Record<number, Change>>
}

type Change = (app: App, installation: Installation) => void

const suspend =
  (isSuspended: boolean): Change =>
  (_, installation) => {
    installation.isSuspended = isSuspended
  }

const ROWS: readonly Row[] = [
  { what: 'with all rights', verdict: 'verified' },
  { what: 'with all rights to write', verdict: 'verified', place: { permissions: rights(RIGHTS, 'write') } },
  { what: 'with all rights, of what is open', verdict: 'failed', place: { isMerged: false } },
  { what: 'without pull requests', verdict: 'unverifiable', place: { permissions: without('pull_requests') } },
  {
    what: 'without pull requests, of what is open',
    verdict: 'unverifiable',
    place: { permissions: without('pull_requests'), isMerged: false },
  },
  { what: 'without contents', verdict: 'unverifiable', place: { permissions: without('contents') } },
  { what: 'with metadata alone', verdict: 'unverifiable', place: { permissions: rights(['metadata']) } },
  { what: 'for another repository', verdict: 'unverifiable', place: { isElsewhere: true, isMerged: false } },
  { what: 'of a scan', verdict: 'verified', ofScan: true },
  {
    what: 'of a scan, without checks',
    verdict: 'unverifiable',
    ofScan: true,
    place: { permissions: without('checks') },
  },
  {
    what: 'suspended',
    verdict: 'unverifiable',
    place: { isMerged: false },
    happens: { 0: suspend(true) },
  },
  {
    what: 'suspended for some minutes',
    verdict: 'verified',
    happens: {
      0: suspend(true),
      [4 * MINUTE]: suspend(false),
    },
  },
  {
    what: 'removed at the claim',
    verdict: 'unverifiable',
    place: { isMerged: false },
    happens: { 0: ({ installations }) => installations.pop() },
  },
]

async function live({ clock, github, number, first, app, installation }: Place, { ofScan, happens = {} }: Row) {
  const left = Object.entries(happens).map(([after, act]) => ({ at: NOON + Number(after), act }))
  const of = (action: string, params: JsonObject) => ({
    ...{ action: `codehost.${action}`, target: 'acme/app', claimedAt: NOON },
    params,
  })
  const { decision, log } = await liveClaim({
    plugin: codehost,
    connection: { provider: 'github', options: { ...OPTIONS, base_url: github.url } },
    claim: ofScan
      ? of('checks.pass', { sha: first, checks: [{ name: 'scan', by: 'app:scanner' }] })
      : of('pull_request.merge', { number, base: 'main' }),
    submittedAt: NOON + 500,
    clock,
    async reach(until) {
      while (left[0] && left[0].at <= until) left.shift()!.act(app, installation)
    },
  })
  return { verdict: decision?.verdict, log }
}

for (const row of ROWS)
  t.test(`an app ${row.what}`, async (t) => {
    const place = await atGitHub(t, row.place)
    const { verdict, log } = await live(place, row)
    t.equal(verdict?.value, row.verdict, JSON.stringify(verdict))
    const told = JSON.stringify([verdict, log])
    t.notMatch(told, /PRIVATE KEY|ghs_/)
    for (const permissions of tokensGiven(place.github)) t.notOk(Object.values(permissions).includes('write'))
  })

t.test('a part of an app is no connection to what anyone may read', async (t) => {
  const { github } = await atGitHub(t)
  for (const name of Object.keys(OPTIONS)) {
    const { [name as 'app_id']: _, ...rest } = OPTIONS
    const connection = { provider: 'github', options: { ...rest, base_url: github.url } }
    const clock = createVirtualClock(NOON)
    const claim = {
      action: 'codehost.commit.push',
      target: 'acme/app',
      claimedAt: NOON,
      params: { sha: 'a'.repeat(40), branch: 'main' },
    }
    const { decision } = await liveClaim({
      ...{ plugin: codehost, connection, claim, submittedAt: NOON + 500, clock },
      reach: async () => {},
    })
    t.equal(decision?.verdict.value, 'unverifiable', name)
  }
  t.strictSame(
    github.requests.filter((line) => line.includes('/repos/')),
    [],
  )
})
