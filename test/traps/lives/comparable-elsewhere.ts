/** Lives of claims that name no checks at hosts other than GitHub, by what ran on comparable commits; and of runs that replace none. */
import { waysOf } from '../../destinations/forge/gitea.ts'
import {
  BITBUCKET,
  checking,
  FORGEJO,
  type Forge,
  type ForgeLife,
  type ForgePlace,
  GITEA,
  GITLAB,
  livesAt,
  livesOf,
} from './forges.ts'
import {
  at,
  BLAME,
  DAY,
  HOUR,
  MINUTE,
  NOT_VERIFIED,
  type Play,
  SECOND,
  START,
  UNVERIFIABLE,
  VERIFIED,
} from './life-row.ts'

const checkingAll = livesOf('codehost.checks.pass', ({ base }) => ({ sha: base }))

interface Ran {
  /** Of the job, and of its workflow where each has a file. */
  readonly name: string
  /** The account that posted it; the host ran it, when left out. */
  readonly by?: string
  readonly source?: string
  readonly branch?: string
  readonly outcome?: 'success' | 'failure'
}

function report({ repository: { checks } }: ForgePlace, sha: string, { name, by, ...more }: Ran, ms: number): void {
  const when = { sha, at: START + ms }
  if (by !== undefined) checks.post({ ...when, context: name, state: more.outcome ?? 'success', by })
  else checks.run({ ...when, name, workflow: `.gitea/workflows/${name}.yml`, branch: 'main', ...more })
}

const CI: Ran = { name: 'ci' }
const LINT: Ran = { name: 'lint' }
const DEPLOY: Ran = { name: 'deploy' }
const SCAN: Ran = { name: 'scan', by: 'scanner' }

/** On each commit of main before `base`, a day apart. */
function each(place: ForgePlace, ...ran: readonly Ran[]): readonly [] {
  for (const [index, sha] of place.past.entries()) {
    for (const one of ran) report(place, sha, one, -(index + 1) * DAY)
  }
  return []
}

/** A minute before the claim unless it says when. */
const here = (place: ForgePlace, ran: Ran, ms = -MINUTE, sha = place.base) =>
  at(ms, 'ci', () => report(place, sha, ran, ms))

const SOON = { bars: { seconds: 90 } }
const NEVER = { truth: 'never' } as const
const ELSEWHERE = { truth: 'elsewhere' } as const
/** Statuses at Bitbucket have a key, and nobody's name. */
const tellsAccounts = ({ name }: Forge) => name !== 'bitbucket'
const byHand = ({ forge }: ForgePlace) => (forge.provider === 'gitea' ? 'workflow_dispatch' : 'web')

const onMain: readonly ForgeLife[] = [
  checkingAll(
    'main: the same as ever',
    VERIFIED,
    (scene) => [...each(scene, CI, LINT), here(scene, CI), here(scene, LINT)],
    SOON,
  ),
  checkingAll(
    'main: a docs commit, of which the linter alone is run',
    VERIFIED,
    (scene) => [...each(scene, CI, LINT), here(scene, LINT)],
    SOON,
  ),
  checkingAll(
    'main: a release that tags run',
    VERIFIED,
    async (scene) => {
      each(scene, CI)
      await scene.repository.tag('v0.9.0', scene.past[0]!)
      report(scene, scene.past[0]!, { name: 'release', branch: 'v0.9.0' }, -DAY)
      return [here(scene, CI)]
    },
    SOON,
  ),
  checkingAll(
    'main: a person once posted a status',
    VERIFIED,
    (scene) => {
      each(scene, CI)
      report(scene, scene.past[1]!, { name: 'looked at it', by: 'person' }, -2 * DAY)
      return [here(scene, CI)]
    },
    SOON,
  ),
  checkingAll(
    'main: nightly runs and runs by hand on the commits before',
    VERIFIED,
    (scene) => {
      each(scene, CI, { name: 'night', source: 'schedule' }, { name: 'load', source: byHand(scene) })
      return [here(scene, CI)]
    },
    // What a schedule starts at Bitbucket looks as if a push had.
    { ...SOON, where: ({ name }) => name !== 'bitbucket' },
  ),
  checkingAll(
    'main: the second context of an account is red three minutes later',
    NOT_VERIFIED,
    (scene) => {
      const [patch, project] = [
        { name: 'codecov/patch', by: 'codecov' },
        { name: 'codecov/project', by: 'codecov' },
      ]
      each(scene, CI, patch, project)
      return [here(scene, CI), here(scene, patch), here(scene, { ...project, outcome: 'failure' }, 3 * MINUTE)]
    },
    ELSEWHERE,
  ),
  checkingAll(
    "main: nothing ever runs, and the agent's own account posts green on each commit",
    NOT_VERIFIED,
    (scene) => [...each(scene, { name: 'all good', by: 'agent' }), here(scene, { name: 'all good', by: 'agent' })],
    { ...NEVER, where: tellsAccounts },
  ),
  checkingAll(
    'main: nothing runs, and an account that is new here posts green',
    NOT_VERIFIED,
    (scene) => [...each(scene, CI), here(scene, { name: 'ci', by: 'mallory' })],
    NEVER,
  ),
  checkingAll(
    'main: somebody starts a run by hand, and nothing else runs',
    NOT_VERIFIED,
    (scene) => [...each(scene, CI), here(scene, { ...CI, source: byHand(scene) })],
    NEVER,
  ),
  checkingAll(
    'nothing is comparable: the first commit with anything reported',
    UNVERIFIABLE,
    (scene) => ({ happens: [here(scene, CI)], facts: { unnamed: true } }),
    { truth: 'unknowable' },
  ),
]

/** Commits on top of `base`, in one push or each in one of its own. The last one is claimed. */
async function pushed({ repository, base }: ForgePlace, count: number, apartMs: number): Promise<readonly string[]> {
  const shas: string[] = []
  for (let index = 0; index < count; index++) {
    shas.push(await repository.commit({ parents: [shas.at(-1) ?? base], message: `Work ${index} [skip ci]` }))
    if (apartMs === 0 && index < count - 1) continue
    await repository.push('main', shas.at(-1)!, { at: START - MINUTE + index * apartMs })
  }
  return shas
}

const pushes: readonly ForgeLife[] = [
  checkingAll(
    'two commits that nothing runs for, each with a status by the account that pushed them',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      each(scene, CI)
      const shas = await pushed(scene, 2, 20 * SECOND)
      const own = { name: 'ok', by: 'agent' }
      return { params: { sha: shas[1]! }, happens: shas.map((sha) => here(scene, own, -5 * SECOND, sha)) }
    },
    NEVER,
  ),
  checkingAll(
    'six commits in one push, of which the last has a linter alone so far, and a red scan four minutes later',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      each(scene, LINT, SCAN)
      const sha = (await pushed(scene, 6, 0)).at(-1)!
      const red = { ...SCAN, outcome: 'failure' } as const
      return { params: { sha }, happens: [here(scene, LINT, -30 * SECOND, sha), here(scene, red, 4 * MINUTE, sha)] }
    },
    ELSEWHERE,
  ),
  checkingAll(
    'two pushes within a minute, of which CI begins two minutes later, in red; a service is green at once',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      const service = { name: 'preview', by: 'vercel' }
      each(scene, CI, service)
      const shas = await pushed(scene, 2, 30 * SECOND)
      const red = here(scene, { ...CI, outcome: 'failure' }, 2 * MINUTE, shas[1]!)
      const services = shas.map((sha) => here(scene, service, -20 * SECOND, sha))
      return { params: { sha: shas[1]! }, happens: [...services, red] }
    },
    ELSEWHERE,
  ),
  checkingAll(
    'an octopus merge: what reports on main is red five minutes later',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      const { repository, base } = scene
      each(scene, LINT, SCAN)
      const tips = await Promise.all([1, 2, 3].map(() => repository.commit({ parents: [base] })))
      const sha = await repository.commit({ parents: [base, ...tips] })
      await repository.push('main', sha, { at: START - MINUTE })
      const red = here(scene, { ...SCAN, outcome: 'failure' }, 5 * MINUTE, sha)
      return { params: { sha }, happens: [here(scene, LINT, -30 * SECOND, sha), red] }
    },
    ELSEWHERE,
  ),
]

/** The event of a pull request, as the host's runs have it. */
const ofPull = ({ forge }: ForgePlace, number: number): Partial<Ran> =>
  forge === GITLAB
    ? { source: 'merge_request_event', branch: `refs/merge-requests/${number}/head` }
    : { source: 'pull_request', branch: `refs/pull/${number}/head` }

/** Pull requests that a colleague merged, on whose heads this ran. */
async function merged(place: ForgePlace, ran: (number: number) => readonly Ran[]): Promise<void> {
  const { repository, past } = place
  for (let index = 0; index < 3; index++) {
    const opened = START - (index + 2) * DAY
    const branch = `feature-${index}`
    const sha = await repository.commit({ parents: [past[0]!], message: branch })
    await repository.push(branch, sha, { at: opened, by: 'colleague' })
    const number = await repository.pullRequests.open({ head: branch, by: 'colleague', at: opened })
    for (const one of ran(number)) report(place, sha, { branch, ...one }, opened + HOUR / 2 - START)
    await repository.pullRequests.merge(number, { by: 'colleague', at: opened + HOUR })
  }
}

const opensTopic = ({ repository }: ForgePlace) =>
  repository.pullRequests.open({ head: 'topic', at: START - 2 * MINUTE })
const hasPullRuns = ({ name }: Forge) => name !== 'bitbucket'

const heads: readonly ForgeLife[] = [
  checkingAll(
    'the head of a pull request: a deployment on main alone',
    VERIFIED,
    async (scene) => {
      each(scene, CI, DEPLOY)
      await opensTopic(scene)
      return { params: { sha: scene.head }, happens: [here(scene, { ...CI, branch: 'topic' }, -MINUTE, scene.head)] }
    },
    SOON,
  ),
  checkingAll(
    'the head of a pull request: its own runs, as on merged ones',
    VERIFIED,
    async (scene) => {
      each(scene, CI, DEPLOY)
      await merged(scene, (number) => [{ ...CI, ...ofPull(scene, number) }])
      const number = await opensTopic(scene)
      const own = { ...CI, ...ofPull(scene, number) }
      return { params: { sha: scene.head }, happens: [here(scene, own, -MINUTE, scene.head)] }
    },
    { ...SOON, where: hasPullRuns },
  ),
  checkingAll(
    'the head of a pull request: its base runs the linter alone, and its own runs begin two minutes later, in red',
    NOT_VERIFIED,
    async (scene) => {
      each(scene, LINT)
      await merged(scene, (number) => [LINT, { name: 'tests', ...ofPull(scene, number) }])
      const number = await opensTopic(scene)
      const red: Ran = { name: 'tests', outcome: 'failure', ...ofPull(scene, number) }
      const lint = here(scene, { ...LINT, branch: 'topic' }, -MINUTE, scene.head)
      return { params: { sha: scene.head }, happens: [lint, here(scene, red, 2 * MINUTE, scene.head)] }
    },
    { ...ELSEWHERE, where: hasPullRuns },
  ),
]

/** Merge requests have a pipeline of their own beside that of the branch, which a push can leave out (`ci.skip`). */
const beside: readonly ForgeLife[] = [
  checkingAll(
    'the head of a merge request: its own pipeline runs, and the push asked for none, which all before had',
    NOT_VERIFIED,
    async (scene) => {
      each(scene, CI)
      await merged(scene, (number) => [CI, { name: 'danger', ...ofPull(scene, number) }])
      const number = await opensTopic(scene)
      const own = { name: 'danger', ...ofPull(scene, number) }
      return { params: { sha: scene.head }, happens: [here(scene, own, -MINUTE, scene.head)] }
    },
    NEVER,
  ),
  checkingAll(
    'the head of a merge request: its pipeline comes in place of that of the branch, which those before had, too',
    VERIFIED,
    async (scene) => {
      each(scene, CI)
      await merged(scene, (number) => [CI, { ...CI, ...ofPull(scene, number) }])
      const number = await opensTopic(scene)
      const own = { ...CI, ...ofPull(scene, number) }
      return { params: { sha: scene.head }, happens: [here(scene, own, -MINUTE, scene.head)] }
    },
  ),
]

/** Nothing runs on main for the last commit, as the push asked for none. */
const skipped: readonly ForgeLife[] = [
  checkingAll(
    'main: nothing runs, and then a tag of the commit runs a release',
    NOT_VERIFIED,
    async (scene) => {
      each(scene, CI)
      await scene.repository.tag('v1.0.0', scene.base)
      return [here(scene, { name: 'release', branch: 'v1.0.0' })]
    },
    NEVER,
  ),
  checkingAll(
    'main: a tag of the commit runs a release beside what main runs',
    VERIFIED,
    async (scene) => {
      each(scene, CI)
      await scene.repository.tag('v1.0.0', scene.base)
      return [here(scene, CI), here(scene, { name: 'release', branch: 'v1.0.0' })]
    },
    SOON,
  ),
]

const RED: Ran = { name: 'build', outcome: 'failure' }
const ofCi = (place: ForgePlace, ran: Partial<Ran>, ms: number) =>
  at(ms, 'ci', () => {
    const { repository, base: sha } = place
    repository.checks.run({ ...RED, sha, branch: 'main', at: START + ms, ...ran })
  })

const replacing: readonly ForgeLife[] = [
  checking(
    'red on main, and green for another branch of the same commit',
    NOT_VERIFIED,
    (scene) => [ofCi(scene, {}, -10 * MINUTE), ofCi(scene, { outcome: 'success', branch: 'work' }, -MINUTE)],
    ELSEWHERE,
  ),
  checkingAll(
    'red on main, and green for another branch of the same commit, none named',
    NOT_VERIFIED,
    (scene) => [
      ...[...each(scene, CI), ofCi(scene, {}, -10 * MINUTE)],
      ofCi(scene, { outcome: 'success', branch: 'work' }, -MINUTE),
    ],
    ELSEWHERE,
  ),
  checkingAll(
    'red, and somebody starts it by hand until it is green',
    NOT_VERIFIED,
    (scene) => [
      ...[...each(scene, CI), ofCi(scene, {}, -10 * MINUTE)],
      ofCi(scene, { outcome: 'success', source: byHand(scene) }, -MINUTE),
    ],
    ELSEWHERE,
  ),
  checking(
    'red, and pushed again until it is green',
    // With variables that leave out what fails, at GitLab: a token of a Reporter is not shown any.
    ({ name }) => (name === 'gitlab' ? NOT_VERIFIED : VERIFIED),
    (scene) => [ofCi(scene, {}, -10 * MINUTE), ofCi(scene, { outcome: 'success' }, -MINUTE)],
  ),
]

const JOB = 'ci.yml / build (push)'

/** The job ran, and an account that is deleted at once posted its name. */
function posted(scene: ForgePlace, job: 'success' | 'failure', state: 'success' | 'failure', ms = -MINUTE) {
  const { repository, base: sha, standIn } = scene
  const { checks } = repository
  return [
    at(-10 * MINUTE, 'ci', () =>
      checks.run({ sha, name: 'build', branch: 'main', workflow: '.gitea/workflows/ci.yml', outcome: job }),
    ),
    at(ms, 'liar', () => {
      checks.post({ sha, context: JOB, state, by: 'gone' })
      waysOf(standIn).deleted.add('gone')
    }),
  ]
}

const gone: readonly ForgeLife[] = [
  checking(
    'a deleted account posted the name of a job in green, and it never ran',
    UNVERIFIABLE,
    ({ repository: { checks }, base: sha, standIn }) => [
      at(-MINUTE, 'liar', () => {
        checks.post({ sha, context: JOB, state: 'success', by: 'gone' })
        waysOf(standIn).deleted.add('gone')
      }),
    ],
    NEVER,
  ),
  ...[checking, checkingAll].flatMap((kind, index) => {
    const how = index === 0 ? 'named' : 'none named'
    return [
      kind(
        `a deleted account posted the name of a job in green over the job, which is red, ${how}`,
        BLAME,
        (scene) => [...each(scene, CI), ...posted(scene, 'failure', 'success')],
        ELSEWHERE,
      ),
      kind(
        `a deleted account posted the name of a job in green after the claim over the job, which is red, ${how}`,
        BLAME,
        (scene) => [...each(scene, CI), ...posted(scene, 'failure', 'success', MINUTE)],
        ELSEWHERE,
      ),
      kind(
        `a deleted account posted the name of a job in green first, and the job is red, ${how}`,
        BLAME,
        (scene) => [...each(scene, CI), ...posted(scene, 'failure', 'success', -15 * MINUTE)],
        ELSEWHERE,
      ),
      kind(
        `a deleted account posted the name of a job in green over the job, which is red, among what runners took, ${how}`,
        BLAME,
        (scene) => {
          waysOf(scene.standIn).runs = 'tasks'
          return [...each(scene, CI), ...posted(scene, 'failure', 'success')]
        },
        ELSEWHERE,
      ),
      kind(
        `a deleted account posted the name of a job in red over the job, which is green, ${how}`,
        VERIFIED,
        (scene) => [...[...each(scene, CI), ...posted(scene, 'success', 'failure')]],
      ),
    ]
  }),
]

const honest = { about: 'settled greens', truth: 'in_time' } as const

export const comparableElsewhereLives = [
  ...livesAt([GITLAB, GITEA, FORGEJO, BITBUCKET], honest, [...onMain, ...skipped, ...pushes, ...heads, ...replacing]),
  ...livesAt([GITLAB], honest, beside),
  ...livesAt([GITEA, FORGEJO], honest, gone),
]
