// Test run: slow
/** Our own reports at the hosts: what we post about a commit is left out by its name and by who posted it, and by neither alone. */
import type { JsonObject, Observation } from '@claimcheck/core/plugin'
import t, { type Test } from 'tap'
import type { PostedStatus } from '../../../test/destinations/forge/checks.ts'
import { accountId } from '../../../test/destinations/forge/gitea-answers.ts'
import { user as githubUser } from '../../../test/destinations/forge/github-answers.ts'
import { appId } from '../../../test/destinations/forge/github-checks.ts'
import { userAnswer as gitlabUser } from '../../../test/destinations/forge/gitlab-answers.ts'
import { atGitea } from './gitea-fixture.ts'
import { atGitHub } from './github-things.ts'
import { atGitLab, MINUTE, NOON } from './gitlab-fixture.ts'

const PASS = 'codehost.checks.pass'
const NAME = 'claimcheck/codehost.commit.push'
const US = 'claimcheck-bot'

type State = PostedStatus['state']

/** A commit on which one job passed, at a host whose earlier commits have the same job and one of our reports. */
interface World {
  /** Posts a status about the commit. */
  post(given: { readonly context: string; readonly state: State; readonly by: string }): void
  /** Looks two minutes after the claim, a minute after a look that saw so many checks of which one had passed; at once for 0. */
  look(reporters: readonly string[] | undefined, seen: number): Promise<Observation>
  readonly reporter: string
}

const sawGreen = (counted: number) => ({ kind: 'absent', facts: { settling: true, counted, passed: 1 } }) as const

async function worldAtGitHub(t: Test): Promise<World> {
  const { repository, base: sha, first, look, token, github, past } = await atGitHub(t)
  past()
  repository.checks.post({ sha: first, context: NAME, state: 'success', by: US, at: NOON - 60 * MINUTE })
  repository.checks.run({ sha, name: 'build', workflow: '.github/workflows/ci.yml' })
  const connection = (reporters: readonly string[] | undefined) => ({
    id: 'conn_1',
    provider: 'github',
    options: { token: token(), base_url: github.url, ...(reporters && { reporters }) } as JsonObject,
  })
  return {
    post: (given) => repository.checks.post({ sha, ...given }),
    look: (reporters, seen) =>
      look(
        'checks.pass',
        { sha },
        { connection: connection(reporters), ...(seen && { afterMs: 2 * MINUTE, earlier: sawGreen(seen) }) },
      ),
    reporter: `account-id:${githubUser('', US).id}`,
  }
}

async function worldAtGitLab(t: Test): Promise<World> {
  const { repository, base: sha, first, look } = await atGitLab(t)
  repository.checks.run({ sha: first, name: 'build', at: NOON - 30 * MINUTE, by: 'owner' })
  repository.checks.post({ sha: first, context: NAME, state: 'success', by: US, at: NOON - 29 * MINUTE })
  repository.checks.run({ sha, name: 'build' })
  return {
    post: (given) => repository.checks.post({ sha, ...given }),
    look: (reporters, seen) =>
      look(
        PASS,
        { sha },
        {
          at: NOON + (seen ? 2 * MINUTE : 1000),
          previous: seen ? [{ sentAt: NOON + MINUTE, observation: sawGreen(seen) }] : [],
          ...(reporters && { options: { reporters: [...reporters] } }),
        },
      ),
    reporter: `account-id:${gitlabUser(US).id}`,
  }
}

async function worldAtGitea(t: Test, flavour: 'gitea' | 'forgejo'): Promise<World> {
  const { repository, base: sha, first, look, clock, connect } = await atGitea(t, { flavour })
  repository.checks.run({ sha: first, name: 'build', at: NOON - 30 * MINUTE })
  repository.checks.post({ sha: first, context: NAME, state: 'success', by: US, at: NOON - 30 * MINUTE })
  repository.checks.run({ sha, name: 'build' })
  return {
    post: (given) => repository.checks.post({ sha, ...given }),
    look(reporters, seen) {
      clock.now = NOON + (seen ? 2 * MINUTE : 1000)
      const connection = connect(undefined, reporters ? { reporters: [...reporters] } : {})
      const previous = seen ? [{ sentAt: NOON + MINUTE, observation: sawGreen(seen) }] : []
      return look(PASS, { sha }, { connection, previous })
    },
    reporter: `account-id:${accountId(US)}`,
  }
}

const WORLDS: readonly (readonly [host: string, start: (t: Test) => Promise<World>])[] = [
  ['GitHub', worldAtGitHub],
  ['GitLab', worldAtGitLab],
  ['Gitea', (t) => worldAtGitea(t, 'gitea')],
  ['Forgejo', (t) => worldAtGitea(t, 'forgejo')],
]

const GREEN = { kind: 'present', differs: [] } as const
/** The outcome has not been there since the claim. */
const BLAMED = { stays: [], mark: undefined }
/** A red check may have been green: it blames nobody. */
const MAY_HAVE_BEEN = { mark: 'may_have_been' }

for (const [host, start] of WORLDS) {
  t.test(`our own reports at ${host}`, async (t) => {
    for (const state of ['success', 'pending', 'failure', 'error'] as const) {
      const world = await start(t)
      world.post({ context: NAME, state, by: US })
      const seen = await world.look([world.reporter], 1)
      t.match(seen, { ...GREEN, facts: { passed: 1, failed: 0, pending: 0, counted: 1 } }, `${state}: left out`)
    }

    const rows: readonly (readonly [what: string, context: string, by: string, told: boolean, seen: object])[] = [
      ['our name, by another account', NAME, 'stranger', true, MAY_HAVE_BEEN],
      ['our account, under another name', 'claimcheck-lint', US, true, BLAMED],
      ['our name, and nobody told who we are', NAME, US, false, MAY_HAVE_BEEN],
      ['our name by a stranger, and nobody told who we are', NAME, 'stranger', false, MAY_HAVE_BEEN],
    ]
    for (const [what, context, by, told, right] of rows) {
      for (const state of ['pending', 'failure'] as const) {
        const world = await start(t)
        world.post({ context, state, by })
        const seen = await world.look(told ? [world.reporter] : undefined, 0)
        t.match(seen.facts, state === 'failure' ? { failed: 1 } : { pending: 1 }, `${state}, ${what}: it counts`)
        t.match(seen, right, `${state}, ${what}: who is blamed`)
      }
    }

    const world = await start(t)
    world.post({ context: NAME, state: 'success', by: 'stranger' })
    t.match(await world.look(undefined, 2), { facts: { passed: 1, skipped: 1 } }, 'a green one founds nothing')
  })
}

t.test('check runs and suites of our app at GitHub', async (t) => {
  const app = 'claimcheck-reports'
  const reporters = [`app-id:${appId(app)}`]
  const looking = async (t: Test, arrange: (world: Awaited<ReturnType<typeof atGitHub>>) => void) => {
    const world = await atGitHub(t)
    const { repository, base: sha, look, token, github, past } = world
    past()
    repository.checks.run({ sha, name: 'build', workflow: '.github/workflows/ci.yml' })
    arrange(world)
    const options = { token: token(), base_url: github.url, reporters }
    const connection = { id: 'conn_1', provider: 'github', options }
    return look('checks.pass', { sha }, { afterMs: 2 * MINUTE, earlier: sawGreen(1), connection })
  }
  for (const outcome of ['success', 'failure', 'neutral'] as const) {
    const seen = await looking(t, ({ repository, base: sha }) =>
      repository.checks.run({ sha, name: NAME, app, outcome, at: NOON + MINUTE * 1.9 }),
    )
    t.match(seen, { ...GREEN, facts: { counted: 1 } }, `${outcome}: left out, and nothing changed`)
  }
  const queued = await looking(t, ({ repository, base: sha }) => repository.checks.queue({ sha, name: NAME, app }))
  t.match(queued, GREEN, 'one that waits for itself')
  const empty = await looking(t, ({ repository, base: sha }) => repository.checks.suite({ sha, app }))
  t.match(empty, GREEN, 'the suite that GitHub opens for each app')
  const foreign = await looking(t, ({ repository, base: sha }) =>
    repository.checks.run({ sha, name: NAME, app: 'other', outcome: 'failure' }),
  )
  t.match(foreign, { kind: 'present', differs: ['sha'], facts: { failed: 1 } }, 'another app, which took the name')
  const alien = await looking(t, ({ repository, base: sha }) => repository.checks.suite({ sha, app: 'other' }))
  t.match(alien, { kind: 'absent', facts: { pending: 1 } }, 'the suite of another app is waited for')
  const more = await looking(t, ({ repository, base: sha }) => {
    const suite = repository.checks.suite({ sha, app })
    repository.checks.run({ suite, name: NAME, outcome: 'success' })
    repository.checks.run({ suite, name: 'e2e', outcome: 'failure' })
  })
  t.match(more, { kind: 'present', differs: ['sha'], facts: { failed: 1 } }, 'what else our app reports counts')
  const login = await looking(t, ({ repository, base: sha }) =>
    repository.checks.post({ sha, context: NAME, state: 'failure', by: 'claimcheck-reports' }),
  )
  t.match(login, { facts: { failed: 1 } }, 'an account that has the name of our app')
})

t.test('a pipeline at GitLab that something else than our report turned red', async (t) => {
  const { repository, base: sha, first, look, settings } = await atGitLab(t)
  repository.checks.run({ sha: first, name: 'build', at: NOON - 30 * MINUTE, by: 'owner' })
  const suite = repository.checks.suite({ sha })
  repository.checks.post({ sha, context: NAME, state: 'failure', by: US })
  settings.badFiles.add(suite)
  const at = NOON + 12 * MINUTE
  const seen = await look(
    PASS,
    { sha },
    { at, options: { reporters: [`account-id:${gitlabUser(US).id}`] }, previous: [] },
  )
  t.match(seen, { facts: { failed: 1 }, ...MAY_HAVE_BEEN }, 'it has no jobs, so that it may be red by itself')
})
