/** A stop of the tour: a destination, and what an agent did there and claims. */
export interface Stop {
  /** The name that people know. */
  readonly place: string
  /** The package that reads it, where it is not that of code hosts. */
  readonly plugin?: string
  /** The loopback address at which it is here. */
  readonly allowPrivate: string
  /** The words after `connection add`; undefined if no connection is needed. */
  readonly connect: readonly string[] | undefined
  readonly claims: readonly TourClaim[]
  /** The requests so far, if the destination counts them. */
  readonly requests?: readonly string[]
  close(): Promise<void>
}

export interface TourClaim {
  readonly action: string
  readonly target: string
  readonly params: Readonly<Record<string, unknown>>
  /** The right verdict; `verified` when left out. */
  readonly verdict?: 'mismatch' | 'failed'
}
