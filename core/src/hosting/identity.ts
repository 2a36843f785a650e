/** Identities of destinations: what a probe told of the place that it tried, and each check tells of the place that it read. */
import { type Instant, type Observation, showsClaimed } from '../evidence.ts'

const IDENTITY = /^[\x21-\x7e]{1,200}$/

/** Tells whether a value has the form of an identity: 1 to 200 printable ASCII characters without spaces. */
export function isIdentity(value: unknown): value is string {
  return typeof value === 'string' && IDENTITY.test(value)
}

/** The identity that a connection's reads are held to. */
export interface KnownIdentity {
  readonly text: string
  /** The time of the trial that told this identity first. */
  readonly since: Instant
  /** The identity before this one, which the connection had until `since`; null or left out where there was none. */
  readonly former?: string | null
}

/**
 * Holds a read through a connection of an `identified` type to the identity that the connection's trial told.
 * @param known undefined where no trial told an identity
 * @param firstReadAt the time of the claim's first read; undefined where this is the first
 * @returns the observation to record, which cannot blame unless one known destination answered since the claim's submission; undefined for
 * a read of another destination than the known one, or than the one that earlier reads of the claim were held to
 */
export function heldToIdentity(
  { identity, ...seen }: Observation,
  known: KnownIdentity | undefined,
  submittedAt: Instant,
  firstReadAt?: Instant,
): Observation | undefined {
  // The absence that one destination showed, and the outcome at the next, would make a lateness that neither has seen.
  if (known?.former != null && firstReadAt !== undefined && firstReadAt < known.since) return undefined
  if (identity === undefined || known === undefined) return withoutBlame(seen)
  if (identity !== known.text) return undefined
  return known.since <= submittedAt ? seen : withoutBlame(seen)
}

/** Takes from an observation what rules blame by: an absence or difference that counts, and the earliest time of an entry of the log. */
function withoutBlame(observation: Observation): Observation {
  const { mark, stays } = observation
  return {
    ...observation,
    ...(!showsClaimed(observation) && mark !== 'unsettled' && { mark: 'may_have_been' }),
    ...(stays && {
      stays: stays.map(({ appeared: { notAfter }, ...stay }) => ({ ...stay, appeared: { notAfter } })),
    }),
  }
}
