/** Random choices that the same seed makes again. */

export interface Random {
  /** An integer from 0, below `end`. */
  below(end: number): number
  between(first: number, last: number): number
  chance(probability: number): boolean
  pick<T>(list: readonly T[]): T
}

/** Mulberry32: short, and even enough for choosing. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number) => Math.floor(next() * end)
  return {
    below,
    between: (first, last) => first + below(last - first + 1),
    chance: (probability) => next() < probability,
    pick: (list) => list[below(list.length)]!,
  }
}
