/** Action profiles: what the claims of one action look like, and by which rules they are judged. */
import type { TSchema, TString } from 'typebox'

/** Which part of the claim a required field belongs to; it chooses the reason of a `mismatch`. */
export type FieldRole = 'target' | 'content'

/**
 * One declaration with five readers: validation, OpenAPI, console form, testkit and docs.
 * It is plain data. Any change of its rules is a new `version`.
 */
export interface ActionProfile<P extends TSchema = TSchema, F extends TSchema = TSchema> {
  /** Three dotted parts, `codehost.commit.push`. */
  readonly action: string
  /** Digits only. */
  readonly version: string
  /** One sentence on what a claim of this action says. */
  readonly summary: string
  /** Other names of the action, each open only to connections of the named providers. */
  readonly aliases?: Readonly<Record<string, { readonly providers: readonly string[] }>>
  readonly target: TString
  readonly params: P
  /** What a check may record: identifiers, times, counts, booleans, fingerprints. Never content, never a credential. */
  readonly facts: F
  /** The fields that must match. A verifier names those that do not in `Observation.differs`. */
  readonly required: Readonly<Record<string, FieldRole>>
  /** How long after `claimed_at` the outcome may appear and still be in time. Milliseconds. */
  readonly toleranceMs: number
  /** From `claimed_at` to the deadline when the claim sets none. Milliseconds. */
  readonly deadlineMs: number
  /** The furthest deadline that a claim may ask for, from `claimed_at`. Milliseconds. */
  readonly maxDeadlineMs: number
  /** The version of core's verdict rules that judges its claims; 2 is the newest. */
  readonly rulesVersion: 1 | 2
  /** How old an answer of the destination may be, because replicas lag behind. Milliseconds, 0 when absent. */
  readonly ageMs?: number
  /**
   * An outcome that came and went with the whole of what held it (a branch that was merged and deleted) before `claimed_at` counts
   * when it came at most this long before. Milliseconds, 0 when absent: it does not count.
   */
  readonly removedWithinMs?: number
  readonly access: {
    /** The least read-only permission, in words. */
    readonly permission: string
    /** A public action: it can be read without a connection. */
    readonly anonymous: boolean
  }
}

/** The part of a profile that decides verdicts and the times of checks. */
export type Rules = Pick<ActionProfile, 'rulesVersion' | 'required' | 'toleranceMs' | 'ageMs' | 'removedWithinMs'>

// The `action` pattern of the published receipt schema.
export const ACTION_PATTERN = '^[a-z0-9]+(\\.[a-z0-9_]+){2}$'

/** The deadline of a claim whose action nobody here can check: 15 minutes after `claimed_at`. */
export const UNSUPPORTED_DEADLINE_MS = 15 * 60_000
