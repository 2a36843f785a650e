/** Action profiles: the form of an action's claims, and the rules by which they are judged. */
import type { TSchema, TString } from 'typebox'
import type { Words } from './contract/words.ts'
import type { Comparator } from './rules/comparators.ts'

/** Tells whether a field that differs means another target or another content, which is the reason of a `mismatch`. */
export type FieldRole = 'target' | 'content'

/**
 * Plain data from which validation, the OpenAPI description and the console's forms are made. Any change of its rules needs a new
 * `version`.
 */
export interface ActionProfile<P extends TSchema = TSchema, F extends TSchema = TSchema> {
  /** The action's name, three names with dots between them: `codehost.commit.push`. */
  readonly action: string
  /** The version of the profile, in digits only. */
  readonly version: string
  /** The meaning of a claim of this action, in one sentence. */
  readonly summary: string
  /** Sentences about the action's claims. Each param and each fact has a `title`, too. */
  readonly words: Words
  /** Other names of the action. A claim under such a name is read only through connections of these providers. */
  readonly aliases?: Readonly<Record<string, { readonly providers: readonly string[] }>>
  readonly target: TString
  readonly params: P
  /**
   * What a check may record, and a receipt shows: integers, booleans, times, identifiers, fingerprints. No content, no credentials. A closed
   * object; a string has a format, a list of values, or a pattern and a largest length.
   */
  readonly facts: F
  /** The fields that must match. A verifier lists those that do not in `Observation.differs`. */
  readonly required: Readonly<Record<string, FieldRole>>
  /** Milliseconds after `claimed_at` within which an outcome is in time. A later one is late. */
  readonly toleranceMs: number
  /** Milliseconds from `claimed_at` to the deadline, if the claim sets none. */
  readonly deadlineMs: number
  /** Milliseconds from `claimed_at` to the latest deadline that a claim may set. */
  readonly maxDeadlineMs: number
  /** The version of core's verdict rules that judges its claims. A new profile takes the newest. */
  readonly rulesVersion: 1 | 2
  /** Largest age of an answer in milliseconds, because replicas lag behind. Defaults to 0. */
  readonly ageMs?: number
  /**
   * An outcome that came and went with the whole of what held it (a branch that was merged and deleted) before `claimed_at` counts
   * when it came at most this long before. Milliseconds, 0 when absent: it does not count.
   */
  readonly removedWithinMs?: number
  /**
   * At a place without a log of its outcome, absence blames only where `claimed_at` is at most this long before the submission, so that the
   * first look comes just after the act. Milliseconds, 10,000 when absent.
   */
  readonly freshMs?: number
  /** Marks a place without a time of the outcome: if it came after the tolerance, the verdict is `claim_ambiguous`. */
  readonly neverLate?: true
  /** The fact, an integer or a boolean, that says that something is under way: while it is above 0 or true, the host looks often. */
  readonly underWay?: string
  /**
   * The fact that says, beside that of `underWay`, that what ends has to stay as it is for some time before it counts: while it is above 0 or
   * true, the host goes on looking often, however long it lasts.
   */
  readonly settles?: string
  /**
   * Facts that every read has which shows the outcome; without `compared`, where it has the fact at all. Evidence that says otherwise is
   * refused.
   */
  readonly shows?: Readonly<Record<string, Shown>>
  /**
   * Comparisons of the facts that show params or `target` with the claim. A read whose facts contradict it is recorded as `verifier_error`,
   * and evidence with one is refused.
   */
  readonly compared?: Readonly<Record<string, Comparison | 'none'>>
  /** Facts that are times of what has happened, in UTC with three fraction digits. None is later than the answer. */
  readonly past?: readonly string[]
  readonly access: {
    /** The smallest read-only permission that a check needs, in words. */
    readonly permission: string
    /** Tells whether claims can be read without a connection; the verifier's `anonymousSource` says which. */
    readonly anonymous: boolean
  }
}

type Plain = string | number | boolean

/** A fact's value, its possible values, its least value, or a value that it does not have. */
export type Shown = Plain | readonly Plain[] | { readonly atLeast: number } | { readonly not: Plain }

/** The comparison of a field of the claim with facts. */
export type Comparison = {
  /** The meaning of a claim that leaves the param out, as a value of the param. */
  readonly default?: Plain
  /**
   * `same`: another value of the fact, or none, says nothing, as of the tip of a branch that goes on. `other`: a read that shows the outcome
   * may lack the fact, as one that is given only where it is another than claimed.
   */
  readonly tells?: 'same' | 'other'
} & (
  | { readonly fact: string; readonly as: Exclude<Comparator, 'none'> }
  /** The comparison with several facts: the field is as claimed where each of these facts has this value. */
  | { readonly facts: readonly string[]; readonly are: Plain }
)

/** The part of a profile on which verdicts and the times of checks depend. */
export interface Rules
  extends Pick<
    ActionProfile,
    'required' | 'toleranceMs' | 'ageMs' | 'removedWithinMs' | 'freshMs' | 'neverLate' | 'underWay' | 'settles'
  > {
  /** The version of the verdict rules. Evidence may name one that this library does not have. */
  readonly rulesVersion: number
}

/** A claim is fresh where `claimed_at` is at most this long before the submission, unless its profile says otherwise. Milliseconds. */
export const FRESH_MS = 10_000

/** The form of an action, from the published schema of receipts. */
export const ACTION_PATTERN = '^[a-z0-9]+(\\.[a-z0-9_]+){2}$'

/** Milliseconds from `claimed_at` to the deadline of a claim whose action no plugin can check. */
export const UNSUPPORTED_DEADLINE_MS = 15 * 60_000
