/** When all that is green is all: a linter that has ended says nothing of the tests that have not begun. */
import type { Check, FoundChecks, RepositoryQuery } from '../code-host.ts'
import { awaitedReports, type Comparable, isKnownReporter } from '../comparable.ts'
import { MINUTE_MS } from './fields.ts'

/** Nothing changes for this long, and two looks this far apart agree. */
const QUIET_MS = MINUTE_MS

export interface Unsettled {
  /** How many checks, of those that comparable commits have, have not reported. */
  readonly awaited: number
  /** Time alone may settle it. */
  readonly isUnderWay: boolean
  /** No commit is comparable: only a claim that names its checks can be verified. */
  readonly isUntold: boolean
}

/** @param green all that the host shows, of which some passed and the rest was skipped @returns undefined where it is settled */
export async function unsettled(
  { changedAt, clockBehindMs = 0, comparable }: FoundChecks,
  green: { readonly checks: readonly Check[]; readonly passed: number },
  query: RepositoryQuery,
): Promise<Unsettled | undefined> {
  const isQuiet = changedAt === undefined || query.sentAt - (changedAt.notAfter + clockBehindMs) >= QUIET_MS
  const isDue = isQuiet && agreesFor(green, query) >= QUIET_MS
  const told = (await comparable?.()) ?? NOTHING
  if (told.commits.length === 0) return { awaited: 0, isUnderWay: false, isUntold: true }
  const posted = green.checks.flatMap(({ by: [by], name, isRunByHost }) => (by && !isRunByHost ? [{ by, name }] : []))
  const awaited = awaitedReports(told, posted, query.sentAt < query.inTimeUntil).length
  if (!isDue) return { awaited, isUnderWay: true, isUntold: false }
  return awaited === 0 && isFounded(green.checks, told) ? undefined : { awaited, isUnderWay: false, isUntold: false }
}

const NOTHING: Comparable = { commits: [], begun: [], refs: [], owners: [] }

/** What the host did not start itself any account may have started or posted: one of them must be known from before. */
function isFounded(checks: readonly Check[], told: Comparable): boolean {
  const passed = checks.filter(({ outcome }) => outcome === 'passed')
  return passed.some((check) => (check.isRunByHost ? !check.isByHand : isKnownReporter(check, told)))
}

/** For how long all looks, up to this one, were green with the same counts. Milliseconds. */
function agreesFor(
  { checks, passed }: { readonly checks: readonly Check[]; readonly passed: number },
  { previous, sentAt }: RepositoryQuery,
): number {
  const odd = previous.findLastIndex(({ observation: { kind, facts } }) => {
    const isGreen = kind === 'present' ? facts.failed === 0 && facts.pending === 0 : facts.settling === true
    return !isGreen || facts.counted !== checks.length || facts.passed !== passed
  })
  return sentAt - (previous[odd + 1]?.sentAt ?? sentAt)
}
