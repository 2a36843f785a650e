/** What happened to a pull request or an issue, as hosts list it on its page. */

export interface ForgeEvent {
  readonly id: number
  /** Of the pull request or issue. */
  readonly number: number
  readonly kind: ForgeEventKind
  /** When the host shows it, by its clock. */
  readonly at: number
  /** The time that the host gives for it: another one than `at`, where somebody could choose it. */
  readonly shownAt: number
  readonly by: string
  /** The commit that it is about: the merge, the new head. */
  readonly sha?: string
  /** Of a changed base: the old one, and the new one. */
  readonly refs?: readonly [string, string]
  /** Of a head that was forced: the old one, and the new one. */
  readonly shas?: readonly [string, string]
  /** Of an issue's closing. */
  readonly reason?: CloseReason
}

export type ForgeEventKind =
  | 'opened'
  | 'head_moved'
  | 'head_forced'
  | 'base_changed'
  | 'closed'
  | 'reopened'
  | 'merged'
  | 'transferred'
  | 'deleted'
  | 'commented'
  | 'labeled'
  | 'line_reviewed'

export type CloseReason = 'completed' | 'not_planned' | 'duplicate'

export class EventLog {
  readonly #events: ForgeEvent[] = []

  add(event: Omit<ForgeEvent, 'shownAt'> & { readonly shownAt?: number }): void {
    this.#events.push({ shownAt: event.at, ...event })
  }

  /** Oldest first. */
  of(number: number, until: number): ForgeEvent[] {
    return this.#events.filter((event) => event.number === number && event.at <= until)
  }
}
