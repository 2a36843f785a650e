/** A stop of the tour: a destination, and what an agent did there and claims. */
export interface Stop {
  /** As people call it. */
  readonly place: string
  /** The plugin that reads it, where it is not that of code hosts. */
  readonly plugin?: object
  /** The loopback address at which it is here. */
  readonly allowPrivate: string
  /** What the process of the service needs. */
  readonly env?: Readonly<Record<string, string>>
  /** What follows `connection add`; undefined where no connection is needed. */
  readonly connect: readonly string[] | undefined
  readonly claims: readonly TourClaim[]
  /** What it was asked so far, where it counts. */
  readonly requests?: readonly string[]
  close(): Promise<void>
}

export interface TourClaim {
  readonly action: string
  readonly target: string
  readonly params: Readonly<Record<string, unknown>>
}
