/** Loads that are compared: in turn, because the machine changes from minute to minute, and each with what its server spent. */
import type { Figure } from './figure.ts'
import type { Answered } from './load.ts'
import type { Served } from './process.ts'

export interface Side {
  readonly served: Served
  readonly roundMs: number
  /** Replaces that of all sides. */
  readonly warmUpMs?: number
  load(durationMs: number): Promise<Answered>
}

export interface Measured {
  /** The number of answers, with those of the warm-up. */
  readonly answers: number
  readonly perSecond: number
  readonly latenciesMs: readonly number[]
  /** The server's processor time for a request. */
  readonly cpuMicros: number
  /** The fastest round against the slowest: in quiet, nearly 1. */
  readonly spread: number
}

interface Turns {
  readonly rounds: number
  readonly warmUpMs: number
}

interface Round extends Answered {
  readonly cpuMs: number
}

export async function inTurn<S extends string>(
  sides: Readonly<Record<S, Side>>,
  { rounds, warmUpMs }: Turns,
): Promise<Record<S, Measured>> {
  const names = Object.keys(sides) as S[]
  const measured = new Map<S, Round[]>(names.map((name) => [name, []]))
  const warmUps = new Map<S, number>()
  for (const name of names) {
    const side = sides[name]
    warmUps.set(name, (await side.load(side.warmUpMs ?? warmUpMs)).requests)
  }
  for (let round = 0; round < rounds; round++) {
    // Measures there and back, so that a drift affects all of them.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const { served, roundMs, load } = sides[name]
      const before = served.cpuMs()
      const answered = await load(roundMs)
      measured.get(name)!.push({ ...answered, cpuMs: served.cpuMs() - before })
    }
  }
  const results = names.map((name) => [name, together(measured.get(name)!, warmUps.get(name)!)])
  return Object.fromEntries(results) as Record<S, Measured>
}

/** Several rounds of one load as one. */
function together(rounds: readonly Round[], before: number): Measured {
  const sum = (of: (round: Round) => number) => rounds.reduce((total, round) => total + of(round), 0)
  const requests = sum((round) => round.requests)
  const rates = rounds.map((round) => round.requests / round.durationMs)
  return {
    answers: before + requests,
    perSecond: (1000 * requests) / sum((round) => round.durationMs),
    latenciesMs: rounds.flatMap((round) => round.latenciesMs),
    cpuMicros: (1000 * sum((round) => round.cpuMs)) / requests,
    spread: Math.max(...rates) / Math.min(...rates),
  }
}

/** The subject that the others are compared with, and how steady it was. */
export function bareFigures(name: string, { perSecond, cpuMicros, spread }: Measured): Figure[] {
  return [
    { name, value: perSecond, unit: '1/s' },
    { name: `${name}: processor time for one`, value: cpuMicros, unit: 'µs' },
    { name: `${name}: fastest round against slowest`, value: spread, unit: 'x' },
  ]
}
