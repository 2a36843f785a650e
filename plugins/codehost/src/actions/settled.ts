/** Tells when the green checks are all that there will be: a linter that has ended says nothing of the tests that have not begun. */
import type { Check, FoundChecks, RepositoryQuery } from '../code-host.ts'
import { awaitedReports, type Comparable, isKnownReporter } from '../comparable.ts'
import { MINUTE_MS } from './fields.ts'

/** The time for which nothing has to change, and by which two looks that agree have to be apart. */
const QUIET_MS = MINUTE_MS

/** The checks of a commit, as a claim counts them. */
export interface Tally {
  /** Tells whether the claim names its checks. */
  readonly isNamed: boolean
  readonly counted: readonly Check[]
  /** Number of the named checks that the host does not show. */
  readonly missing: number
  /** The checks that count and are not green. */
  readonly red: readonly Check[]
}

export interface Unsettled {
  /** Number of checks that comparable commits have, and that have not reported yet. */
  readonly awaited: number
  /** Tells whether time alone may settle the checks. */
  readonly isUnderWay: boolean
  /** Tells that no commit is comparable: only a claim that names its checks can be verified. */
  readonly isUntold: boolean
}

/**
 * Tells what green checks lack to be settled.
 * @param tally the green checks: some passed, and the rest was skipped
 * @returns undefined where they are settled, or the claim names its checks
 */
export async function findUnsettled(
  { changedAt, clockBehindMs = 0, comparable }: FoundChecks,
  { isNamed, counted }: Tally,
  query: RepositoryQuery,
): Promise<Unsettled | undefined> {
  if (isNamed) return undefined
  const isQuiet = changedAt === undefined || query.sentAt - (changedAt.notAfter + clockBehindMs) >= QUIET_MS
  const isDue = isQuiet && agreesFor(counted, query) >= QUIET_MS
  const told = await comparable?.()
  if (!told?.commits.length) return { awaited: 0, isUnderWay: false, isUntold: true }
  const posted = counted.flatMap(({ by: [by], name, isRunByHost }) => (by && !isRunByHost ? [{ by, name }] : []))
  const awaited = awaitedReports(told, posted, query.sentAt < query.inTimeUntil).length
  if (!isDue) return { awaited, isUnderWay: true, isUntold: false }
  return awaited === 0 && isFounded(counted, told) ? undefined : { awaited, isUnderWay: false, isUntold: false }
}

/** Tells whether some green rests on more than one account's word: what the host did not start itself, somebody known from before must report. */
function isFounded(checks: readonly Check[], told: Comparable): boolean {
  const passed = checks.filter(({ outcome }) => outcome === 'passed')
  return passed.some((check) => (check.isRunByHost ? !check.isByHand : isKnownReporter(check, told)))
}

/** The time for which all looks, up to this one, were green with the same counts. Milliseconds. */
function agreesFor(checks: readonly Check[], { previous, sentAt }: RepositoryQuery): number {
  const passed = checks.filter(({ outcome }) => outcome === 'passed').length
  const odd = previous.findLastIndex(({ observation: { kind, facts } }) => {
    const isGreen = kind === 'present' ? facts.failed === 0 && facts.pending === 0 : facts.settling === true
    return !isGreen || facts.counted !== checks.length || facts.passed !== passed
  })
  return sentAt - (previous[odd + 1]?.sentAt ?? sentAt)
}
