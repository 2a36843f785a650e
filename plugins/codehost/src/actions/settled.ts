/** When all that is green is all: a linter that has ended says nothing of the tests that have not begun. */
import type { Check, FoundChecks, RepositoryQuery } from '../code-host.ts'
import { isSame } from '../reporters.ts'
import { MINUTE_MS } from './fields.ts'

/** Nothing changes for this long, and two looks this far apart agree. */
const QUIET_MS = MINUTE_MS

export interface Unsettled {
  /** How many of those who reported on the parent commits have not reported on this one. */
  readonly awaited: number
  /** Time alone may settle it. */
  readonly isUnderWay: boolean
}

/** @param green all that the host shows, of which some passed and the rest was skipped @returns undefined where it is settled */
export async function unsettled(
  { changedAt, clockBehindMs = 0, reportersBefore }: FoundChecks,
  green: { readonly checks: readonly Check[]; readonly passed: number },
  query: RepositoryQuery,
): Promise<Unsettled | undefined> {
  const isQuiet = changedAt === undefined || query.sentAt - (changedAt.notAfter + clockBehindMs) >= QUIET_MS
  const agreedMs = agreesFor(green, query)
  // The parents are read at the first green look, and when nothing else keeps it open.
  const isDue = isQuiet && agreedMs >= QUIET_MS
  if (agreedMs > 0 && !isDue) return { awaited: awaitedBefore(query), isUnderWay: true }
  const passed = green.checks.filter(({ outcome }) => outcome === 'passed')
  const before = (await reportersBefore?.()) ?? []
  const hasReported = (checks: readonly Check[], who: string) =>
    checks.some(({ by }) => by.some((one) => isSame(one, who)))
  const awaited = before.filter((who) => !hasReported(green.checks, who)).length
  if (!isDue) return { awaited, isUnderWay: true }
  // What the host did not run itself any account may have posted: one of them must be known from before.
  const isFounded = passed.some(({ isRunByHost }) => isRunByHost) || before.some((who) => hasReported(passed, who))
  return awaited === 0 && isFounded ? undefined : { awaited, isUnderWay: false }
}

function awaitedBefore({ previous }: RepositoryQuery): number {
  const awaited = previous.at(-1)?.observation.facts.awaited
  return typeof awaited === 'number' ? awaited : 0
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
