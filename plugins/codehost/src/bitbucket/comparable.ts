/** Finds the commits at Bitbucket Cloud with which a claimed one is compared: the newest of the main branch, and heads that were merged, by their statuses and runs. */
import type { CheckContext } from '@claimcheck/core/plugin'
import type { ChecksQuery } from '../code-host.ts'
import {
  type Comparable,
  comparableBefore,
  comparableInLists,
  type KnownCommit,
  knownAmong,
  type PullSource,
  type Report,
  type RunReport,
  refsOf,
} from '../comparable.ts'
import { keptForLong } from '../lately.ts'
import { key as keyed } from '../reporters.ts'
import { logTime } from '../times.ts'
import { CommitsAnswer, HeadsAnswer, type Pipeline, PipelinesAnswer } from './answers.ts'
import { isByHand, isOfRun, readStatuses, statusName } from './reports.ts'
import type { Repository } from './repository.ts'

const MOST_COMMITS = 5
const MOST_HEADS = 3
/** Limit of the commits that are read to find comparable ones: of those that were pushed together, all but the last have no statuses. */
const MOST_READ = 12
const LIST = 30
const RUNS = 100
const FILE = 'bitbucket-pipelines.yml'

export async function comparableTo(
  repository: Repository,
  { sha, slug, runs }: { readonly sha: string; readonly slug: string; readonly runs: readonly Pipeline[] },
  query: ChecksQuery,
  context: CheckContext,
): Promise<Comparable> {
  const { mainBranch } = await repository.show()
  const begun = runs.filter(isStarted).map((run) => toReport(run, mainBranch))
  if (mainBranch === undefined) return { commits: [], begun, refs: [], owners: [] }
  const isTip = (await repository.branch(mainBranch)).tip === sha
  const refs = refsOf(begun, { isTip, openFrom: await findOpenFrom(repository, sha) })
  const before = comparableBefore(query)
  const key = `bitbucket ${slug} comparable ${before}`
  const readRuns = () => keptForLong(context, `${key} runs`, () => readRunsBefore(repository, before))
  const list = { slug, mainBranch, before, readRuns }
  const claimed = { sha, refs, owners: [] }
  const commits = await comparableInLists(context, key, claimed, {
    ofBranch: () => readKnown(repository, list),
    ofHeads: () => readKnownHeads(repository, list),
  })
  return { commits, begun, refs, owners: [] }
}

interface Listed {
  readonly slug: string
  readonly mainBranch: string
  readonly before: number
  /** Reads the newest runs of all commits, as far as the host started them. */
  readRuns(): Promise<readonly Pipeline[]>
}

/** Tells where the open pull requests come from of which it is the newest commit. */
async function findOpenFrom({ api, root }: Repository, sha: string): Promise<readonly PullSource[]> {
  const { value } = await api.find(`${root}/pullrequests?state=OPEN&pagelen=50`, HeadsAnswer, [401, 403, 404])
  const own = (value?.values ?? []).filter(({ source }) => source.commit && sha.startsWith(source.commit.hash))
  return own.map(({ source, destination }) =>
    source.repository?.uuid === destination.repository?.uuid ? 'here' : 'fork',
  )
}

/** Tells whether the host started a run for what was pushed. */
function isStarted(run: Pipeline): boolean {
  return !isByHand(run) && !/schedule/i.test(`${run.trigger?.type} ${run.trigger?.name}`)
}

/** Describes what started a run: a push starts one, by the definition that fits its branch best; a pull request one of its own. */
function toReport({ target }: Pipeline, mainBranch: string | undefined): RunReport {
  const file = { file: FILE, isOnlyFile: true }
  if (target.source) return { ...file, event: 'pull-request', ref: 'pull_request' }
  if (target.ref_type === 'tag' || target.selector?.type === 'tags') return { ...file, event: 'push', ref: 'tag' }
  return { ...file, event: 'push', ref: target.ref_name === mainBranch ? 'default' : 'branch' }
}

async function readKnown(repository: Repository, listed: Listed): Promise<readonly KnownCommit[]> {
  const { mainBranch } = listed
  const { api, root } = repository
  const tip = (await repository.branch(mainBranch)).tip
  if (tip === undefined) return []
  const { value: commits } = await api.get(`${root}/commits/${tip}?pagelen=${LIST}`, CommitsAnswer)
  const runs = await listed.readRuns()
  return knownAmong(commits.values.slice(0, MOST_READ), MOST_COMMITS, async ({ hash: sha }) => ({
    sha,
    refs: ['default'],
    owners: [],
    reports: await readReports(repository, sha, runs, listed),
  }))
}

/** Reads the newest commits of the last pull requests that were merged: one that was squashed is not in the branch's history. */
async function readKnownHeads(repository: Repository, listed: Listed): Promise<readonly KnownCommit[]> {
  const { api, root } = repository
  const list = `${root}/pullrequests?state=MERGED&sort=-updated_on&pagelen=${LIST}`
  const { value } = await api.find(list, HeadsAnswer, [401, 403, 404])
  const heads = (value?.values ?? []).flatMap(({ source }) => source.commit?.hash ?? []).slice(0, MOST_HEADS)
  const runs = heads.length > 0 ? await listed.readRuns() : []
  return knownAmong(heads, MOST_HEADS, async (hash) => {
    const sha = await repository.expand(hash)
    if (sha === undefined) return undefined
    const reports = await readReports(repository, sha, runs, listed)
    return { sha, refs: ['branch', 'pull_request'], owners: [], reports }
  })
}

async function readRunsBefore({ api, root }: Repository, before: number): Promise<readonly Pipeline[]> {
  const { value } = await api.find(`${root}/pipelines?sort=-created_on&pagelen=${RUNS}`, PipelinesAnswer)
  return (value?.values ?? []).filter((run) => isStarted(run) && isBefore(run.created_on, before))
}

async function readReports(
  repository: Repository,
  sha: string,
  runs: readonly Pipeline[],
  { slug, mainBranch, before }: Listed,
): Promise<readonly Report[]> {
  const statuses = ((await readStatuses(repository, sha)) ?? []).filter((one) => isBefore(one.created_on, before))
  const own = runs.filter(({ target }) => target.commit && sha.startsWith(target.commit.hash))
  const posted = statuses.filter((one) => !isOfRun(one, slug))
  return [
    ...own.map((run) => toReport(run, mainBranch)),
    ...posted.map((one) => ({ by: keyed(one.key), name: statusName(one) })),
  ]
}

/** Tells whether a time is before a moment; what has no time may be newer. */
function isBefore(time: string | undefined, before: number): boolean {
  return time !== undefined && logTime(time).notAfter <= before
}
