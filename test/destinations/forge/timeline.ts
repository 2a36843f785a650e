/** What something was at each time: dated changes, so that an answer can show it as a replica has it that is behind. */

/** Every time: what is, with nothing left out. */
export const NOW = Number.POSITIVE_INFINITY

export class Timeline<T> {
  readonly #changes: { readonly at: number; readonly value: T }[] = []

  /** @param at by the host's clock. Of changes that were both made by a time, the one that was set last counts. */
  set(at: number, value: T): void {
    this.#changes.push({ at, value })
  }

  asOf(until: number): T | undefined {
    return this.#changes.findLast(({ at }) => at <= until)?.value
  }
}

/** Things that are told apart by a key, each with its changes, in the order in which they came. `undefined` as a value: it is gone. */
export class Timelines<K, T> {
  readonly #byKey = new Map<K, Timeline<T | undefined>>()

  set(key: K, at: number, value: T | undefined): void {
    const timeline = this.#byKey.get(key) ?? new Timeline()
    timeline.set(at, value)
    this.#byKey.set(key, timeline)
  }

  get(key: K, until: number): T | undefined {
    return this.#byKey.get(key)?.asOf(until)
  }

  /** What there is of them at that time, the oldest first. */
  all(until: number): [K, T][] {
    return [...this.#byKey].flatMap(([key, timeline]) => {
      const value = timeline.asOf(until)
      return value === undefined ? [] : [[key, value] as [K, T]]
    })
  }
}
