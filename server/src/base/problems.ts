/** The list of problems: sentences that each name a row, without repetitions. */

export interface Problems {
  add(problem: string): void
  /** True when the list has its maximum length, so that examining more rows adds nothing. */
  readonly full: boolean
  readonly list: readonly string[]
}

const MAX_PROBLEMS = 1000

export function createProblems(): Problems {
  const found = new Set<string>()
  return {
    add: (problem) => {
      if (found.size < MAX_PROBLEMS) found.add(problem)
    },
    get full() {
      return found.size >= MAX_PROBLEMS
    },
    get list() {
      return [...found]
    },
  }
}

/** Lists the sentences of a table that hold. */
export function sentencesThatHold(table: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(table).filter((sentence) => table[sentence])
}
