/** Finds the commits at Gitea and Forgejo with which a claimed one is compared: those of the default branch, and heads that were merged, that have statuses from before. */
import { type CheckContext, isDestinationError } from '@claimcheck/core/plugin'
import type { ChecksQuery } from '../code-host.ts'
import {
  type Comparable,
  comparableBefore,
  comparableInLists,
  type KnownCommit,
  knownAmong,
  type PullSource,
  type RefKind,
  type Report,
  type RunReport,
  refsOf,
} from '../comparable.ts'
import { accountId } from '../reporters.ts'
import { logTime } from '../times.ts'
import { CommitsAnswer, HeadsAnswer, type StatusAnswer } from './answers.ts'
import { pushersOf, readActivities } from './push-log.ts'
import { type Repository, readTip } from './repository.ts'
import { BY_HAND, type Run } from './runs.ts'
import { isRunner, namesOf, ownersOf, readStatuses } from './statuses.ts'

const MOST_COMMITS = 5
const MOST_HEADS = 5
/** Limit of the commits that are read to find comparable ones: of those that were pushed together, all but the last have no statuses. */
const MOST_READ = 15
const LIST = 30

/** The parts of the claimed commit that the check has read. */
interface ClaimedCommit {
  readonly sha: string
  readonly owners: readonly string[]
  readonly runs: readonly Run[]
}

export async function comparableTo(
  repository: Repository,
  { sha, owners: authors, runs }: ClaimedCommit,
  query: ChecksQuery,
  context: CheckContext,
): Promise<Comparable> {
  const branch = repository.defaultBranch
  const begun = runs
    .filter(isStarted)
    .map((run): RunReport => ({ file: run.file, event: run.event, ref: kindOf(run, branch) }))
  const actors = runs.flatMap(({ actor }) => (actor === undefined ? [] : [accountId(actor)]))
  const pushers = begun.length > 0 ? actors : await pushersBy(repository, sha)
  // Unknown pushers may have posted what is green.
  if (branch === undefined || (begun.length === 0 && pushers.length === 0)) {
    return { commits: [], begun, refs: [], owners: [] }
  }
  const owners = [...new Set([...authors, ...pushers])]
  const isTip = (await readTip(repository, branch)) === sha
  const refs = refsOf(begun, { isTip, openFrom: await findOpenFrom(repository, sha) })
  const before = comparableBefore(query)
  const key = `gitea ${repository.id} comparable ${before}`
  const commits = await comparableInLists(
    context,
    key,
    { sha, owners, refs },
    {
      ofBranch: () => readKnown(repository, { branch, before }),
      ofHeads: () => readKnownHeads(repository, before),
    },
  )
  return { commits, begun, refs, owners }
}

const NOT_OF_COMMITS: ReadonlySet<string> = new Set([BY_HAND, 'schedule'])

/** Tells whether the host started a run for its commit. */
function isStarted({ event }: Pick<Run, 'event'>): boolean {
  return !NOT_OF_COMMITS.has(event)
}

function kindOf({ event, ref }: Run, branch: string | undefined): RefKind {
  if (event.startsWith('pull_request')) return 'pull_request'
  if (event === 'release' || ref.startsWith('refs/tags/')) return 'tag'
  return ref.replace(/^refs\/heads\//, '') === branch ? 'default' : 'branch'
}

/** Finds who pushed a commit, by the newest entries of the activity feed; nobody where it may not be read. */
async function pushersBy(repository: Repository, sha: string): Promise<readonly string[]> {
  try {
    return (await pushersOf(sha, await readActivities(repository, 1))).map(accountId)
  } catch (error) {
    if (isDestinationError(error) && error.code === 'forbidden') return []
    throw error
  }
}

/** Tells where the open pull requests come from of which it is the newest commit. */
async function findOpenFrom({ find, id }: Repository, sha: string): Promise<readonly PullSource[]> {
  const { value = [] } = await find(`/pulls?state=open&limit=${LIST}`, HeadsAnswer, [403, 404])
  const own = value.filter(({ head }) => head.sha === sha)
  return own.map(({ head: { repo_id = id } }) => (repo_id === id ? 'here' : 'fork'))
}

async function readKnown(
  repository: Repository,
  { branch, before }: { readonly branch: string; readonly before: number },
): Promise<readonly KnownCommit[]> {
  const list = `/commits?sha=${encodeURIComponent(branch)}&limit=${LIST}&stat=false&verification=false&files=false`
  const { value = [] } = await repository.find(list, CommitsAnswer, [404, 409])
  return knownAmong(value.slice(0, MOST_READ), MOST_COMMITS, async ({ sha, author, committer }) => ({
    sha,
    refs: ['default'],
    owners: ownersOf({ author, committer }),
    reports: await readReports(repository, { sha, kind: 'default', before }),
  }))
}

/** Reads the newest commits of the last pull requests that were merged: one that was squashed is not in the branch's history. */
async function readKnownHeads(repository: Repository, before: number): Promise<readonly KnownCommit[]> {
  const list = `/pulls?state=closed&sort=recentupdate&limit=${LIST}`
  const { value = [] } = await repository.find(list, HeadsAnswer, [403, 404])
  const isBefore = ({ head, merged_at }: (typeof value)[number]) =>
    head.sha !== '' && !!merged_at && logTime(merged_at).notAfter <= before
  return knownAmong(value.filter(isBefore).slice(0, MOST_HEADS), MOST_HEADS, async ({ head: { sha }, user }) => ({
    sha,
    refs: ['branch', 'pull_request'],
    owners: user ? [accountId(user.id)] : [],
    reports: await readReports(repository, { sha, kind: 'branch', before }),
  }))
}

/** @param kind of the refs whose pushes ran something for the commit */
async function readReports(
  repository: Repository,
  { sha, kind, before }: { readonly sha: string; readonly kind: RefKind; readonly before: number },
): Promise<Report[]> {
  const statuses = await readStatuses(repository, sha)
  const known = statuses.filter(({ created_at }) => logTime(created_at).notAfter <= before)
  return known.flatMap((status) => reportsOf(status, kind))
}

/** Matches the name of a job's status: `workflow / job (event)`. */
const JOB = /^(.+?) \/ .+ \(([a-z_]+)\)$/

function reportsOf(status: StatusAnswer, kind: RefKind): Report[] {
  const { context } = status
  const [by = ''] = namesOf(status)
  if (!isRunner(status)) return [{ by, name: context }]
  const [, file, event] = JOB.exec(context) ?? []
  if (file === undefined || event === undefined) return [{ by, name: context }]
  if (!isStarted({ event })) return []
  return [{ file, event, ref: event.startsWith('pull_request') ? 'pull_request' : kind }]
}
