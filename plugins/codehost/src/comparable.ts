/**
 * Tells which checks a commit still awaits, by what reported on comparable commits. A claim that names none says that all are green, and what is
 * there tells nothing of what has not begun: commits from before the claim tell it, and none that the claimant pushed for the purpose.
 */
import type { Instant } from '@claimcheck/core/plugin'
import { type KeepingContext, keptForLong, LONG_MS } from './lately.ts'
import { isSame } from './reporters.ts'

/** The kind of ref from which a run was started. Files are run for some kinds and not for others. */
export type RefKind = 'default' | 'branch' | 'tag' | 'pull_request'

/** A run that the host started itself, for this commit and by a file of the repository. */
export interface RunReport {
  readonly file: string
  readonly event: string
  readonly ref: RefKind
  /** The end of another run or a deployment started it, perhaps of another commit: it may begin late, and tells nothing of what a push starts. */
  readonly isChained?: boolean
  /** It may begin long after the commit was pushed. */
  readonly isLate?: boolean
  /** The host has one file for the runs of all refs, which have other jobs for each. */
  readonly isOnlyFile?: boolean
  /** The names of its jobs, where one file has all. */
  readonly jobs?: readonly string[]
}

/** A status, or what an app reported. */
export interface PostedReport {
  /** The first of the identifiers of a check. */
  readonly by: string
  readonly name: string
  /** A workflow posted it while it ran, as a branch's own file can, too: that it comes proves nothing of who sent it. */
  readonly foundsNothing?: boolean
  /** A bot posted it. */
  readonly isOfBot?: boolean
}

export type Report = RunReport | PostedReport

export interface ComparableCommit {
  /** The kinds of refs that it stands for: `default` for a commit of the default branch. */
  readonly refs: readonly RefKind[]
  /** The reports without what a person or the time started. What the claimant's own account posts is awaited, as its CI may be what posts it. */
  readonly reports: readonly Report[]
}

/** The claimed commit, and the commits before it with which it is compared. */
export interface Comparable {
  /** The comparable commits with something that others reported. None: nothing tells which checks there are to be. */
  readonly commits: readonly ComparableCommit[]
  /** The host's own runs for the claimed commit, whatever came of them. */
  readonly begun: readonly RunReport[]
  /** The kinds of refs that the claimed commit has, or had. */
  readonly refs: readonly RefKind[]
  /** Identifiers of the accounts that pushed the claimed commit or wrote it: what they post founds nothing. */
  readonly owners: readonly string[]
  /** The commit's message asks for no runs, so that none was left out by a filter. */
  readonly asksForNone?: boolean
  /** The runs that the host started for other tags whose names are like those of the commit's own, but for numbers: a tag may be newer than all else. */
  readonly ofTags?: readonly RunReport[]
}

/** The fewest commits that tell a person from a service. */
const LEAST_TO_TELL = 3

/**
 * Lists what is still to come, when the host has had a minute to start its runs.
 *
 * @param posted what apps and accounts reported on the claimed commit
 * @param isInTime the tolerance has not ended: what need not come is awaited for no longer
 */
export function awaitedReports(
  comparable: Comparable,
  posted: readonly PostedReport[],
  isInTime: boolean,
): readonly Report[] {
  const { commits, begun, refs, asksForNone = false, ofTags = [] } = comparable
  const reports = commits.flatMap(({ reports }) => reports)
  // Commits of another kind of ref tell nothing of this one's runs, unless there are no others and none has begun.
  const isTold = begun.length > 0 || commits.some((commit) => commit.refs.some((ref) => refs.includes(ref)))
  const runs = unique(reports.filter(isRun), ({ file, event, ref }) => JSON.stringify([file, event, ref])).filter(
    ({ ref }) => !isTold || refs.includes(ref),
  )
  const awaitedRuns = runs.filter((run) => {
    const ofEvent = begun.filter((one) => beginsWith(run, one) && (!isTold || one.ref === run.ref))
    if (ofEvent.some(({ file }) => file === run.file)) return false
    if (run.isChained || run.isLate) return isInTime
    // Of an event the host starts all runs together: what it left out was filtered out.
    return (
      ofEvent.length === 0 && (isInTime || asksForNone || !begun.some(isOfPush) || isMissed(run, { commits, begun }))
    )
  })
  if (!isInTime) return awaitedRuns
  const awaitedOfTags = ofTags.filter((run) => !begun.some((one) => one.ref === run.ref && beginsWith(run, one)))
  return [...awaitedRuns, ...awaitedOfTags, ...awaitedPosts(comparable, posted)]
}

/**
 * Tells whether the host starts a run when it starts the other one. A conflict with the base, or `[skip ci]`, stops what runs for `pull_request`, and
 * not what runs for `pull_request_target`.
 */
function beginsWith({ event }: RunReport, other: RunReport): boolean {
  return other.event === event || (event === 'pull_request_target' && other.event === 'pull_request')
}

/**
 * Tells whether a commit lacks what it should have had: all comparable commits of the kind had a run of that event, and no other event has started
 * its file here. A branch of another name, or one whose pull request came first, has other events.
 */
function isMissed(run: RunReport, { commits, begun }: Pick<Comparable, 'commits' | 'begun'>): boolean {
  const { event, ref } = run
  const isAlike = (one: Report): one is RunReport => isRun(one) && one.event === event && one.ref === ref
  const alike = commits.flatMap(({ reports }) => reports.filter(isAlike))
  if (begun.some((one) => standsFor(one, run, alike))) return false
  const ofKind = commits.filter(({ refs, reports }) => refs.includes(ref) && reports.some(isOfPush))
  return ofKind.every(({ reports }) => reports.some(isAlike))
}

/**
 * Tells whether a run of the same file may have come in place of another. What tags and pull requests run says nothing of the default branch, and a
 * run that lacks jobs which all of the other kind had is none of that kind. A single one of the other kind does not tell its usual jobs from others.
 */
function standsFor(one: RunReport, { file, ref, isOnlyFile }: RunReport, alike: readonly RunReport[]): boolean {
  if (one.file !== file) return false
  if (!isOnlyFile || one.ref === ref) return true
  const [first, ...others] = alike.map(({ jobs = [] }) => jobs)
  const usual = first?.filter((job) => others.every((jobs) => jobs.includes(job))) ?? []
  const missing = usual.filter((job) => one.jobs && !one.jobs.includes(job))
  const isAlike = missing.length === 0 || (others.length === 0 && missing.length < usual.length)
  return ref !== 'default' && one.ref !== 'tag' && isAlike
}

function awaitedPosts(comparable: Comparable, posted: readonly PostedReport[]): PostedReport[] {
  const { commits } = comparable
  const known = postsOf(commits)
  return unique(known, keyOf).filter((report) => {
    if (isByPerson(report.by, commits) || (report.foundsNothing && isOfLeftOut(report, comparable))) return false
    const here = countOf(report, posted)
    const counts = commits.map(({ reports }) => countOf(report, reports)).filter((count) => count > 0)
    return here < Math.min(...counts)
  })
}

/**
 * Tells whether a workflow posted a report that the host left out here, as by a filter of paths: it ran on each comparable commit of the kind that has
 * the report, and not on this one, for which others of its event ran. What does run posts while it runs.
 */
function isOfLeftOut(report: PostedReport, { commits, begun, refs }: Comparable): boolean {
  const having = commits.filter(
    (commit) => commit.refs.some((ref) => refs.includes(ref)) && countOf(report, commit.reports) > 0,
  )
  const isLeftOut = (run: RunReport) =>
    refs.includes(run.ref) &&
    !begun.some(({ file }) => file === run.file) &&
    begun.some((one) => beginsWith(run, one) && one.ref === run.ref)
  const leftOut = having.map(({ reports }) => reports.filter(isOfPush).filter(isLeftOut))
  const [first = [], ...others] = leftOut
  return first.some(({ file, event }) =>
    others.every((runs) => runs.some((one) => one.file === file && one.event === event)),
  )
}

/** Tells whether somebody reported a check who reports on other commits too, and who did not push this one. */
export function isKnownReporter({ by }: { readonly by: readonly string[] }, { commits, owners }: Comparable): boolean {
  if (by.some((one) => owners.some((owner) => isSame(owner, one)))) return false
  const known = postsOf(commits).filter((report) => !report.foundsNothing && by.some((one) => isSame(one, report.by)))
  return known.some((report) => !isByPerson(report.by, commits))
}

/** Tells a person who once posted a status: an account that reported on one comparable commit alone. */
function isByPerson(by: string, commits: readonly ComparableCommit[]): boolean {
  if (!/^(?:account|account-id|key):/.test(by) || commits.length < LEAST_TO_TELL) return false
  const isOf = ({ reports }: ComparableCommit) => reports.some((report) => !isRun(report) && isSame(report.by, by))
  return commits.filter(isOf).length === 1
}

function isOfPush(report: Report): report is RunReport {
  return isRun(report) && !report.isChained
}

function isRun(report: Report): report is RunReport {
  return 'file' in report
}

function postsOf(commits: readonly ComparableCommit[]): PostedReport[] {
  return commits.flatMap(({ reports }) => reports).filter((report): report is PostedReport => !isRun(report))
}

/** Counts the names of a reporter that are alike: each part of a matrix counts. */
function countOf(report: PostedReport, reports: readonly Report[]): number {
  const alike = reports.filter((one): one is PostedReport => !isRun(one) && keyOf(one) === keyOf(report))
  return new Set(alike.map(({ name }) => name)).size
}

function keyOf({ by, name }: PostedReport): string {
  return JSON.stringify([by.toLowerCase(), masked(name)])
}

/** Masks the numbers and ids in a name, which differ from commit to commit. */
export function masked(name: string): string {
  return name.replace(/\b(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]+)*\b|\d+/gi, '#')
}

/** A tag, and the commit to which it leads. */
export interface TaggedCommit {
  readonly name: string
  readonly sha: string
}

/** Limit of the tags whose runs are read. */
const MOST_TAGS = 3

/** The other tags whose names are like those of a commit's own, but for numbers: what the host started for them it starts for these. */
export function tagsAlike(all: readonly TaggedCommit[], sha: string): readonly TaggedCommit[] {
  const own = new Set(all.filter((tag) => tag.sha === sha).map(({ name }) => masked(name)))
  return all.filter((tag) => tag.sha !== sha && own.has(masked(tag.name))).slice(0, MOST_TAGS)
}

function unique<T>(all: readonly T[], keyOf: (one: T) => string): T[] {
  return [...new Map(all.map((one) => [keyOf(one), one])).values()]
}

/** A commit that may be comparable. */
export interface Candidate {
  readonly sha: string
  readonly refs: readonly RefKind[]
  /** Identifiers of those who pushed or wrote it, as far as the host tells. */
  readonly owners: readonly string[]
}

/** The most comparable commits of one kind. */
const MOST_COMMITS = 5
/** The most commits that are read to find them: those that change only documents have no reports. */
const MOST_READ = 8

/**
 * Finds the newest of these commits with something reported. Those of the claimant count where there are not enough of others: in a repository of
 * one person there are no others.
 *
 * @param candidates from before the window, the newest first
 * @param read reads what reported on one of them
 */
export async function comparableCommits(
  candidates: readonly Candidate[],
  {
    owners,
    most = MOST_COMMITS,
    mostRead = MOST_READ,
  }: { owners: readonly string[]; most?: number; mostRead?: number },
  read: (candidate: Candidate) => Promise<readonly Report[]>,
): Promise<ComparableCommit[]> {
  const isOwn = (one: string) => owners.some((owner) => isSame(owner, one))
  const byOthers = (candidate: Candidate) => !candidate.owners.some(isOwn)
  // A bot's reports on its own commits need not come for the commits of others.
  const isOfItself = (report: Report, candidate: Candidate) =>
    !isRun(report) &&
    report.isOfBot === true &&
    !isOwn(report.by) &&
    candidate.owners.some((owner) => isSame(owner, report.by))
  const inOrder = [...candidates.filter(byOthers), ...candidates.filter((candidate) => !byOthers(candidate))]
  const found: ComparableCommit[] = []
  for (let next = 0; next < Math.min(inOrder.length, mostRead) && found.length < most; ) {
    const part = inOrder.slice(next, Math.min(next + most - found.length, mostRead))
    next += part.length
    const reported = await Promise.all(
      part.map(async (candidate) => {
        const reports = (await read(candidate)).filter((report) => !isOfItself(report, candidate))
        return { refs: candidate.refs, reports }
      }),
    )
    found.push(...reported.filter(({ reports }) => reports.some((report) => isRun(report) || !isOwn(report.by))))
  }
  return found
}

/** A commit that was listed with what reported on it. */
export interface KnownCommit extends Candidate {
  readonly reports: readonly Report[]
}

/** Finds comparable commits among those that were listed with their reports, without the claimed one. */
export function comparableAmong(
  known: readonly KnownCommit[],
  { sha, owners }: { readonly sha: string; readonly owners: readonly string[] },
): Promise<ComparableCommit[]> {
  const others = known.filter((one) => one.sha !== sha)
  return comparableCommits(others, { owners }, async (candidate) => (candidate as KnownCommit).reports)
}

/**
 * Finds comparable commits at a host that lists those of the default branch, and the heads that were merged, which a commit of a branch or a pull
 * request needs, too. Each list is read once in ten minutes.
 * @param key names the repository and the moment from before which the lists are
 */
export async function comparableInLists(
  context: KeepingContext,
  key: string,
  claimed: { readonly sha: string; readonly owners: readonly string[]; readonly refs: readonly RefKind[] },
  read: { ofBranch(): Promise<readonly KnownCommit[]>; ofHeads(): Promise<readonly KnownCommit[]> },
): Promise<ComparableCommit[]> {
  const ofBranch = await comparableAmong(await keptForLong(context, key, read.ofBranch), claimed)
  if (!claimed.refs.includes('pull_request') && !claimed.refs.includes('branch')) return ofBranch
  const heads = await keptForLong(context, `${key} heads`, read.ofHeads)
  return [...ofBranch, ...(await comparableAmong(heads, claimed))]
}

/** Reads one entry of a list after the other, until there are enough commits with reports. @param read undefined for an entry without a commit */
export async function knownAmong<T>(
  entries: readonly T[],
  most: number,
  read: (entry: T) => Promise<KnownCommit | undefined>,
): Promise<readonly KnownCommit[]> {
  const known: KnownCommit[] = []
  for (const entry of entries) {
    const commit = await read(entry)
    if (commit && commit.reports.length > 0) known.push(commit)
    if (known.length === most) break
  }
  return known
}

export type PullSource = 'here' | 'fork'

/**
 * The kinds of refs that a commit has.
 *
 * @param isTip it is the newest commit of the default branch
 * @param openFrom where the open pull requests come from whose newest commit it is: what a fork's branch runs is the fork's
 */
export function refsOf(
  begun: readonly RunReport[],
  { isTip, openFrom }: { readonly isTip: boolean; readonly openFrom: readonly PullSource[] },
): RefKind[] {
  const ofTip: readonly RefKind[] = isTip ? ['default'] : []
  const ofHead: readonly RefKind[] = openFrom.length > 0 ? ['pull_request'] : []
  const ofBranch: readonly RefKind[] = openFrom.includes('here') ? ['branch'] : []
  return [...new Set([...begun.map(({ ref }) => ref), ...ofTip, ...ofHead, ...ofBranch])]
}

/** The window's start in steps of ten minutes, so that claims of about the same time compare with the same commits. */
export function comparableBefore({ windowFrom }: { readonly windowFrom: Instant }): Instant {
  return Math.floor(windowFrom / LONG_MS) * LONG_MS
}
