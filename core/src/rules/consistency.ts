/**
 * Finds reads that contradict themselves, their claim, or their profile's account of facts. A host records such a read as a failed check, and
 * checkers refuse evidence with one.
 */
import {
  type Instant,
  type LogTime,
  MAX_STAYS,
  type Mark,
  type ReadRecord,
  type Stay,
  showsOutcome,
} from '../evidence.ts'
import type { JsonObject, JsonValue } from '../json.ts'
import type { ActionProfile, Comparison, Shown } from '../profile.ts'
import { parseInstant } from '../time.ts'
import { isSameBy } from './comparators.ts'

/** The part of a profile that reads are compared with. */
export interface Expected {
  readonly required: ActionProfile['required']
  readonly shows?: ActionProfile['shows'] | undefined
  readonly compared?: ActionProfile['compared'] | undefined
  readonly past?: ActionProfile['past'] | undefined
  /** The member `found` of the profile's words. Its facts are compared exactly if the profile has no `compared`. */
  readonly found?: Readonly<Record<string, string>> | undefined
}

export function expectedOf({ required, shows, compared, past, words: { found } }: ActionProfile): Expected {
  return { required, shows, compared, past, found }
}

/** The claim's target and params, with which facts are compared. */
export interface Said {
  readonly target: JsonValue
  readonly params: JsonObject
}

/** The contradicted part, by its name in evidence or in the body of a receipt. */
export type ContradictedPart =
  | 'order'
  | 'answers'
  | 'age_ms'
  | 'clock_ahead_ms'
  | 'stays'
  | 'mark'
  | 'differs'
  | 'observation.facts'

export interface Contradiction {
  readonly of: ContradictedPart
  /** A clause for the log, and for the plugin's author. */
  readonly problem: string
}

/** Largest age of an answer in milliseconds. */
export const MAX_AGE_MS = 24 * 60 * 60_000
/** Milliseconds from sending to answer: twice what a host allows, for one that is slow to notice. */
export const LONGEST_CHECK_MS = 120_000
/** Milliseconds by which times of one place may disagree: its machines do not agree to the second, and a log may have whole seconds. */
const CLOCKS_MS = 2000
/** Milliseconds by which a clock may be off that nothing bounds. */
const UNDATED_MS = 24 * 60 * 60_000
/** The moment before which reads may be of hosts that did not count answers yet. */
const COUNTED_SINCE = Date.UTC(2026, 10, 29, 2)

/**
 * Finds the first contradiction of a read that is recorded by rules of this version; undefined where there is none.
 * @param expected undefined if the reader does not know the profile
 * @param facts undefined if evidence leaves them out
 */
export function contradictionOf(
  read: ReadRecord,
  said: Said,
  expected: Expected | undefined,
  rulesVersion: number,
  facts: JsonObject | undefined,
): Contradiction | undefined {
  if (rulesVersion === 1) return expected && facts && byRules1(read, facts, said, expected)
  return limitProblem(read) ?? (expected && factsProblem(read, facts, said, expected))
}

/** Finds contradictions by version 1, which compares the facts of reads that show the outcome alone. */
function byRules1(
  read: ReadRecord,
  facts: JsonObject,
  said: Said,
  { shows, found }: Expected,
): Contradiction | undefined {
  if (!showsOutcome(read)) return undefined
  const expected = { required: {}, shows, found }
  const wrong = differsProblem([], facts, said, expected) ?? shownProblem(facts, expected)
  return wrong === undefined ? undefined : contradiction('observation.facts', wrong)
}

/** Finds a contradiction within a read, whatever was claimed. */
function limitProblem(read: ReadRecord): Contradiction | undefined {
  const { sentAt, answeredAt, ageMs = 0, answers, observation, dated = false, clockOffsetMs, clockAheadMs } = read
  const { mark, stays = [] } = observation
  if (answeredAt - sentAt > LONGEST_CHECK_MS) return contradiction('order', 'the check took too long')
  if (answers === undefined ? answeredAt >= COUNTED_SINCE : answers < 1)
    return contradiction('answers', 'no answer of the source is counted')
  if (ageMs > MAX_AGE_MS) return contradiction('age_ms', 'the answer is older than a day')
  if (clockAheadMs !== undefined && !(dated && clockAheadMs !== 0 && Math.abs(clockAheadMs) <= clockOffsetMs))
    return contradiction('clock_ahead_ms', "the destination's clock is off by more than it can be")
  if (mark !== undefined && observation.kind === 'present' && observation.differs.length === 0)
    return contradiction('mark', 'a mark is given with what is there as claimed')
  if (observation.kind === 'present' && new Set(observation.differs).size < observation.differs.length)
    return contradiction('differs', 'a field differs twice')
  if (stays.length > MAX_STAYS) return contradiction('stays', `there are more than ${MAX_STAYS} stays`)
  const latest = latestMoment(read)
  const wrong = stays.map((stay) => stayProblem(stay, latest)).find((problem) => problem !== undefined)
  return wrong === undefined ? undefined : contradiction('stays', wrong)
}

function contradiction(of: ContradictedPart, problem: string): Contradiction {
  return { of, problem }
}

/** The latest moment that a read can tell of, by the destination's clock. */
function latestMoment({ answeredAt, dated = false, clockOffsetMs }: ReadRecord): Instant {
  return answeredAt + CLOCKS_MS + (dated ? clockOffsetMs : UNDATED_MS)
}

function stayProblem({ appeared, removed }: Stay, latest: Instant): string | undefined {
  const times = removed ? [appeared, removed] : [appeared]
  if (times.some(({ notBefore = Number.NEGATIVE_INFINITY, notAfter }) => notBefore > notAfter))
    return 'a time begins after it ends'
  if (removed && earliestOf(appeared) > removed.notAfter) return 'a stay was removed before it appeared'
  return times.some((time) => earliestOf(time) > latest) ? 'a stay is later than the answer' : undefined
}

function earliestOf({ notBefore, notAfter }: LogTime): Instant {
  return notBefore ?? notAfter - CLOCKS_MS
}

/** Finds a contradiction between a read, its claim and its profile. */
function factsProblem(
  read: ReadRecord,
  facts: JsonObject | undefined,
  said: Said,
  expected: Expected,
): Contradiction | undefined {
  const { observation } = read
  const differs = observation.kind === 'present' ? observation.differs : undefined
  // Only `compared` tells the meaning of a field that a claim leaves out.
  const isSaid = (field: string) => expected.compared === undefined || saidOf(field, said, expected) !== undefined
  const odd = differs?.find((field) => !Object.hasOwn(expected.required, field) || !isSaid(field))
  if (odd !== undefined) return contradiction('differs', `${odd} differs, which is no required field of this claim`)
  if (facts === undefined) return undefined
  const wrong =
    futureProblem(facts, expected, latestMoment(read)) ??
    (differs && differsProblem(differs, facts, said, expected)) ??
    (differs?.length === 0 ? shownProblem(facts, expected) : unseenProblem(observation.mark, facts, said, expected))
  return wrong === undefined ? undefined : contradiction('observation.facts', wrong)
}

/** The claim's value of a field, or its meaning if the claim leaves it out. */
function saidOf(field: string, { target, params }: Said, { compared }: Expected): JsonValue | undefined {
  if (field === 'target') return target
  const comparison = compared && ownOf(compared, field)
  return ownOf(params, field) ?? (typeof comparison === 'object' ? comparison.default : undefined)
}

function futureProblem(facts: JsonObject, { past = [] }: Expected, latest: Instant): string | undefined {
  const wrong = past.find((name) => {
    const seen = ownOf(facts, name)
    return seen !== undefined && !((typeof seen === 'string' ? parseInstant(seen) : undefined)! <= latest)
  })
  return wrong === undefined ? undefined : `the fact ${wrong} is no time up to the answer`
}

/** Finds a fact that every read which shows the outcome has, and this one lacks. */
function shownProblem(facts: JsonObject, { shows = {}, compared }: Expected): string | undefined {
  const wrong = Object.entries(shows).find(([name, shown]) => {
    const seen = ownOf(facts, name)
    return seen === undefined && compared === undefined ? false : !isShown(seen, shown)
  })
  return wrong === undefined ? undefined : `the fact ${wrong[0]} does not show the outcome`
}

function isShown(seen: JsonValue | undefined, shown: Shown): boolean {
  if (typeof shown !== 'object') return seen === shown
  if ('atLeast' in shown) return typeof seen === 'number' && seen >= shown.atLeast
  return 'not' in shown ? seen !== shown.not : shown.some((one) => one === seen)
}

/** Finds a field whose fact says otherwise than `differs`. */
function differsProblem(
  differs: readonly string[],
  facts: JsonObject,
  said: Said,
  expected: Expected,
): string | undefined {
  const isWhole = differs.length === 0
  for (const { field, told, tells } of comparisonsOf(facts, said, expected)) {
    if (differs.includes(field)) {
      if (told === 'same') return `${field} differs, and its fact is as claimed`
    } else if (told === 'other') return `${field} does not differ, and its fact is another`
    else if (told === 'nothing' && isWhole && tells === undefined) return `no fact shows ${field}`
  }
  return undefined
}

/** Finds a read that denies the outcome although its facts show it. A place that forgets, or is unsettled, may do so: it blames nobody. */
function unseenProblem(mark: Mark | undefined, facts: JsonObject, said: Said, expected: Expected): string | undefined {
  const { compared, shows = {} } = expected
  if (compared === undefined || mark === 'may_have_been' || mark === 'unsettled') return undefined
  if (shownProblem(facts, expected) !== undefined) return undefined
  const all = comparisonsOf(facts, said, expected)
  const isShown = all.every(({ told, tells }) => told === 'same' || (told === 'nothing' && tells === 'other'))
  const isTold = Object.keys(shows).length > 0 || all.some(({ told }) => told === 'same')
  return isShown && isTold ? 'it is not there as claimed, and is by its facts' : undefined
}

interface FieldComparison {
  readonly field: string
  /** The answer of the facts to whether the field is as claimed. */
  readonly told: 'same' | 'other' | 'nothing'
  readonly tells: Comparison['tells']
}

/** Compares the fields of the claim that a fact can show. */
function comparisonsOf(facts: JsonObject, said: Said, expected: Expected): FieldComparison[] {
  return Object.entries(expected.compared ?? byWords(expected)).flatMap(([field, comparison]) => {
    const claimed = saidOf(field, said, expected)
    if (claimed === undefined || comparison === 'none') return []
    return [{ field, told: toldBy(comparison, claimed, facts), tells: comparison.tells }]
  })
}

/** Comparisons by the profile's words, without the target, which only verifiers compare, because names are written in several ways. */
function byWords({ found = {} }: Expected): Readonly<Record<string, Comparison>> {
  return Object.fromEntries(
    Object.entries(found)
      .filter(([field]) => field !== 'target')
      .map(([field, fact]) => [field, { fact, as: 'exact', tells: 'other' }]),
  )
}

function toldBy(comparison: Comparison, claimed: JsonValue, facts: JsonObject): FieldComparison['told'] {
  const names = 'facts' in comparison ? comparison.facts : [comparison.fact]
  const seen = names.map((name) => ownOf(facts, name))
  if (seen.some((value) => value === undefined)) return 'nothing'
  const isSame =
    'facts' in comparison ? seen.every((value) => value === comparison.are) : isSameBy(comparison.as, claimed, seen[0]!)
  if (isSame) return 'same'
  return comparison.tells === 'same' ? 'nothing' : 'other'
}

function ownOf<T>(values: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(values, name) ? values[name] : undefined
}
