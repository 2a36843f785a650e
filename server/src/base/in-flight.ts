/**
 * What is under way, by name: entries come, and go soon. A Map keeps more alive than it holds. When it resizes, its earlier table points to
 * the next one, and once one of them is in the old generation, the collector of the young takes each later one, with all that it held at
 * the time, for alive until the next full collection.
 */
export interface InFlight<T> {
  get(name: string): T | undefined
  set(name: string, value: T): void
  delete(name: string): void
  values(): T[]
}

export function createInFlight<T>(): InFlight<T> {
  const entries: Record<string, T> = Object.create(null)
  return {
    get: (name) => entries[name],
    set(name, value) {
      entries[name] = value
    },
    delete(name) {
      delete entries[name]
    },
    values: () => Object.values(entries),
  }
}
