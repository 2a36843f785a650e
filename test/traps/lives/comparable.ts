/**
 * Lives of claims that name no checks, by what ran on comparable commits: what is still to come is awaited, and what never comes here, because
 * its paths, its branch or its tag is another, is not.
 */
import { type ForgeLife, type ForgePlace, GITHUB, livesAt, livesOf } from './forges.ts'
import { at, DAY, HOUR, MINUTE, NOT_VERIFIED, type Play, SECOND, START, UNVERIFIABLE, VERIFIED } from './life-row.ts'
import { fileOf } from './ran-before.ts'

const action = 'codehost.checks.pass'
const checkingAll = livesOf(action, ({ base }) => ({ sha: base }))

interface Ran {
  readonly workflow?: string
  /** The file of the workflow; defaults to one named after it. */
  readonly file?: string
  readonly app?: string
  /** The account that posted a status. */
  readonly by?: string
  readonly name?: string
  readonly source?: string
  readonly branch?: string
  readonly pull?: number
  readonly outcome?: 'success' | 'failure'
}

/** One thing that reports, at a moment of the life or before it. */
function report(
  { repository: { checks } }: ForgePlace,
  sha: string,
  { workflow, file, app, by, name = 'build', outcome = 'success', ...more }: Ran,
  atMs?: number,
): void {
  const when = atMs === undefined ? {} : { at: START + atMs }
  if (by !== undefined) checks.post({ sha, context: name, state: outcome, by, ...when })
  else
    checks.run({
      sha,
      name: workflow ?? name,
      outcome,
      ...more,
      ...when,
      ...(app ? { app, isRunByHost: false } : { workflow: file ?? fileOf(workflow!) }),
    })
}

const isOfPull = ({ source }: Ran) => source?.startsWith('pull_request') === true

const CI: Ran = { workflow: 'ci' }
const LINT: Ran = { workflow: 'lint' }
const SCANNING: Ran = { file: 'dynamic/github-code-scanning/codeql', name: 'Analyze', source: 'dynamic' }
/** A workflow posts it with its token. */
const REPORT: Ran = { app: 'github-actions', name: 'Test results' }
const onMain = (ran: Ran): Ran => ({ branch: 'main', ...ran })

/** What reported on each commit of main before `base`, a day apart, the newest first. */
function before(place: ForgePlace, ofCommits: readonly (readonly Ran[])[]): void {
  for (const [index, reports] of ofCommits.entries()) {
    for (const one of reports) report(place, place.past[index]!, onMain(one), -(index + 1) * DAY)
  }
}

/** On each of these commits the same. Nothing of it happens in the life. */
function each(place: ForgePlace, ...reports: readonly Ran[]): readonly [] {
  before(
    place,
    place.past.map(() => reports),
  )
  return []
}

/** Pull requests that others merged, on whose heads this reported. */
async function mergedHeads(place: ForgePlace, ...reports: readonly Ran[]): Promise<void> {
  const { repository, past } = place
  for (let index = 0; index < 3; index++) {
    const [opened, merged] = [START - (index + 2) * DAY, START - (index + 2) * DAY + HOUR]
    const head = await repository.commit({ parents: [past[0]!], date: new Date(opened) })
    await repository.push(`feature-${index}`, head, { at: opened, by: 'colleague' })
    const number = await repository.pullRequests.open({ head: `feature-${index}`, by: 'colleague', at: opened })
    for (const one of reports) {
      report(
        place,
        head,
        { branch: `feature-${index}`, ...(isOfPull(one) ? { pull: number } : {}), ...one },
        merged - START - HOUR / 2,
      )
    }
    await repository.pullRequests.merge(number, { by: 'colleague', at: merged } as never)
  }
}

/** At `base`, a minute before the claim unless it says when. */
const here = (place: ForgePlace, ran: Ran, ms = -MINUTE) =>
  at(ms, 'ci', () => report(place, place.base, onMain(ran), ms))

const SOON = { bars: { seconds: 90, requests: 45 } }
const E2E: Ran = { workflow: 'e2e', source: 'workflow_run' }

const onDefault: readonly ForgeLife[] = [
  checkingAll(
    'main: the same workflows as ever',
    VERIFIED,
    (scene) => [...each(scene, CI, LINT), here(scene, CI), here(scene, LINT)],
    SOON,
  ),
  checkingAll(
    'main: a monorepo with path filters, where each commit runs another workflow',
    VERIFIED,
    (scene) => {
      before(scene, [[LINT, { workflow: 'web' }], [LINT, { workflow: 'api' }], [LINT, { workflow: 'cli' }], [LINT]])
      return [here(scene, LINT), here(scene, { workflow: 'api' })]
    },
    SOON,
  ),
  checkingAll(
    'main: a docs commit, of which the linter alone is run',
    VERIFIED,
    (scene) => [...each(scene, CI, LINT), here(scene, LINT)],
    SOON,
  ),
  checkingAll(
    'main: a release workflow that tags run',
    VERIFIED,
    (scene) => {
      each(scene, CI)
      report(scene, scene.past[0]!, { workflow: 'release', branch: 'v0.9.0' }, -DAY)
      return [here(scene, CI)]
    },
    SOON,
  ),
  checkingAll(
    'main: a person once posted a status',
    VERIFIED,
    (scene) => {
      each(scene, CI)
      report(scene, scene.past[1]!, { by: 'person', name: 'looked at it' }, -2 * DAY)
      return [here(scene, CI)]
    },
    SOON,
  ),
  checkingAll(
    'main: nightly runs and runs by hand on the commits before',
    VERIFIED,
    (scene) => {
      each(scene, CI, { workflow: 'nightly', source: 'schedule' }, { workflow: 'deploy', source: 'workflow_dispatch' })
      return [here(scene, CI)]
    },
    SOON,
  ),
  checkingAll(
    'main: previews whose names have numbers',
    VERIFIED,
    (scene) => {
      for (const [index] of scene.past.entries()) {
        report(scene, scene.past[index]!, { by: 'previews', name: `preview-${1200 + index}` }, -(index + 1) * DAY)
      }
      each(scene, CI)
      return [here(scene, CI), here(scene, { by: 'previews', name: 'preview-1300' })]
    },
    SOON,
  ),
  checkingAll(
    'main: a workflow that the end of another starts, 65 s late, is red',
    NOT_VERIFIED,
    (scene) => [...each(scene, CI, E2E), here(scene, CI), here(scene, { ...E2E, outcome: 'failure' }, 5 * SECOND)],
    { truth: 'elsewhere' },
  ),
  checkingAll(
    'main: a workflow that the end of another starts comes three minutes later, in green',
    VERIFIED,
    (scene) => ({
      happens: [...each(scene, CI, E2E), here(scene, CI), here(scene, E2E, 3 * MINUTE)],
      cameMs: 3 * MINUTE,
    }),
  ),
  checkingAll(
    'main: the second context of an account is red three minutes later',
    NOT_VERIFIED,
    (scene) => {
      const [patch, project] = [
        { by: 'codecov', name: 'codecov/patch' },
        { by: 'codecov', name: 'codecov/project' },
      ]
      each(scene, CI, patch, project)
      return [here(scene, CI), here(scene, patch), here(scene, { ...project, outcome: 'failure' }, 3 * MINUTE)]
    },
    { truth: 'elsewhere' },
  ),
  checkingAll(
    'main: the second stage of outside CI is red three minutes later, and nothing else runs',
    NOT_VERIFIED,
    (scene) => {
      const [build, e2e] = [
        { app: 'circleci', name: 'ci: build-1' },
        { app: 'circleci', name: 'ci: build-2' },
      ]
      each(scene, build, e2e)
      return [here(scene, build), here(scene, { ...e2e, outcome: 'failure' }, 3 * MINUTE)]
    },
    { truth: 'elsewhere' },
  ),
  checkingAll(
    "main: commits that nothing runs for, with a status by the agent's own account on each",
    NOT_VERIFIED,
    (scene) => {
      each(scene, { by: 'agent', name: 'all good' })
      return [here(scene, { by: 'agent', name: 'all good' })]
    },
    { truth: 'never' },
  ),
  checkingAll(
    'main: nothing runs, and an account that is new here posts green',
    NOT_VERIFIED,
    (scene) => [...each(scene, CI), here(scene, { by: 'mallory' })],
    { truth: 'never' },
  ),
  checkingAll(
    'main: somebody starts a workflow by hand, and nothing else runs',
    NOT_VERIFIED,
    (scene) => [...each(scene, CI), here(scene, { ...CI, source: 'workflow_dispatch' })],
    { truth: 'never' },
  ),
  ...(['workflow_run', 'issue_comment', 'deployment_status'] as const).map((source) =>
    checkingAll(
      `main: nothing runs for this commit and for one before, and what ${source} runs for others is listed with each`,
      NOT_VERIFIED,
      (scene) => {
        const other: Ran = { workflow: 'comment', source }
        before(
          scene,
          scene.past.map((_, index) => (index === 1 ? [other] : [CI, other])),
        )
        return [here(scene, other)]
      },
      { truth: 'never' },
    ),
  ),
  checkingAll(
    'main: a push that asks for no CI, which all but one of the commits before had, and code scanning runs all the same',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      before(
        scene,
        scene.past.map((_, index) => (index === 1 ? [SCANNING] : [CI, SCANNING])),
      )
      const [sha] = await pushed(scene, 1, SECOND, 'Work [skip ci]')
      return { params: { sha }, happens: [at(-MINUTE, 'ci', () => report(scene, sha!, onMain(SCANNING), -MINUTE))] }
    },
    { truth: 'never' },
  ),
  checkingAll(
    'nothing is comparable: the first commit with anything reported',
    UNVERIFIABLE,
    (scene) => ({ happens: [here(scene, CI)], facts: { unnamed: true, seen: 'ci' } }),
    { truth: 'unknowable', bars: { requests: 200 } },
  ),
]

/** Commits on top of `base`, pushed within the minute before the claim. The claim is of the last. */
async function pushed(place: ForgePlace, count: number, apartMs: number, message = 'Work'): Promise<readonly string[]> {
  const { repository, base } = place
  const shas: string[] = []
  for (let index = 0; index < count; index++) {
    shas.push(await repository.commit({ parents: [shas.at(-1) ?? base], message, date: new Date(START - DAY) }))
    if (apartMs > 0 || index === count - 1) {
      await repository.push('main', shas.at(-1)!, { at: START - MINUTE + index * apartMs })
    }
  }
  return shas
}

const pushes: readonly ForgeLife[] = [
  checkingAll(
    'two commits that nothing runs for, each with a status by the account that pushed them',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      each(scene, CI)
      const shas = await pushed(scene, 2, 20 * SECOND, 'Work [skip ci]')
      const post = (sha: string) =>
        at(-5 * SECOND, 'agent', () => report(scene, sha, { by: 'agent', name: 'ci' }, -5 * SECOND))
      return { params: { sha: shas.at(-1)! }, happens: shas.map(post) }
    },
    { truth: 'never' },
  ),
  checkingAll(
    'six commits in one push, of which the last has a linter alone so far, and red tests of outside CI later',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      const tests = { app: 'circleci', name: 'tests' }
      each(scene, LINT, tests)
      const sha = (await pushed(scene, 6, 0)).at(-1)!
      const late = at(4 * MINUTE, 'ci', () => report(scene, sha, { ...tests, outcome: 'failure' }, 4 * MINUTE))
      return { params: { sha }, happens: [at(-MINUTE, 'ci', () => report(scene, sha, onMain(LINT), -MINUTE)), late] }
    },
    { truth: 'elsewhere' },
  ),
  checkingAll(
    'two pushes within a minute, whose workflows begin two minutes later, in red; a service is green at once',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      const vercel = { by: 'vercel', name: 'vercel' }
      each(scene, CI, vercel)
      const shas = await pushed(scene, 2, 30 * SECOND)
      const services = shas.map((sha) => at(-20 * SECOND, 'ci', () => report(scene, sha, vercel, -20 * SECOND)))
      const red = at(2 * MINUTE, 'ci', () => report(scene, shas[1]!, { ...onMain(CI), outcome: 'failure' }, 2 * MINUTE))
      return { params: { sha: shas[1]! }, happens: [...services, red] }
    },
    { truth: 'elsewhere' },
  ),
]

/** The head of a pull request of one commit, and what reports there. */
function ofPull(
  name: string,
  right: ForgeLife['right'],
  set: (place: ForgePlace) => Promise<{
    readonly here: readonly (readonly [ran: Ran, ms?: number])[]
    readonly cameMs?: number
  }>,
  more: Parameters<typeof checkingAll>[3] = {},
): ForgeLife {
  return checkingAll(
    `the head of a pull request: ${name}`,
    right,
    async (scene): Promise<Partial<Play>> => {
      const { here: reports, cameMs } = await set(scene)
      const pull = await scene.repository.pullRequests.open({ head: 'topic', at: START - 2 * MINUTE })
      return {
        params: { sha: scene.head },
        happens: reports.map(([ran, ms = -MINUTE]) =>
          at(ms, 'ci', () =>
            report(scene, scene.head, { branch: 'topic', ...(isOfPull(ran) ? { pull } : {}), ...ran }, ms),
          ),
        ),
        ...(cameMs === undefined ? {} : { cameMs }),
      }
    },
    more,
  )
}

const PR: Ran = { workflow: 'ci', source: 'pull_request' }
const PR_LINT: Ran = { workflow: 'lint', source: 'pull_request' }
const LABELER: Ran = { workflow: 'label', source: 'pull_request_target' }
const DEPLOY: Ran = { workflow: 'deploy' }

const heads: readonly ForgeLife[] = [
  ofPull(
    'a repository with a deployment on main alone',
    VERIFIED,
    async (scene) => {
      each(scene, CI, DEPLOY)
      await mergedHeads(scene, PR)
      return { here: [[PR]] }
    },
    SOON,
  ),
  ofPull(
    'the first pull request of a repository',
    VERIFIED,
    async (scene) => {
      each(scene, CI, DEPLOY)
      return { here: [[PR]] }
    },
    SOON,
  ),
  ofPull(
    'a labeler beside its tests',
    VERIFIED,
    async (scene) => {
      each(scene, CI)
      await mergedHeads(scene, PR, LABELER)
      return { here: [[PR], [LABELER]] }
    },
    SOON,
  ),
  ofPull(
    'its tests never run, as after a conflict, and a labeler runs all the same',
    NOT_VERIFIED,
    async (scene) => {
      each(scene, CI)
      await mergedHeads(scene, PR, LABELER)
      return { here: [[LABELER]] }
    },
    { truth: 'never' },
  ),
  ofPull(
    'outside CI alone, and a deployment on main alone',
    VERIFIED,
    async (scene) => {
      const circle = { app: 'circleci', name: 'tests' }
      each(scene, DEPLOY, circle)
      await mergedHeads(scene, circle)
      return { here: [[circle]] }
    },
    SOON,
  ),
  ofPull(
    'of documents alone, which the linter alone is run for, where the tests post what they found',
    VERIFIED,
    async (scene) => {
      each(scene, CI, LINT, REPORT)
      await mergedHeads(scene, PR, PR_LINT, REPORT)
      return { here: [[PR_LINT]] }
    },
    SOON,
  ),
  ofPull(
    'its tests are green, and what they post comes four minutes later, in red',
    NOT_VERIFIED,
    async (scene) => {
      each(scene, CI, LINT, REPORT)
      await mergedHeads(scene, PR, PR_LINT, REPORT)
      return { here: [[PR], [PR_LINT], [{ ...REPORT, outcome: 'failure' }, 4 * MINUTE]] }
    },
    { truth: 'elsewhere' },
  ),
  ofPull(
    'its base runs the linter alone, and the tests of pull requests are red four minutes later',
    NOT_VERIFIED,
    async (scene) => {
      each(scene, LINT)
      await mergedHeads(scene, { ...LINT }, { app: 'circleci', name: 'tests' })
      return { here: [[LINT], [{ app: 'circleci', name: 'tests', outcome: 'failure' }, 4 * MINUTE]] }
    },
    { truth: 'elsewhere' },
  ),
  ofPull(
    'its workflows for pull requests begin two minutes after those of the push, in red',
    NOT_VERIFIED,
    async (scene) => {
      each(scene, LINT)
      await mergedHeads(scene, LINT, PR)
      return { here: [[LINT], [{ ...PR, outcome: 'failure' }, 2 * MINUTE]] }
    },
    { truth: 'elsewhere' },
  ),
]

const octopus: readonly ForgeLife[] = [
  checkingAll(
    'an octopus merge: what reports on main is red five minutes later',
    NOT_VERIFIED,
    async (scene): Promise<Partial<Play>> => {
      const { repository, base } = scene
      const scan = { app: 'scanner', name: 'scan' }
      each(scene, LINT, scan)
      const tips = await Promise.all([1, 2, 3].map(() => repository.commit({ parents: [base] })))
      const sha = await repository.commit({ parents: [base, ...tips], date: new Date(START - MINUTE) })
      await repository.push('main', sha, { at: START - MINUTE })
      const red = at(5 * MINUTE, 'ci', () => report(scene, sha, { ...scan, outcome: 'failure' }, 5 * MINUTE))
      return { params: { sha }, happens: [at(-MINUTE, 'ci', () => report(scene, sha, onMain(LINT), -MINUTE)), red] }
    },
    { truth: 'elsewhere' },
  ),
]

export const comparableLives = livesAt([GITHUB], { about: 'settled greens', truth: 'in_time' }, [
  ...[...onDefault, ...pushes, ...heads, ...octopus],
])
