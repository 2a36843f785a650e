/**
 * Reads the checks of a commit at Bitbucket Cloud: the statuses that accounts and apps post, and the runs of Bitbucket Pipelines. A status
 * tells its key and not who posted it, so whoever may write can post any. A run of Pipelines nobody can post.
 */

import { type CheckContext, DestinationError } from '@claimcheck/core/plugin'
import { type Check, type ChecksQuery, type FoundChecks, type WantedCheck, withoutBlame } from '../code-host.ts'
import { missingCommitMark } from '../forgetting.ts'
import { keepParts, sparingWhileWaiting } from '../lately.ts'
import { isBy, isNamed, isSame, key as keyed } from '../reporters.ts'
import { type RestAccess, unexpectedAnswer } from '../rest.ts'
import { latestOf, notAfter } from '../times.ts'
import type { Pipeline, StatusAnswer } from './answers.ts'
import { comparableTo } from './comparable.ts'
import { checksOf, isOfRun, PIPELINES, readPipelines, readStatuses, statusName } from './reports.ts'
import { AGE_MS, openRepository } from './repository.ts'

export const findChecks = sparingWhileWaiting(readChecks)

async function readChecks(
  access: RestAccess,
  query: ChecksQuery,
  context: CheckContext,
  isWaiting: boolean,
): Promise<FoundChecks> {
  const { repository: slug, sha, checks: wanted } = query
  const parts = keepParts(context, isWaiting)
  const repository = openRepository(access, slug, context)
  const { createdAt, mainBranch: _, ...shown } = await parts.long(`bitbucket ${slug} shown`, repository.show)
  const isKnown = () => parts.long(`bitbucket ${slug} knows ${sha}`, () => repository.isKnown(sha))
  const found = { ...shown, ageMs: AGE_MS }

  // A branch may be called like a commit, and its tip has statuses.
  const statuses = wanted?.every(isOfPipelines)
    ? []
    : await parts.short(
        // A claim that names none may keep an answer for which one that names checks still waits.
        `bitbucket ${slug} statuses ${sha}${wanted ? ' of names' : ''}`,
        async () => ((await isKnown()) ? readStatuses(repository, sha) : undefined),
        // The list of runs tells what became of those, of a claim that names none.
        (all) => all?.some((one) => one.state !== SUCCESSFUL && (wanted || !isOfRun(one, slug))) === true,
      )
  const runs =
    statuses && (!wanted || wanted.some(isOfPipelines))
      ? await parts.short(`bitbucket ${slug} pipelines ${sha}`, () => readPipelines(repository, sha), isSomeOpen)
      : []
  // The list of pipelines is empty for a commit that there is not, too.
  const isMissing = !statuses || (wanted?.every(isOfPipelines) && runs.length === 0 && !(await isKnown()))
  if (isMissing) return { ...found, checks: undefined, mark: missingCommitMark(query, context.now(), createdAt) }
  if (wanted) {
    refuseUntold(wanted, statuses)
    const named = statuses.filter((status) => wanted.some((one) => statusName(status) === one.name))
    return { ...found, checks: [...named.map(toPosted), ...checksOf(runs)] }
  }
  // Each run of Pipelines has a status, too, which stays when another run replaces it.
  const posted = statuses.filter((status) => !isOfRun(status, slug))
  const times = statuses.flatMap(({ updated_on }) => updated_on ?? [])
  const changedAt = times.length === statuses.length ? latestOf(times) : undefined
  return {
    ...found,
    checks: [...posted.map(toPosted), ...checksOf(runs)].map(reddenStopped),
    changedAt,
    comparable: () => comparableTo(repository, { sha, slug, runs }, query, context),
  }
}

/**
 * Turns a stopped check red, because accounts that may write can stop what is about to fail. Nothing tells why it was stopped, so it spoils the
 * commit and blames nobody.
 */
function reddenStopped(check: Check): Check {
  return check.outcome === 'skipped' ? withoutBlame({ ...check, outcome: 'failed' }) : check
}

function isOfPipelines({ by }: WantedCheck): boolean {
  return PIPELINES.some((one) => isSame(one, by))
}

/**
 * Refuses claims that no status answers. A status of the claimed name under another key may be of the account that the claim names: nothing tells whose it is. And one with the
 * claimed key under another name has replaced what was there. The next read may show more.
 */
function refuseUntold(wanted: readonly WantedCheck[], statuses: readonly StatusAnswer[]): void {
  for (const one of wanted.filter((one) => !isOfPipelines(one))) {
    const isKeyed = ({ key }: StatusAnswer) => isBy({ by: [keyed(key)] }, one)
    const isThere = statuses.some((status) => isNamed({ name: statusName(status), by: [keyed(status.key)] }, one))
    if (!isThere && statuses.some((status) => statusName(status) === one.name || isKeyed(status))) {
      throw new DestinationError('forbidden')
    }
  }
}

function isSomeOpen(runs: readonly Pipeline[]): boolean {
  return checksOf(runs).some(({ outcome }) => outcome !== 'passed')
}

const SUCCESSFUL = 'SUCCESSFUL'
const OUTCOMES = new Map<string, Check['outcome']>([
  [SUCCESSFUL, 'passed'],
  ['FAILED', 'failed'],
  ['INPROGRESS', 'pending'],
  ['STOPPED', 'skipped'],
])

function toPosted(status: StatusAnswer): Check {
  const outcome = OUTCOMES.get(status.state)
  if (outcome === undefined) throw unexpectedAnswer()
  const changedAt = notAfter(status.updated_on)
  return { name: statusName(status), by: [keyed(status.key)], isRunByHost: false, outcome, changedAt }
}
