/** Lives of checks at GitHub in virtual time, by the schedule and the rules of core: how soon a claim is decided, and what that costs. */
import { CLOSING, decide, type JsonObject, nextCheck, type ReadRecord } from '@claimcheck/core'
import codehost from '@claimcheck/plugin-codehost'
import t, { type Test } from 'tap'
import { startGitHub } from '../../../test/destinations/forge/github.ts'
import { createCache, createContext, logger } from './context.ts'
import { MINUTE, NOON } from './github-things.ts'

const CI = '.github/workflows/ci.yml'
const HOUR = 60 * MINUTE
const ANSWER_MS = 300

interface Ground {
  readonly repository: Awaited<ReturnType<Awaited<ReturnType<typeof startGitHub>>['createRepository']>>
  readonly parent: string
  readonly sha: string
}

interface Event {
  readonly at: number
  play(): void
}

interface Lived {
  readonly verdict: string
  readonly decidedAt: number
  /** Requests that count against the token's limit. */
  readonly counted: number
  readonly facts: JsonObject
}

/** Claimed at noon, and submitted at once. */
async function live(
  t: Test,
  params: JsonObject,
  setUp: (ground: Ground) => readonly Event[],
  action = 'codehost.checks.pass',
): Promise<Lived> {
  const clock = { now: NOON - HOUR }
  const github = await startGitHub({ now: () => clock.now })
  t.teardown(() => github.close())
  const repository = await github.createRepository('acme/app')
  const parent = await repository.commit()
  const sha = await repository.commit({ parents: [parent] })
  await repository.push('main', sha)
  github.addToken({ token: 'token-of-the-reader', repositories: [repository] })
  const events = [...setUp({ repository, parent, sha })].sort((one, other) => one.at - other.at)
  const { verifiers = [] } = await codehost.setup({ logger, now: Date.now }, {})
  const verifier = verifiers.find(({ profile }) => profile.action === 'codehost.checks.pass')!
  const { profile } = verifier
  const options = { token: 'token-of-the-reader', base_url: github.url }
  const connection = { id: 'conn_1', provider: 'github', options }
  const cache = createCache()
  const times = { claimedAt: NOON, submittedAt: NOON, deadlineAt: NOON + profile.deadlineMs }
  const claim = { action, target: 'acme/app', params: { ...params, sha }, ...times }
  const records: ReadRecord[] = []
  for (;;) {
    clock.now = Math.max(NOON, clock.now, nextCheck(profile, times, records, CLOSING).at)
    while (events[0] && events[0].at <= clock.now) events.shift()!.play()
    const sentAt = clock.now
    const previous = records.map((record) => ({ sentAt: record.sentAt, observation: record.observation }))
    const context = createContext({ now: () => clock.now, connection, cache, previous })
    const observation = await verifier.check(claim as never, context)
    clock.now += ANSWER_MS
    const read = { sentAt, answeredAt: clock.now, observation, clockOffsetMs: 1000, dated: true }
    records.push({ ...read, ageMs: observation.ageMs ?? 0 } as ReadRecord)
    const decision = decide(profile, times, records, clock.now, CLOSING)
    if (!decision) continue
    const { value, reasonCode } = decision.verdict
    return {
      verdict: [value, reasonCode].filter(Boolean).join('/'),
      decidedAt: clock.now,
      counted: github.statuses.filter((status) => status !== 304).length,
      facts: observation.facts as JsonObject,
    }
  }
}

type Checks = Ground['repository']['checks']

/** Of one run: when it begins and ends, from noon. */
function life(
  checks: Checks,
  run: { readonly sha: string; readonly name: string; readonly workflow?: string; readonly app?: string },
  { from = -MINUTE, until, outcome = 'success' }: { from?: number; until: number; outcome?: 'success' | 'failure' },
): Event[] {
  let id = 0
  return [
    {
      at: NOON + from,
      play() {
        id = checks.queue({ ...run, at: NOON + from })
        checks.start(id, { at: NOON + from })
      },
    },
    { at: NOON + until, play: () => checks.end(id, outcome, { at: NOON + until }) },
  ]
}

const JOB = { name: 'build', workflow: CI }
const named = (by: string) => ({ checks: [{ name: 'build', by }] })

t.test('a named check is verified soon after it turns green, for few requests', async (t) => {
  for (const minutes of [1, 3, 10, 20, 45]) {
    for (const by of ['github-actions', `workflow:${CI}`, 'app:jenkins']) {
      const run = by === 'app:jenkins' ? { name: 'build', app: 'jenkins' } : JOB
      const { verdict, decidedAt, counted } = await live(t, named(by), ({ repository, sha }) =>
        life(repository.checks, { ...run, sha }, { until: minutes * MINUTE }),
      )
      const seconds = (decidedAt - NOON) / 1000 - minutes * 60
      t.equal(verdict, 'verified', `${by}, ${minutes} minutes`)
      t.ok(seconds <= (minutes <= 10 ? 20 : 45), `${by}, ${minutes} minutes: ${seconds} s after it was green`)
      t.ok(counted <= 12, `${by}, ${minutes} minutes: ${counted} requests count`)
    }
  }
})

t.test('where none is named, it is verified when it is settled', async (t) => {
  for (const minutes of [1, 3, 9]) {
    const { verdict, decidedAt, counted, facts } = await live(t, {}, ({ repository, parent, sha }) => {
      repository.checks.run({ sha: parent, name: 'build', workflow: CI, at: NOON - HOUR })
      return [
        ...life(repository.checks, { ...JOB, sha }, { until: minutes * MINUTE }),
        ...life(repository.checks, { name: 'lint', workflow: '.github/workflows/lint.yml', sha }, { until: 1000 }),
      ]
    })
    const seconds = (decidedAt - NOON) / 1000 - minutes * 60
    t.equal(verdict, 'verified', `${minutes} minutes`)
    t.match(facts, { counted: 2, passed: 2 })
    t.ok(seconds <= 80, `${minutes} minutes: ${seconds} s after it was green`)
    t.ok(counted <= 12, `${minutes} minutes: ${counted} requests count`)
  }
})

t.test('the linter has ended, and the slow CI begins later, and fails', async (t) => {
  const slow = (outcome: 'success' | 'failure') =>
    live(t, {}, ({ repository, parent, sha }) => {
      repository.checks.run({ sha: parent, name: 'lint', workflow: CI, at: NOON - HOUR })
      repository.checks.run({ sha: parent, name: 'tests', app: 'slow-ci', at: NOON - HOUR })
      return [
        ...life(repository.checks, { ...JOB, name: 'lint', sha }, { until: 1000 }),
        ...life(
          repository.checks,
          { name: 'tests', app: 'slow-ci', sha },
          { from: 5 * MINUTE, until: 20 * MINUTE, outcome },
        ),
      ]
    })
  t.equal((await slow('failure')).verdict, 'unverifiable/claim_ambiguous')
  t.match(await slow('success'), { verdict: 'verified', facts: { counted: 2 } })
})

t.test('settled after the tolerance, of what passed in time', async (t) => {
  const passing = ({ repository, parent, sha }: Ground) => {
    repository.checks.run({ sha: parent, name: 'build', workflow: CI, at: NOON - HOUR })
    return life(repository.checks, { ...JOB, sha }, { until: HOUR - 30_000 })
  }
  t.equal((await live(t, {}, passing)).verdict, 'verified')
  t.equal((await live(t, {}, passing, 'github.checks.pass')).verdict, 'verified')
})

t.test('what passes after the tolerance is late, and never so under the other name', async (t) => {
  const passing = ({ repository, parent, sha }: Ground) => {
    repository.checks.run({ sha: parent, name: 'build', workflow: CI, at: NOON - HOUR })
    return life(repository.checks, { ...JOB, sha }, { until: HOUR + 10 * MINUTE })
  }
  t.equal((await live(t, {}, passing)).verdict, 'late/observed_after_tolerance')
  t.equal((await live(t, {}, passing, 'github.checks.pass')).verdict, 'unverifiable/claim_ambiguous')
})

t.test('plain lies end in blame, within a minute of the deadline', async (t) => {
  const failed = { until: -30_000, outcome: 'failure' } as const
  const post = ({ repository, sha }: Ground) =>
    void repository.checks.run({ sha, name: 'build', app: 'github-actions', isRunByHost: false, at: NOON - MINUTE })
  const red = (ground: Ground) => life(ground.repository.checks, { ...JOB, sha: ground.sha }, failed)
  const lies: readonly (readonly [what: string, params: JsonObject, setUp: typeof red, verdict: string])[] = [
    ['red', named('github-actions'), red, 'mismatch/content_mismatch'],
    ['red, none named', {}, red, 'mismatch/content_mismatch'],
    ['no such check', named('github-actions'), () => [], 'failed/not_found'],
    ['no check at all', {}, () => [], 'failed/not_found'],
    ['no such status', named('account:jenkins'), () => [], 'failed/not_found'],
    [
      'posted by a workflow over the job that failed',
      named('github-actions'),
      (ground) => {
        post(ground)
        return red(ground)
      },
      'mismatch/content_mismatch',
    ],
    [
      'posted by a workflow, and no job',
      named('github-actions'),
      (ground) => {
        post(ground)
        return []
      },
      'failed/not_found',
    ],
  ]
  for (const [what, params, setUp, expected] of lies) {
    const { verdict, decidedAt } = await live(t, params, setUp)
    t.equal(verdict, expected, what)
    t.ok(decidedAt <= NOON + 2 * HOUR + MINUTE, `${what}: decided ${(decidedAt - NOON - 2 * HOUR) / 1000} s after`)
  }
})
