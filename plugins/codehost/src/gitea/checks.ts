/**
 * Reads the statuses of a commit, and the jobs of its runs. Accounts that may write can post a status under any name. One without a creator may be
 * the runner's (Gitea Actions, Forgejo Actions), and may as well be of an account that is gone: it counts as the job of that name, by the
 * job's outcome.
 */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { type Check, type ChecksQuery, type FoundChecks, type WantedCheck, withoutBlame } from '../code-host.ts'
import { missingCommitMark } from '../forgetting.ts'
import { keepParts, sparingWhileWaiting } from '../lately.ts'
import { isBy, isOfAccount } from '../reporters.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { latestOf as latestTime, logTime, notAfter } from '../times.ts'
import type { StatusAnswer } from './answers.ts'
import { comparableTo } from './comparable.ts'
import { readShared } from './repository.ts'
import { BY_HAND, type Job, pathOf, readRuns } from './runs.ts'
import { isRunner, namesOf, RUNNERS, readCommit, readStatuses } from './statuses.ts'

/** The runner's descriptions of a job that it skipped, which older versions and Forgejo report as a success. */
const SKIPPED: ReadonlySet<string> = new Set(['Skipped', 'Has been skipped'])

const OUTCOMES: Readonly<Record<string, Check['outcome']>> = {
  success: 'passed',
  failure: 'failed',
  error: 'failed',
  pending: 'pending',
  skipped: 'skipped',
  // Neither passed nor failed.
  warning: 'skipped',
}

// A status that only looks like that of a job may be from an earlier look.
export const findChecks = sparingWhileWaiting(readChecks, ({ isRunByHost, by }) => isRunByHost || by !== RUNNERS)

async function readChecks(
  access: RestAccess,
  query: ChecksQuery,
  context: CheckContext,
  isWaiting: boolean,
): Promise<FoundChecks> {
  const { repository: slug, sha, checks: wanted } = query
  const part = { slug, part: `commit ${sha}`, isWaiting }
  const { repository, value } = await readShared(access, part, context, (shown) => readCommit(shown, sha))
  // A commit that no branch has stays for longer than a day, unless the server is set up otherwise.
  if (!value) {
    const mark = missingCommitMark(query, context.now(), repository.createdAt)
    return { ...repository.found, checks: undefined, mark }
  }
  const { owners } = value
  const parts = keepParts(context, isWaiting)
  // One that the claim does not name may be of a state that is not known.
  const named = (all: readonly StatusAnswer[]) =>
    wanted ? all.filter(({ context }) => wanted.some(({ name }) => name === context)) : all
  // A job that is pending has a pending status: the list of jobs tells what becomes of it.
  const isOpen = (all: readonly StatusAnswer[]) =>
    [...latestBy(named(all), sourceOf).values()].some((status) => outcomeOf(status) === 'failed') ||
    overrule(postedChecks(named(all), sourceOf), named(all)).some(isRed)
  // Claims that name other checks keep their own answer: a check that is open for one may be none of another's.
  const names = wanted?.map(({ name }) => name).sort()
  const key = `gitea ${repository.id} statuses ${sha} ${JSON.stringify(names)}`
  const statuses = await parts.short(key, () => readStatuses(repository, sha), isOpen)
  const runs = () =>
    context.cache.share(`gitea ${repository.id} runs ${sha} ${isWaiting}`, () =>
      readRuns(repository, sha, context.cache, parts),
    )
  if (wanted) return { ...repository.found, checks: await findNamedChecks(named(statuses), wanted, runs) }
  const changedAt = latestTime(statuses.map(({ created_at }) => created_at))
  const listed = await runs()
  return {
    ...repository.found,
    checks: allChecks(statuses, listed),
    changedAt,
    comparable: () =>
      comparableTo(repository, { sha, owners, runs: typeof listed === 'string' ? [] : listed.runs }, query, context),
  }
}

/** @param runs asks for them, which only what has no creator needs */
async function findNamedChecks(
  named: readonly StatusAnswer[],
  wanted: readonly WantedCheck[],
  runs: () => ReturnType<typeof readRuns>,
): Promise<Check[]> {
  refuseGoneAccounts(named, wanted)
  const posted = overrule(postedChecks(named, sourceOf), named)
  const ofRunners = named.filter((status) => isRunner(status) && wanted.some((one) => isRunners(one, status)))
  if (ofRunners.length === 0) return posted
  const listed = await runs()
  const { checks, orphans } = jobChecks(ofRunners, jobsIn(listed))
  const isKnown = ({ context }: StatusAnswer) => checks.some(({ name }) => name === context)
  if (!orphans.every(isKnown)) throw unknownRuns(listed)
  return [...posted, ...checks]
}

/**
 * The checks of a commit. What is red without a job spoils it, and is blamed on nobody, like what an account posted where the host shows another
 * one's pass since; what is green without a job counts as skipped.
 */
function allChecks(statuses: readonly StatusAnswer[], listed: ListedRuns): Check[] {
  const { checks, orphans } = jobChecks(statuses.filter(isRunner), jobsIn(listed))
  const shown = latestBy(statuses, ({ context }) => context)
  const isLifted = ({ name }: Check) => outcomeOf(shown.get(name)!) === 'passed'
  const posted = postedChecks(statuses, ({ context }) => context).map((check) =>
    isLifted(check) ? withoutBlame(check) : check,
  )
  const known = [...posted, ...checks]
  const isUntold = typeof listed === 'string' || known.length === 0
  if (orphans.length > 0 && isUntold && !known.some(isRed)) throw unknownRuns(listed)
  const newest = [...latestBy(orphans, ({ context }) => context).values()]
  return [...known, ...newest.map(toOrphan)]
}

function toOrphan(status: StatusAnswer): Check {
  const outcome = outcomeOf(status)
  const by = { name: status.context, by: RUNNERS, isRunByHost: false }
  return { ...by, outcome: isRed({ outcome }) ? outcome : 'skipped', passedBefore: true }
}

type ListedRuns = Awaited<ReturnType<typeof readRuns>>

function jobsIn(listed: ListedRuns): readonly Job[] {
  return typeof listed === 'string' ? [] : listed.jobs
}

/** The failure to tell jobs. @param listed the reason why there is no job of a name */
function unknownRuns(listed: ListedRuns): DestinationError {
  return new DestinationError(listed === 'unlisted' ? 'unsupported_target' : 'forbidden')
}

function isRed({ outcome }: Pick<Check, 'outcome'>): boolean {
  return outcome === 'failed' || outcome === 'pending'
}

/** Refuses what an account that is gone may have posted, as it is not shown: it may be what the claim names. @throws DestinationError `forbidden` */
function refuseGoneAccounts(named: readonly StatusAnswer[], wanted: readonly WantedCheck[]): void {
  const isHidden = wanted.filter(isOfAccount).some((one) => {
    const own = named.filter(({ context }) => context === one.name)
    return !own.some((status) => isBy({ by: namesOf(status) }, one)) && own.some(isRunner)
  })
  if (isHidden) throw new DestinationError('forbidden')
}

function isRunners({ name, by }: WantedCheck, { context }: StatusAnswer): boolean {
  return name === context && RUNNERS.includes(by)
}

/**
 * The newest status of each name by each account.
 *
 * @param keyOf what counts as passed before: of a claim that names none what the host shows, which is the newest under a name, by whomever
 */
function postedChecks(statuses: readonly StatusAnswer[], keyOf: (status: StatusAnswer) => string): Check[] {
  const latest = latestBy(
    statuses.filter((status) => !isRunner(status)),
    sourceOf,
  )
  return [...latest.values()].map((status) => {
    const isSame = (other: StatusAnswer) => other !== status && keyOf(other) === keyOf(status)
    const passedBefore = statuses.some((other) => isSame(other) && outcomeOf(other) === 'passed')
    const own = statuses.filter((other) => sourceOf(other) === sourceOf(status))
    return toCheck(own, namesOf(status), passedBefore || status.status === 'warning')
  })
}

/** Overrules what one account posted as passed, when something else was posted since under its name. That is blamed on nobody. */
function overrule(checks: readonly Check[], statuses: readonly StatusAnswer[]): Check[] {
  const newest = latestBy(statuses, ({ context }) => context)
  return checks.map((check) => {
    const status = newest.get(check.name)
    const outcome = status && outcomeOf(status)
    const isLifted = check.outcome === 'passed' && outcome !== undefined && isRed({ outcome })
    return isLifted ? withoutBlame({ ...check, outcome }) : check
  })
}

/** @param statuses the newest first */
function latestBy(
  statuses: readonly StatusAnswer[],
  keyOf: (status: StatusAnswer) => string,
): ReadonlyMap<string, StatusAnswer> {
  return new Map(statuses.toReversed().map((status) => [keyOf(status), status]))
}

/** @param own of this check, the newest first */
function toCheck(own: readonly StatusAnswer[], by: readonly string[], passedBefore: boolean): Check {
  const [status] = own as [StatusAnswer]
  const outcome = outcomeOf(status)
  const at = logTime(status.created_at)
  const begunAt = notAfter(own.at(-1)!.created_at)
  return {
    ...{ name: status.context, by, isRunByHost: false, outcome, passedBefore, changedAt: at, begunAt },
    endedAt: outcome === 'pending' ? undefined : at,
  }
}

/**
 * The jobs to which these statuses lead, each by its own outcome; the others are orphans, but for what the host's own account posted. A job
 * that has no status yet is one of all checks.
 */
function jobChecks(
  ofRunners: readonly StatusAnswer[],
  jobs: readonly Job[],
): { readonly checks: Check[]; readonly orphans: readonly StatusAnswer[] } {
  const told = new Set<Job>()
  const checks: Check[] = []
  const orphans: StatusAnswer[] = []
  for (const context of new Set(ofRunners.map(({ context }) => context))) {
    const all = ofRunners.filter((status) => status.context === context)
    const meant = jobsOf(context, all, jobs)
    const own = withoutLifts(all, meant)
    const passes = own.filter((status) => outcomeOf(status) === 'passed').length
    const [last] = own as [StatusAnswer]
    for (const job of meant) {
      told.add(job)
      checks.push({ ...toCheck(own, RUNNERS, passes > (job.outcome === 'passed' ? 1 : 0)), ...endOf(job, last) })
    }
    if (meant.length > 0) continue
    if (last.creator?.id === HOST_ACCOUNT) checks.push(toCheck(own, RUNNERS, passes > 1))
    else orphans.push(...own)
  }
  const untold = jobs.filter((job) => !told.has(job))
  return {
    orphans,
    checks: [
      ...checks,
      ...untold.map(({ name, outcome, run: { file, event } }) => ({
        ...{ name: `${file} / ${name} (${event})`, by: RUNNERS, isRunByHost: true, outcome },
        isByHand: event === BY_HAND,
      })),
    ],
  }
}

/**
 * Leaves out what an account that is gone posted as passed after the job failed: the runner posts what becomes of a job, so that of a job that is
 * red its newest status is red. One that leads to another run may be of a run that this one replaced.
 */
function withoutLifts(statuses: readonly StatusAnswer[], meant: readonly Job[]): readonly StatusAnswer[] {
  if (meant.length === 0 || !meant.every(({ outcome }) => outcome === 'failed')) return statuses
  const pages = meant.map(({ run: { page } }) => page)
  const isLift = (status: StatusAnswer) => {
    const page = pageOf(status.target_url) ?? ''
    const isOfOther = page.includes('/actions/runs/') && !pages.includes(page)
    return outcomeOf(status) === 'passed' && !isOfOther
  }
  const newest = statuses.findIndex((status) => !isLift(status))
  return newest === -1 ? statuses : statuses.slice(newest)
}

/** The end of a job: its status is posted as it ends, by the host's clock. */
function endOf({ outcome }: Job, last: StatusAnswer): Pick<Check, 'isRunByHost' | 'outcome' | 'endedAt'> {
  const hasTime = outcome !== 'pending' && outcomeOf(last) === outcome
  return { isRunByHost: true, outcome, ...(hasTime && { endedAt: logTime(last.created_at) }) }
}

/**
 * Finds the jobs that a status is of. It is called after the workflow, which has its name or its file's, the job and the event. Where jobs of several workflows are called
 * so, its file or the page to which it leads tells which is meant.
 */
function jobsOf(context: string, statuses: readonly StatusAnswer[], jobs: readonly Job[]): readonly Job[] {
  const meant = jobs.filter(({ name, run: { event } }) => context.endsWith(` / ${name} (${event})`))
  const files = new Set(meant.map(({ run }) => run.file))
  if (files.size < 2) return meant
  const ofFile = meant.filter(({ name, run: { file, event } }) => context === `${file} / ${name} (${event})`)
  if (ofFile.length > 0) return ofFile
  const pages = new Set(statuses.flatMap(({ target_url }) => pageOf(target_url) ?? []))
  const ofPages = meant.filter(({ run: { page } }) => page !== undefined && pages.has(page))
  return ofPages.length > 0 ? ofPages : meant
}

/** The page of the run to whose job a status leads. */
function pageOf(link: string): string | undefined {
  return pathOf(link)?.replace(/\/jobs\/\d+$/, '')
}

/** A key of the name and the account. */
function sourceOf({ context, creator }: StatusAnswer): string {
  return JSON.stringify([context, creator?.id ?? null])
}

/** The number under which Gitea and Forgejo show their own account: what it posted, a runner posted, or a job with the runner's token. */
const HOST_ACCOUNT = -2

/** @throws DestinationError `unexpected_response` for a state that this version of the host does not have */
function outcomeOf(posted: StatusAnswer): Check['outcome'] {
  const { status, description } = posted
  const outcome = Object.hasOwn(OUTCOMES, status) ? OUTCOMES[status] : undefined
  if (outcome === undefined) throw unexpectedAnswer()
  return outcome === 'passed' && isRunner(posted) && SKIPPED.has(description) ? 'skipped' : outcome
}
