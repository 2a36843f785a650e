/** What is wrong, in sentences that each name a row; the same one once. */

export interface Problems {
  complain(problem: string): void
  /** So much is wrong that looking closer tells nothing more. */
  readonly full: boolean
  readonly list: readonly string[]
}

const MOST = 1000

export function createProblems(): Problems {
  const found = new Set<string>()
  return {
    complain: (problem) => {
      if (found.size < MOST) found.add(problem)
    },
    get full() {
      return found.size >= MOST
    },
    get list() {
      return [...found]
    },
  }
}
