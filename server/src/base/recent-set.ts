/** Remembers the values that were added last, and forgets the others, without an order to keep for each look. */

export interface RecentSet {
  has(value: string): boolean
  add(value: string): void
}

/** @param least it remembers the last so many values, and always less than twice as many */
export function createRecentSet(least: number): RecentSet {
  let latest = new Set<string>()
  let earlier = new Set<string>()
  return {
    has: (value) => latest.has(value) || earlier.has(value),
    add(value) {
      latest.add(value)
      if (latest.size < least) return
      earlier = latest
      latest = new Set()
    },
  }
}
