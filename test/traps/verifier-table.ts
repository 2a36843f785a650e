/** The trap table of a verifier: rows of what happens at a place, what is claimed of it, and the verdict that is right, each played in virtual time. */
import type { Life } from '@claimcheck/core/testkit'
import t, { type Test } from 'tap'

/** The moment of the deed; every time of a row is counted from here. */
export const START = Date.UTC(2026, 2, 11, 9, 30)
export const SECOND = 1000
const AT_A_TIME = 4

/** The truth of the claimed outcome. `other`: it is there, and not as claimed; `unknowable`: nothing that the place shows can tell. */
export type Truth = 'in time' | 'late' | 'never' | 'other' | 'unknowable'
/** A verdict; `refused` of a claim that is not taken. */
export type Verdict = 'verified' | 'late' | 'mismatch' | 'failed' | 'unverifiable' | 'refused'

/** The truth of a row, its right verdict, and others that are no fault. */
export type Kind = readonly [truth: Truth, right: Verdict, ...also: Verdict[]]

export interface TrapRow<Scene> {
  readonly title: string
  readonly truth: Truth
  readonly right: Verdict
  /** Other verdicts that are no fault. */
  readonly also?: readonly Verdict[]
  readonly why: string
  readonly scene: () => Scene
}

export function row<Scene>(
  [truth, right, ...also]: Kind,
  title: string,
  why: string,
  scene: () => Scene,
): TrapRow<Scene> {
  return { title, truth, right, also, why, scene }
}

/** The deadline of a row's claim: what does not come late is decided alike by one that is nearer than the usual one. */
export function nearDeadline([truth]: Kind, ms: { readonly late: number; readonly other: number }) {
  return { deadlineMs: truth === 'late' ? ms.late : ms.other }
}

/** The life of a row's claim. */
export interface Lived {
  readonly life: Pick<Life, 'records' | 'requests' | 'decision' | 'decidedAt' | 'log' | 'refused'>
  readonly submittedAt: number
}

interface Played<R, L> {
  readonly row: R
  readonly lived: L
  readonly verdict: string
  readonly requests: number
  /** Time from the submission to the verdict. */
  readonly seconds: number
}

export interface VerifierTable<R extends TrapRow<unknown>, L extends Lived> {
  readonly rows: readonly R[]
  play(row: R): Promise<L>
  /** Defaults to the title. */
  readonly nameOf?: (row: R) => string
  /** Looks at more of a row than its verdict. */
  check?(t: Test, row: R, lived: L, verdict: { readonly value: string; readonly isRight: boolean }): void
  /** Tells whether the blame of a row is an exception that the rules make. */
  readonly isExcused?: (row: R, verdict: string) => boolean
  /** Tells whether a verified row says what a claim costs. Defaults to all. */
  readonly isUsual?: (row: R) => boolean
  /** Largest number of requests that a verified claim takes, as a rule. */
  readonly mostRequests?: number
}

/** Verdicts that blame rightly, given what is true. */
const RIGHT_BLAME: Readonly<Record<Truth, readonly string[]>> = {
  'in time': [],
  late: ['late', 'failed'],
  never: ['failed'],
  other: ['mismatch', 'failed'],
  unknowable: [],
}
const BLAME: ReadonlySet<string> = new Set(['late', 'mismatch', 'failed'])
const UNTOLD: ReadonlySet<string> = new Set(['unverifiable', 'refused'])

/** Makes a test of each row, those alone whose name has the words of `ROW`, and one of all that no verdict is false. */
export function playTable<R extends TrapRow<unknown>, L extends Lived>(table: VerifierTable<R, L>): void {
  const { rows, play, nameOf = ({ title }) => title, check, isUsual = () => true, isExcused = () => false } = table
  const only = process.env.ROW
  const outcomes: Played<R, L>[] = []
  t.setTimeout(0)
  t.test('rows', { jobs: AT_A_TIME }, async (t) => {
    for (const row of rows) {
      if (only !== undefined && !nameOf(row).includes(only)) continue
      t.test(`${nameOf(row)}: ${row.why}`, async (t) => {
        const lived = await play(row)
        const played = playedOf(row, lived)
        outcomes.push(played)
        const { verdict, requests, seconds } = played
        const isRight = isAllowed(row, verdict)
        const told = [verdict, lived.life.decision?.verdict.reasonCode].filter(Boolean).join('/')
        const words = `${told} in ${Math.round(seconds)} s by ${requests} requests; right is ${row.right}`
        t.ok(isRight, words, isRight ? {} : { checks: seenIn(lived) })
        check?.(t, row, lived, { value: verdict, isRight })
      })
    }
  })

  t.test('no row is a false verified, and none a false blame', async (t) => {
    const namesWhere = (test: (row: R, verdict: string) => boolean) =>
      outcomes.filter(({ row, verdict }) => test(row, verdict)).map(({ row, verdict }) => `${nameOf(row)}: ${verdict}`)
    const falseVerified = namesWhere(({ truth }, verdict) => verdict === 'verified' && truth !== 'in time')
    const falseBlame = namesWhere(
      (row, verdict) => BLAME.has(verdict) && !RIGHT_BLAME[row.truth].includes(verdict) && !isExcused(row, verdict),
    )
    const avoidable = namesWhere((row, verdict) => UNTOLD.has(verdict) && !isAllowed(row, verdict))
    const verified = outcomes.filter(({ row, verdict }) => verdict === 'verified' && isUsual(row))
    const requests = spread(verified.map((one) => one.requests))
    const seconds = spread(verified.map((one) => Math.round(one.seconds)))
    t.comment(
      [
        `${outcomes.length} rows: ${falseVerified.length} false verified, ${falseBlame.length} false blame, ${avoidable.length} avoidable unverifiable`,
        `a verified claim took ${requests.middle} requests (most ${requests.most}) and ${seconds.middle} s (most ${seconds.most})`,
      ].join('; '),
    )
    if (table.mostRequests !== undefined)
      t.ok(
        requests.middle <= table.mostRequests,
        `a verified claim takes ${table.mostRequests} requests at most, as a rule`,
      )
    t.strictSame(falseVerified, [])
    t.strictSame(falseBlame, [])
    t.strictSame(avoidable, [])
  })
}

/** Requires facts of the check that decided. */
export function requireFacts(t: Test, { life: { decision } }: Lived, facts: Readonly<Record<string, unknown>>): void {
  const found: Readonly<Record<string, unknown>> =
    decision && 'observation' in decision.basis ? decision.basis.observation.facts : {}
  for (const [name, value] of Object.entries(facts)) t.same(found[name], value, name)
}

function playedOf<R, L extends Lived>(row: R, lived: L): Played<R, L> {
  const { life, submittedAt } = lived
  const verdict = life.decision?.verdict.value ?? (life.refused ? 'refused' : 'none')
  return { row, lived, verdict, requests: life.requests.length, seconds: (life.decidedAt - submittedAt) / SECOND }
}

function isAllowed({ right, also = [] }: TrapRow<unknown>, verdict: string): boolean {
  return [right, ...also].some((one) => one === verdict)
}

/** Lists what the first and the last checks saw, for whoever reads why a row fails. */
function seenIn({ life: { records, requests, log, refused } }: Lived): readonly unknown[] {
  const shown = records.length > 8 ? [...records.slice(0, 4), ...records.slice(-4)] : records
  const checks = shown.map((record) => {
    const seen = 'observation' in record ? record.observation : record.failure
    return `${(record.sentAt - START) / SECOND} s: ${JSON.stringify(seen)}`
  })
  const asked = requests.slice(0, 6).map(({ key, status }) => `${key}: ${status}`)
  const logged = log.slice(-2).map(({ message, fields }) => `${message} ${JSON.stringify(fields)}`.slice(0, 400))
  return [...checks, ...asked, ...logged, ...(refused ? [refused.message, refused.issues] : [])]
}

function spread(numbers: readonly number[]): { readonly middle: number; readonly most: number } {
  const sorted = numbers.toSorted((one, other) => one - other)
  return { middle: sorted[sorted.length >> 1] ?? 0, most: sorted.at(-1) ?? 0 }
}
