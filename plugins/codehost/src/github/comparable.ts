/**
 * Finds the commits with which one is compared: those of the default branch and of the pull request's base, by GitHub's list of workflow runs and
 * by the branch, and the heads of merged pull requests. What they show is read once for a repository in ten minutes, by some 25 requests.
 */
import { type CheckContext, DestinationError, type Instant } from '@claimcheck/core/plugin'
import type { RepositoryQuery } from '../code-host.ts'
import {
  type Candidate,
  type Comparable,
  comparableBefore,
  comparableCommits,
  type PostedReport,
  type RefKind,
  type Report,
  type RunReport,
  type TaggedCommit,
  tagsAlike,
} from '../comparable.ts'
import { keptForLong } from '../lately.ts'
import { account, accountId } from '../reporters.ts'
import { logTime } from '../times.ts'
import {
  AuthoredCommitAnswer,
  CommitsAnswer,
  PullsAnswer,
  TagsAnswer,
  type WorkflowRun,
  WorkflowRunsAnswer,
} from './answers.ts'
import { entriesOf, readLatestCheckRuns, readStatuses } from './check-lists.ts'
import { isJob, isOfActions, reportersOf } from './check-runs.ts'
import type { ClaimedRepository } from './repository.ts'
import { ACTIONS_APP, fileOf, isOfPull, refKindOf, type WorkflowRuns } from './workflow-runs.ts'

const RUNS_PAGE = 100
const COMMITS_PAGE = 20
const PULLS_PAGE = 30
const TAGS_PAGE = 100
/** Limit of the commits of a branch; of each of two, where a pull request has another base than the default branch; and of merged heads. */
const MOST_OF_BRANCH = 5
const MOST_OF_BASE = 3
const MOST_HEADS = 4
/** Number of commits with runs that makes the list of a branch's commits unnecessary: of a busy branch GitHub lists many. */
const LEAST_OF_RUNS = 5

/** The events for which GitHub starts runs of commits. Runs that time or a person starts for one commit need not come for the next. */
const EVENTS: ReadonlySet<string> = new Set([
  ...['push', 'pull_request', 'pull_request_target', 'merge_group'],
  ...['workflow_run', 'deployment', 'deployment_status', 'dynamic'],
])
/** The default setup of code scanning, which begins some time after a push. */
const SCANNING = 'dynamic/github-code-scanning/'
const CHAINED: ReadonlySet<string> = new Set(['workflow_run', 'deployment', 'deployment_status'])

/** Finds the comparable commits. @throws DestinationError `forbidden` where what is needed may not be read */
export async function comparableTo(
  claimed: ClaimedRepository,
  {
    sha,
    windowFrom,
    runs,
  }: Pick<RepositoryQuery, 'windowFrom'> & { readonly sha: string; readonly runs: WorkflowRuns },
  context: CheckContext,
): Promise<Comparable> {
  const { repository } = claimed
  const { defaultBranch } = repository
  // Comments and the like list runs with the newest commit of the default branch, whatever they are of.
  const isOwn = (run: WorkflowRun) => EVENTS.has(run.event) && isOfCommits(run)
  const own = runs.all.filter((run) => isOwn(run) && runs.chains.originOf(run).of !== 'another')
  const kinds = new Set(own.map((run) => refKindOf(run, defaultBranch)))
  const isOnDefault = kinds.has('default') && !kinds.has('pull_request')
  const [commit, pulls] = await Promise.all([
    readCommit(claimed, sha, context),
    isOnDefault ? [] : readPulls(claimed, sha),
  ])
  const heads = pulls.filter(({ head }) => head.sha === sha)
  const isHead = heads.length > 0 || kinds.has('pull_request')
  const isDefault = kinds.has('default') || (await (isHead ? isTip : isContained)(claimed, sha))
  const untold: RefKind = isDefault && !isHead ? 'default' : 'branch'
  const tags = await tagsAmong(claimed, own)
  const begun = own.map((run) => reportOf(run, kindOf(run, tags, refKindOf(run, defaultBranch) ?? untold)))
  const isOfFork = heads.length > 0 && heads.every(({ head }) => head.repo?.id !== repository.id)
  const refs = new Set([...begun.map(({ ref }) => ref), ...refsListing(isDefault, isHead, isOfFork)])
  const owners = [
    ...own.flatMap(({ actor }) => identify(actor)),
    ...identify(commit?.author),
    ...identify(commit?.committer),
    ...heads.flatMap(({ user }) => identify(user)),
  ]

  const before = comparableBefore({ windowFrom })
  const bases = [...new Set([defaultBranch, ...heads.map(({ base }) => base.ref)])].slice(0, 2)
  const isQueued = own.some(({ event }) => event === 'merge_group')
  const reader = createReader(claimed, { before, isQueued }, context)
  const most = bases.length === 1 ? MOST_OF_BRANCH : MOST_OF_BASE
  const ofBranches = await Promise.all(
    bases.map(async (branch) => {
      const all = await reader.ofBranch(branch)
      const candidates = all.filter((candidate) => candidate.sha !== sha)
      return comparableCommits(candidates, { owners, most, mostRead: most + 2 }, reader.reports)
    }),
  )
  const needsHeads = refs.has('pull_request') || refs.has('branch')
  const mostHeads = bases.length === 1 ? MOST_HEADS : MOST_OF_BASE
  const ofHeads = needsHeads
    ? await comparableCommits(
        (await reader.heads()).filter((candidate) => candidate.sha !== sha),
        { owners, most: mostHeads, mostRead: mostHeads + 1 },
        reader.reports,
      )
    : []
  const asksForNone = SKIPPED.test(commit?.commit?.message ?? '')
  const alike = refs.has('tag') ? [] : tagsAlike(await reader.tags(), sha)
  const ofTags = (await Promise.all(alike.map(({ name }) => reader.ofTag(name)))).flat()
  return { commits: [...ofBranches.flat(), ...ofHeads], begun, refs: [...refs], owners, asksForNone, ofTags }
}

/** Finds the kinds of refs that GitHub lists runs of a commit for. Runs for a fork's branch are the fork's own, and not listed here. */
function refsListing(isDefault: boolean, isHead: boolean, isOfFork: boolean): RefKind[] {
  const ofDefault: RefKind[] = isDefault ? ['default'] : []
  const ofHead: RefKind[] = isHead ? ['pull_request'] : []
  const ofBranch: RefKind[] = (isHead || !isDefault) && !isOfFork ? ['branch'] : []
  return [...ofDefault, ...ofHead, ...ofBranch]
}

function identify(one: { readonly login?: string; readonly id?: number } | null | undefined): string[] {
  if (!one) return []
  return [
    ...(one.id === undefined ? [] : [accountId(one.id)]),
    ...(one.login === undefined ? [] : [account(one.login)]),
  ]
}

function reportOf(run: WorkflowRun, ref: RefKind): RunReport {
  const { event } = run
  const isLate = event === 'dynamic' || undefined
  return { file: fileOf(run), event, ref, isChained: CHAINED.has(event) || undefined, isLate }
}

/** Tells runs of commits from what the host runs for itself: an update of dependencies need not come for the next commit. */
function isOfCommits({ event, path }: Pick<WorkflowRun, 'event' | 'path'>): boolean {
  return event !== 'dynamic' || path.startsWith(SCANNING)
}

function kindOf({ head_branch }: WorkflowRun, tags: ReadonlySet<string>, kind: RefKind): RefKind {
  return kind === 'branch' && head_branch && tags.has(head_branch) ? 'tag' : kind
}

/** Finds the tags among the refs of runs: GitHub names a tag as it names a branch. */
async function tagsAmong(
  { repository }: ClaimedRepository,
  runs: readonly WorkflowRun[],
): Promise<ReadonlySet<string>> {
  const isOfNamed = (run: WorkflowRun) => !isOfPull(run) && refKindOf(run, repository.defaultBranch) === 'branch'
  const names = new Set(runs.filter(isOfNamed).flatMap(({ head_branch }) => head_branch ?? []))
  const tags = await Promise.all(
    [...names].slice(0, 3).map(async (name) => ((await repository.tagged(name)) === undefined ? [] : [name])),
  )
  return new Set(tags.flat())
}

async function isTip({ repository }: ClaimedRepository, sha: string): Promise<boolean> {
  return (await repository.head(repository.defaultBranch)) === sha
}

async function isContained({ repository }: ClaimedRepository, sha: string): Promise<boolean> {
  const tip = await repository.head(repository.defaultBranch)
  return tip !== undefined && (tip === sha || (await repository.contains(sha, tip)) === true)
}

/** Matches the words in a commit's message by which GitHub starts no runs for its push and its pull request. */
const SKIPPED = /\[(?:skip ci|ci skip|no ci|skip actions|actions skip)\]|^skip-checks: ?true$/im

function readCommit({ api, repository }: ClaimedRepository, sha: string, { cache }: Pick<CheckContext, 'cache'>) {
  return cache.share(`github ${repository.id} written ${sha}`, async () => {
    // One entry a page suffices: the list of changed files comes in pages, too, and can have megabytes.
    const answer = await api.find(`${repository.root}/commits/${sha}?per_page=1`, AuthoredCommitAnswer, REFUSALS)
    return 'refused' in answer || answer.value.sha !== sha ? undefined : answer.value
  })
}

/** Reads the pull requests that have the commit; none where they may not be read. */
async function readPulls({ api, repository }: ClaimedRepository, sha: string) {
  const answer = await api.find(`${repository.root}/commits/${sha}/pulls?per_page=${PULLS_PAGE}`, PullsAnswer, REFUSALS)
  return 'refused' in answer ? [] : answer.value
}

const REFUSALS = [403, 404, 409, 422] as const

/** The kind of the commits of any base: what it runs for a push, heads of pull requests do not have to. */
const BASE: readonly RefKind[] = ['default']

/**
 * Creates the reader of what was there before a moment, which keeps it.
 * @param isQueued true if the commit came by a merge queue, whose runs are not those of the branch
 */
function createReader(
  claimed: ClaimedRepository,
  { before, isQueued }: { readonly before: Instant; readonly isQueued: boolean },
  context: CheckContext,
) {
  const { api, repository } = claimed
  const theirBefore = before - Math.max(repository.clockBehindMs ?? 0, 0)
  const isBefore = (time: string | null | undefined) => !!time && logTime(time).notAfter <= theirBefore
  const keep = <T>(what: string, read: () => Promise<T>) =>
    keptForLong(context, `github ${repository.id} comparable ${what} ${before}`, read)
  const until = new Date(Math.floor(theirBefore / 1000) * 1000).toISOString().replace('.000Z', 'Z')
  const ofRuns = new Map<string, readonly WorkflowRun[]>()

  async function runsOf(filter: string): Promise<{ readonly runs: readonly WorkflowRun[]; readonly isCut: boolean }> {
    const path = `${repository.root}/actions/runs?${filter}&per_page=${RUNS_PAGE}&page=1`
    const answer = await api.find(path, WorkflowRunsAnswer, [404])
    const runs = 'refused' in answer ? [] : answer.value.workflow_runs
    return {
      isCut: runs.length === RUNS_PAGE,
      runs: runs
        .filter((run) => run.repository.id === repository.id && EVENTS.has(run.event) && isOfCommits(run))
        .map(shortenRun),
    }
  }

  /** Finds the commits of a branch that GitHub ran something for, and where these are few also others of it. */
  async function ofBranch(branch: string): Promise<readonly Candidate[]> {
    const found = await keep(`runs of ${branch}${isQueued ? ' and its queue' : ''}`, async () => {
      const created = `created=${encodeURIComponent(`<=${until}`)}`
      const ofBranch = `branch=${encodeURIComponent(branch)}&${created}`
      const newest = await runsOf(ofBranch)
      const isOf = (run: WorkflowRun) => run.head_branch === branch && !isOfPull(run) && isBefore(run.created_at)
      const shasOf = (all: readonly WorkflowRun[]) => [...new Set(all.filter(isOf).map(({ head_sha }) => head_sha))]
      // A clock, and a person, can fill the list.
      const isFlooded = newest.isCut && shasOf(newest.runs).length < LEAST_OF_RUNS
      const pushed = isFlooded ? (await runsOf(`${ofBranch}&event=push`)).runs : []
      const runs = [...new Map([...newest.runs, ...pushed].filter(isOf).map((run) => [run.id, run])).values()]
      const shas = shasOf(runs)
      const listed = shas.length >= LEAST_OF_RUNS ? [] : await commitsOf(branch)
      const shasListed = new Set(listed.map(({ sha }) => sha))
      const queued = isQueued ? (await runsOf(`event=merge_group&${created}`)).runs : []
      const ofQueue = queued.filter((run) => shasListed.has(run.head_sha) && isBefore(run.created_at))
      return { runs: [...runs, ...ofQueue], listed }
    })
    for (const run of found.runs) ofRuns.set(run.head_sha, found.runs)
    const ran = [...new Set(found.runs.map(({ head_sha }) => head_sha))].map((sha) => ({
      sha,
      refs: BASE,
      owners: found.runs.filter(({ head_sha }) => head_sha === sha).flatMap(({ actor }) => identify(actor)),
    }))
    const rest = found.listed.filter(({ sha }) => !ran.some((one) => one.sha === sha))
    return [...ran, ...rest.map(({ sha, owners }) => ({ sha, refs: BASE, owners }))]
  }

  async function commitsOf(branch: string) {
    const query = `sha=${encodeURIComponent(branch)}&until=${encodeURIComponent(until)}&per_page=${COMMITS_PAGE}`
    const answer = await api.find(`${repository.root}/commits?${query}`, CommitsAnswer, REFUSALS)
    const commits = 'refused' in answer ? [] : answer.value
    return commits.map(({ sha, author, committer }) => ({ sha, owners: [...identify(author), ...identify(committer)] }))
  }

  /** Finds the heads of pull requests that were merged, the last first. @throws DestinationError `forbidden` */
  async function heads(): Promise<readonly Candidate[]> {
    return keep('heads', async () => {
      const query = `state=closed&sort=updated&direction=desc&per_page=${PULLS_PAGE}`
      const answer = await api.find(`${repository.root}/pulls?${query}`, PullsAnswer, REFUSALS)
      if ('refused' in answer) throw new DestinationError('forbidden', { status: 403 })
      const merged = answer.value.filter(({ merged_at }) => isBefore(merged_at))
      const refs: RefKind[] = ['pull_request', 'branch']
      return merged.map(({ head, user }) => ({ sha: head.sha, refs, owners: identify(user) }))
    })
  }

  /** Lists the tags that GitHub shows first; none where they may not be read. */
  function tags(): Promise<readonly TaggedCommit[]> {
    return context.cache.share(`github ${repository.id} tags`, async () => {
      const answer = await api.find(`${repository.root}/tags?per_page=${TAGS_PAGE}`, TagsAnswer, REFUSALS)
      return 'refused' in answer ? [] : answer.value.map(({ name, commit }) => ({ name, sha: commit.sha }))
    })
  }

  /** Finds what GitHub started for the push of a tag. */
  async function ofTag(name: string): Promise<readonly RunReport[]> {
    return keep(`runs of tag ${name}`, async () => {
      const { runs } = await runsOf(`branch=${encodeURIComponent(name)}&event=push`)
      return runs.filter((run) => run.head_branch === name).map((run) => reportOf(run, 'tag'))
    })
  }

  async function reports({ sha, refs }: Candidate): Promise<readonly Report[]> {
    const [kind] = refs
    const listed = ofRuns.get(sha)?.filter(({ head_sha }) => head_sha === sha)
    return keep(`reports ${kind} ${sha}`, async () => {
      const isHead = kind === 'pull_request'
      const runs = isHead ? (await runsOf(`head_sha=${sha}`)).runs : (listed ?? [])
      const own = runs.filter((run) => run.head_sha === sha && isBefore(run.created_at ?? run.updated_at))
      const asked = own.map((run) => {
        const ref = refKindOf(run, repository.defaultBranch) ?? kind!
        const isOfKind = CHAINED.has(run.event) || run.event === 'dynamic' || (!isHead && run.event !== 'merge_group')
        return reportOf(run, isOfKind ? kind! : ref)
      })
      return unique([...asked, ...(await postedOn(sha))])
    })
  }

  async function postedOn(sha: string): Promise<readonly PostedReport[]> {
    const [runs, statuses] = await Promise.all([readLatestCheckRuns(claimed, sha), readStatuses(claimed, sha)])
    if (runs === 'hidden' || statuses === 'hidden') throw new DestinationError('forbidden', { status: 403 })
    // Accounts that may write can post statuses by the thousand, and hide what there was before.
    if (statuses?.isCut) throw new DestinationError('too_large')
    const ofApps = (runs ?? []).filter((run) => !isJob(run))
    const ofAccounts = entriesOf(statuses).filter(
      ({ creator, created_at }) => creator && (created_at === undefined || isBefore(created_at)),
    )
    return [
      ...ofApps.flatMap((run) =>
        reportersOf(run)
          .slice(0, 1)
          .map((by) => ({ by, name: run.name, foundsNothing: isOfActions(run) || undefined })),
      ),
      ...ofAccounts.map(({ creator, context: name }) => ({
        ...{ by: accountId(creator!.id), name },
        isOfBot: isBot(creator!.login) || undefined,
      })),
    ]
  }

  return { ofBranch, tags, ofTag, heads, reports }
}

/** Tells a bot that opens pull requests and reports on them, as those that update dependencies. Workflows have an account of this kind, too. */
function isBot(login: string): boolean {
  return login.endsWith('[bot]') && login !== `${ACTIONS_APP}[bot]`
}

/** Takes the members of a run that are kept. */
function shortenRun(run: WorkflowRun): WorkflowRun {
  const { id, path, event, head_sha, status, conclusion, created_at, updated_at, head_branch, actor } = run
  const { repository, head_repository: from } = run
  return {
    ...{ id, path, event, head_sha, status, conclusion, updated_at, created_at },
    repository: { id: repository.id },
    head_branch: head_branch ?? null,
    head_repository: from ? { id: from.id } : undefined,
    actor: actor ? { login: actor.login, id: actor.id } : undefined,
  }
}

function unique(reports: readonly Report[]): Report[] {
  return [...new Map(reports.map((one) => [JSON.stringify(one), one])).values()]
}
