/**
 * One row of the table of lives: a claim, what happens at its destination before and after it, and the verdicts that are right. Lives are
 * played in virtual time, so that they can be as long as they are in earnest.
 */

import type { Plugin } from '@claimcheck/core/plugin'
import type { GivenConnection, OrAt, VirtualClock } from '@claimcheck/core/testkit'
import type { Truth } from '../trap.ts'

export const SECOND = 1000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** Every life's time is counted from here: the moment at which its agent did what it claims, or says that it did. */
export const START = Date.UTC(2026, 2, 11, 9, 30)

/** Who does something. `ci`: the host's own runs, and apps that report. */
export type Who = 'agent' | 'bot' | 'liar' | 'ci' | 'owner' | 'place'

export interface Happening {
  /** After `START`, or before it. Milliseconds. */
  readonly at: number
  readonly who: Who
  readonly act: () => unknown
}

export function at(ms: number, who: Who, act: () => unknown): Happening {
  return { at: ms, who, act }
}

/** What the row is about. */
export type About =
  | 'plain lie'
  | 'plain work'
  | 'who reported it'
  | 'settled greens'
  | 'bots'
  | 'clocks of clients'
  | 'logs that are cut'
  | 'what logs show'
  | 'late submissions'
  | 'numbers that hide'
  | 'what lists tell'
  | 'places without a log'
  | 'reads that disagree'
  | 'deleted and remade'
  | 'redirects'
  | 'pages'
  | 'replicas'
  | 'kinds of content'
  | 'spellings'
  | 'removed versions'
  | 'bases that are gone'
  | 'squashed without a word'
  | 'large files'
  | 'varying answers'
  | 'walls'
  | 'in good time'

/** What is claimed, and how the life goes. */
export interface Play {
  readonly target: string
  /** A function where it hangs on what happened before the submission. */
  readonly params: Readonly<Record<string, unknown>> | (() => Readonly<Record<string, unknown>>)
  readonly happens?: readonly Happening[]
  /** By the agent's clock, after `START`; at it, when left out. Milliseconds. */
  readonly claimedMs?: number
  /** By true time; a second after `START`, when left out. */
  readonly submittedMs?: number
  /** As the client measured it until the submission. Milliseconds. */
  readonly claimedAgoMs?: number
  readonly deadlineMs?: number
  /** The host makes no check before: it was down, or flooded. */
  readonly idleUntilMs?: number
  /** When the claimed outcome came about: the figures count from then. */
  readonly cameMs?: number
  /** What the facts of the deciding look must have; `undefined`: must not. */
  readonly facts?: Readonly<Record<string, unknown>>
}

export interface Place {
  readonly clock: VirtualClock
  /** How the plugin reads it. */
  readonly plugin: Plugin
  readonly options?: Readonly<Record<string, string>>
  readonly connection: OrAt<GivenConnection> | null
  readonly destination?: string
  close(): Promise<void>
}

/** What a life is like at a place. */
export interface LifeAt<P extends Place> extends Omit<LifeRow, 'place' | 'set'> {
  readonly play: (place: P) => Promise<Play> | Play
}

export interface LifeRow {
  readonly name: string
  /** The destination: `github`, `npm`. */
  readonly place: string
  readonly action: string
  readonly about: About
  readonly truth: Truth
  /** `verified`, `failed`, or with its reason `unverifiable/claim_ambiguous`; `refused`: the claim is none of the action. */
  readonly right: readonly string[]
  /** The place does not show what came about: `unverifiable` is no fault. */
  readonly forgets?: boolean
  /** Bars that the verdict has to keep: seconds from the outcome to `verified` or from the deadline to blame, and counted requests. */
  readonly bars?: { readonly seconds?: number; readonly requests?: number }
  readonly set: () => Promise<{ readonly place: Place; readonly play: Play }>
}

export function titleOf({ place, action, about, name }: LifeRow): string {
  return `${place}, ${action}, ${about}: ${name}`
}

/** What rows of one kind have in common. */
export const kind = (about: About, right: LifeRow['right'] = VERIFIED, truth: Truth = 'in_time') => ({
  ...{ about, right, truth },
})
export type Kind = ReturnType<typeof kind>

export async function settingOf<P extends Place>(opening: Promise<P>, play: LifeAt<P>['play']) {
  const place = await opening
  return { place, play: await play(place) }
}

export const VERIFIED = ['verified'] as const
/** A lie, plainly dated: either of them is blame. */
export const BLAME = ['failed', 'mismatch'] as const
export const NOT_BLAMED = ['verified', 'unverifiable'] as const
export const UNVERIFIABLE = ['unverifiable'] as const
/** A lie where the place may not tell. */
export const NOT_VERIFIED = ['failed', 'mismatch', 'unverifiable'] as const
