/** The values that were added last: at least so many of them, and less than twice as many. Which is older among them, nobody asks. */

export interface RecentSet {
  has(value: string): boolean
  add(value: string): void
}

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
