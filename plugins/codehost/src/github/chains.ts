/**
 * Tells the commits of chained runs, which the end of another run starts (`workflow_run`). GitHub lists them with the newest commit of the default
 * branch, also those after a run of an earlier commit or of a pull request, and does not tell after which run one came: only that it began as that
 * one ended.
 */
import type { Instant } from '@claimcheck/core/plugin'
import { type WorkflowRun, WorkflowRunsAnswer } from './answers.ts'
import type { ClaimedRepository } from './repository.ts'

/**
 * The origin of a run, by its commit.
 *
 * - `this`: this commit, as every run that no other one started.
 * - `another`: another commit or a pull request. It began as no run of this commit ended, and before all of them had ended, or as a run of another
 *   commit did.
 * - `either`: it began as a run of this commit ended, while others ran, and perhaps as one of another commit did.
 */
export interface Origin {
  readonly of: 'this' | 'another' | 'either'
  /** The time until which the commit's own run may still come, by GitHub's clock. */
  readonly awaitedUntil: Instant
}

export interface Chains {
  originOf(run: WorkflowRun): Origin
}

const THIS: Origin = { of: 'this', awaitedUntil: Number.NEGATIVE_INFINITY }

const CHAINED = 'workflow_run'
const BEFORE_CHAINED: ReadonlySet<string> = new Set(['push', 'merge_group'])
/** The time by which GitHub may date the end of a run later than what it starts. Milliseconds. */
const END_MS = 10_000
/** The time after the end of a run by which GitHub has begun what it starts. Milliseconds. */
const CHAINED_WITHIN_MS = 60_000
/** The time for which the own run is awaited where one that may be it began as a run of another commit ended, too. Milliseconds. */
const UNTOLD_MS = 15 * 60_000

/** @param all all runs of the commit, which are read once; those of others only for a chained run that no end of these explains */
export async function readChains(
  claimed: ClaimedRepository,
  sha: string,
  all: readonly WorkflowRun[],
): Promise<Chains> {
  const starters = all.filter(({ event }) => BEFORE_CHAINED.has(event))
  // The first end of one that was run again is not told any more.
  const lastEnd = Math.max(...starters.filter(({ run_attempt = 1 }) => run_attempt === 1).map(endOf))
  const chained = all.filter(({ event, created_at }) => event === CHAINED && created_at)
  const isBeforeEnd = (run: WorkflowRun) => begunAt(run) < lastEnd - END_MS
  const ends = starters.map(endOf)
  const own = new Set<WorkflowRun>()
  for (const run of chained.toSorted((one, other) => begunAt(one) - begunAt(other))) {
    if (!isAmong(ends, begunAt(run))) continue
    own.add(run)
    if (!isBeforeEnd(run)) ends.push(endOf(run))
  }
  const unexplained = chained.filter((run) => own.has(run) === isBeforeEnd(run))
  const ofOthers =
    unexplained.length > 0 ? await readOtherEnds(claimed, sha, Math.max(...unexplained.map(begunAt))) : NOTHING
  // A chained run that is known to be the commit's own leaves no room for another run of the same workflow file.
  const isSoonAfterOwn = (run: WorkflowRun) =>
    ![...own].some((other) => other.path === run.path) &&
    ends.some((end) => begunAt(run) >= end && begunAt(run) - end < CHAINED_WITHIN_MS)
  // A run that waits for somebody to approve it is not awaited.
  const awaitedEnd = Math.max(...starters.filter(({ status }) => status !== 'waiting').map(endOf))
  const findOrigin = (run: WorkflowRun): Origin => {
    const isOwn = own.has(run)
    const isAfterAnother = isAmong(ofOthers.ends, begunAt(run))
    if (isBeforeEnd(run)) {
      if (isOwn && ofOthers.isWhole && !isAfterAnother) return THIS
      return { of: isOwn ? 'either' : 'another', awaitedUntil: awaitedEnd + CHAINED_WITHIN_MS }
    }
    if (isOwn || !isAfterAnother) return THIS
    return { of: 'another', awaitedUntil: isSoonAfterOwn(run) ? awaitedEnd + UNTOLD_MS : Number.POSITIVE_INFINITY }
  }
  const origins = new Map(chained.map((run) => [run, findOrigin(run)]))
  return { originOf: (run) => origins.get(run) ?? THIS }
}

function begunAt({ created_at }: WorkflowRun): Instant {
  return Date.parse(created_at!)
}

function endOf({ status, updated_at }: WorkflowRun): Instant {
  return status === 'completed' ? Date.parse(updated_at) : Number.POSITIVE_INFINITY
}

function isAmong(ends: readonly Instant[], moment: Instant): boolean {
  return ends.some((end) => Math.abs(moment - end) <= END_MS)
}

const PAGE = 100
/** The time by which a run that lasts long may have begun before it started another one. Milliseconds. */
const LONGEST_MS = 6 * 3_600_000

interface OtherEnds {
  readonly ends: readonly Instant[]
  /** Tells that no end is missing: neither of a run that began before those of a busy hour, nor of all, as an empty list has it. */
  readonly isWhole: boolean
}

const NOTHING: OtherEnds = { ends: [], isWhole: false }

/** Reads when the last runs of other commits ended that had begun by a moment. */
async function readOtherEnds({ api, repository }: ClaimedRepository, sha: string, until: Instant): Promise<OtherEnds> {
  const created = encodeURIComponent(`<=${new Date(until).toISOString().replace('.000Z', 'Z')}`)
  const path = `${repository.root}/actions/runs?status=completed&created=${created}&per_page=${PAGE}&page=1`
  const answer = await api.find(path, WorkflowRunsAnswer, [404])
  if ('refused' in answer) return NOTHING
  const { workflow_runs: runs } = answer.value
  const isLong = runs.length < PAGE || runs.some((run) => run.created_at && begunAt(run) < until - LONGEST_MS)
  const ends = runs.filter((run) => run.head_sha !== sha && run.event !== CHAINED).map(endOf)
  return { ends, isWhole: isLong && ends.length > 0 }
}
