/** Finds the commits at GitLab with which a claimed one is compared: the newest of the default branch, and the last merged ones, by their pipelines. */
import type { CheckContext } from '@claimcheck/core/plugin'
import type { ChecksQuery } from '../code-host.ts'
import {
  type Comparable,
  comparableAmong,
  comparableBefore,
  type KnownCommit,
  masked,
  type RefKind,
  type RunReport,
  refsOf,
  type TaggedCommit,
  tagsAlike,
} from '../comparable.ts'
import { keptForLong } from '../lately.ts'
import { accountId } from '../reporters.ts'
import { EventsAnswer, MergedAnswer, type MergeRequestOf, PipelinesAnswer, TagsAnswer } from './answers.ts'
import { isOfFork } from './merged-results.ts'
import {
  BY_HOST,
  EXTERNAL,
  openPipelines,
  type Pipeline,
  type Run,
  readPostedBeside,
  startedBy,
  toPipeline,
} from './pipelines.ts'
import type { Project } from './project.ts'

interface ComparedProject {
  readonly project: Project
  /** Tells whether posted statuses are shown, which they are to tokens alone. */
  readonly seesPosted: boolean
}

/** The parts of the claimed commit that the check has read. */
interface ClaimedCommit {
  readonly sha: string
  readonly runs: readonly Run[]
  readonly pipelines: readonly Pipeline[]
  readonly mergeRequests: readonly MergeRequestOf[]
}

/** Limit of the commits of each of the two kinds. */
const MOST_COMMITS = 5
/** Limit of the requests for the reports of all comparable commits, beside the lists. */
const MOST_REQUESTS = 20
const LIST = 100
/** Number of pipelines in a list that has more: some of a page may be newer than what is asked for. */
const FULL = 90
/** The file that stands for every run: a project has one, whatever it includes. */
const FILE = '.gitlab-ci.yml'

export async function comparableTo(
  compared: ComparedProject,
  { sha, runs, pipelines, mergeRequests }: ClaimedCommit,
  query: ChecksQuery,
  context: CheckContext,
): Promise<Comparable> {
  const { project, seesPosted } = compared
  const branch = project.answer.default_branch
  const begun = pipelines.filter(isStarted).map((pipeline) => runOf(pipeline, runs, project))
  const starters = runs.filter(({ source }) => BY_HOST.has(source)).flatMap(({ startedBy }) => startedBy ?? [])
  const pusher = starters.length > 0 ? starters : await pushersOf(project, sha)
  const isTold = pusher.length > 0 && (seesPosted || begun.length > 0)
  // Unknown pushers may have posted what is green.
  if (!branch || !isTold) return { commits: [], begun, refs: [], owners: [] }
  const authors = mergeRequests.flatMap(({ author }) => author?.id ?? [])
  const owners = [...new Set([...pusher, ...authors])].map(accountId)
  const open = mergeRequests.filter(({ state }) => state === 'opened')
  const isTip = (await project.repository.head(branch)) === sha
  const refs = refsOf(begun, { isTip, openFrom: open.map((one) => (isOfFork(one) ? 'fork' : 'here')) })
  const before = comparableBefore(query)
  const known = await keptForLong(context, `gitlab ${project.id} comparable ${before}`, () =>
    readKnown(compared, before),
  )
  const ofKind = (kind: RefKind) =>
    comparableAmong(
      known.filter((one) => one.refs.includes(kind)),
      { sha, owners },
    )
  const commits = await ofKind('default')
  if (mergeRequests.length > 0) commits.push(...(await ofKind('pull_request')))
  const alike = refs.includes('tag') ? [] : tagsAlike(await readTags(project), sha)
  const ran = await Promise.all(
    alike.map((tag) => keptForLong(context, `gitlab ${project.id} tag ${tag.name}`, () => hasRun(project, tag))),
  )
  const ofTag: RunReport = { file: FILE, isOnlyFile: true, event: 'push', ref: 'tag' }
  return { commits, begun, refs, owners, ofTags: ran.includes(true) ? [ofTag] : [] }
}

/** Lists the tags that were made last; none where they may not be read. */
async function readTags({ api, path }: Project): Promise<readonly TaggedCommit[]> {
  const list = `${path}/repository/tags?order_by=updated&sort=desc&per_page=20`
  const { value = [] } = await api.find(list, TagsAnswer, [401, 403, 404])
  return value.map(({ name, commit }) => ({ name, sha: commit.id }))
}

async function hasRun({ api, path }: Project, { name, sha }: TaggedCommit): Promise<boolean> {
  const list = `${path}/pipelines?ref=${encodeURIComponent(name)}&sha=${sha}&source=push&per_page=1`
  return (await api.get(list, PipelinesAnswer)).value.map(toPipeline).some(isStarted)
}

/** Tells whether the host started a pipeline: one that was left out, as a push that asks for none, began nothing. */
function isStarted({ source, status }: Pick<Pipeline, 'source' | 'status'>): boolean {
  return BY_HOST.has(source) && status !== 'skipped'
}

function runOf({ id, ref, source }: Pipeline, runs: readonly Run[], project: Project): RunReport {
  const own = runs.filter(({ pipeline }) => pipeline === id)
  const kind = own.some(({ isOfTag }) => isOfTag) ? 'tag' : kindOf({ ref, source }, project)
  const jobs = unique(own.map(({ name }) => masked(name)))
  return { file: FILE, isOnlyFile: true, event: source, ref: kind, jobs }
}

function kindOf({ ref, source }: Pick<Pipeline, 'ref' | 'source'>, { answer }: Project): RefKind {
  if (source !== 'push') return 'pull_request'
  return ref === answer.default_branch ? 'default' : 'branch'
}

/** Finds the accounts that pushed a commit, by the project's events. */
async function pushersOf({ api, path }: Project, sha: string): Promise<readonly number[]> {
  const list = `${path}/events?action=pushed&sort=desc&per_page=${LIST}`
  const { value = [] } = await api.find(list, EventsAnswer, [401, 403, 404])
  return value.filter(({ push_data }) => push_data.commit_to === sha).flatMap(({ author_id }) => author_id ?? [])
}

async function readKnown(compared: ComparedProject, before: number): Promise<readonly KnownCommit[]> {
  const { project } = compared
  const branch = project.answer.default_branch!
  const until = new Date(before).toISOString()
  const list = async (more: string) => {
    const path = `${project.path}/pipelines?updated_before=${until}&order_by=id&sort=desc&per_page=${LIST}${more}`
    const { value } = await project.api.get(path, PipelinesAnswer)
    return value.map(toPipeline).filter(({ updatedAt = until }) => Date.parse(updatedAt) <= before)
  }
  const ofBranch = `&ref=${encodeURIComponent(branch)}`
  const newest = await list(ofBranch)
  const told = ({ source, status }: Pick<Pipeline, 'source' | 'status'>) =>
    source === EXTERNAL || isStarted({ source, status })
  const shasOf = (pipelines: readonly Pipeline[]) => unique(pipelines.filter(told).map(({ sha }) => sha))
  // A clock, and a person, can fill the list.
  const isFlooded = newest.length >= FULL && shasOf(newest).length < MOST_COMMITS
  const onDefault = isFlooded ? [...newest, ...(await list(`${ofBranch}&source=push`))] : newest
  const merged = await mergedHeads(project, before)
  const onOthers = merged.length > 0 ? await list('') : []
  const all = [...new Map([...onDefault, ...onOthers].map((one) => [one.id, one])).values()]
  const shas = shasOf(onDefault).slice(0, MOST_COMMITS)
  const heads = merged.filter((sha) => !shas.includes(sha) && all.some((one) => one.sha === sha && told(one)))
  const commits: KnownCommit[] = []
  let left = MOST_REQUESTS
  for (const sha of [...shas, ...heads.slice(0, MOST_COMMITS)]) {
    const pipelines = all.filter((one) => one.sha === sha)
    const cost = pipelines.length + 1
    if (cost > left) continue
    left -= cost
    const refs: RefKind[] = shas.includes(sha) ? ['default'] : ['branch', 'pull_request']
    commits.push({ sha, refs, ...(await readReports(compared, sha, pipelines)) })
  }
  return commits
}

/** Lists the newest commits of the last merge requests that were merged. */
async function mergedHeads({ api, path }: Project, before: number): Promise<readonly string[]> {
  const list = `${path}/merge_requests?state=merged&order_by=updated_at&sort=desc&per_page=20`
  const { value = [] } = await api.find(list, MergedAnswer, [401, 403, 404])
  const isBefore = ({ merged_at }: (typeof value)[number]) =>
    typeof merged_at === 'string' && Date.parse(merged_at) <= before
  return unique(value.filter(isBefore).flatMap(({ sha }) => sha ?? []))
}

async function readReports(
  { project, seesPosted }: ComparedProject,
  sha: string,
  pipelines: readonly Pipeline[],
): Promise<Pick<KnownCommit, 'reports' | 'owners'>> {
  const source = openPipelines(project, { sha, countsAll: false })
  const own = pipelines.filter(isStarted)
  const runs = await source.runs(own, 'jobs')
  const beside = seesPosted ? await readPostedBeside(source, runs) : []
  const others = pipelines.filter((one) => one.source !== EXTERNAL && !isStarted(one))
  // The jobs of pipelines that time or a person started look like statuses of theirs.
  const ofOthers = beside.length > 0 ? await source.runs(others, 'jobs') : []
  const posted = beside.filter((one) => !ofOthers.some(({ id }) => id === one.id) && !source.isOwnReport(one))
  const isUntold = !seesPosted && pipelines.some((one) => one.source === EXTERNAL)
  return {
    owners: unique(runs.flatMap(({ startedBy }) => startedBy ?? [])).map(accountId),
    reports: [
      ...own.map((pipeline) => runOf(pipeline, runs, project)),
      ...posted.map(({ by, name }) => ({ by: by[0]!, name })),
      ...(isUntold ? [{ by: startedBy(EXTERNAL), name: 'pipeline' }] : []),
    ],
  }
}

function unique<T>(all: readonly T[]): T[] {
  return [...new Set(all)]
}
