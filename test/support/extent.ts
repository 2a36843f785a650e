/**
 * How much is run of the tests that take long: `TEST_EXTENT`. A plain `npm test` runs a `short` part, so that it is soon done; named, changed
 * and all tests run the `usual` part; `npm run test:thorough` leaves out nothing.
 */
import { commitSeed } from '../../scripts/commit-seed.ts'

const EXTENTS = ['short', 'usual', 'thorough'] as const
export type Extent = (typeof EXTENTS)[number]

/** @throws Error for another name */
export function extentOf(name: string): Extent {
  const found = EXTENTS.find((one) => one === name)
  if (!found) throw new Error(`TEST_EXTENT is ${name}: set it to ${EXTENTS.join(', ')}, or leave it out`)
  return found
}

const extent = extentOf(process.env.TEST_EXTENT ?? 'usual')

export function byExtent<T>(values: Readonly<Record<Extent, T>>): T {
  return values[extent]
}

export const IS_THOROUGH = byExtent({ short: false, usual: false, thorough: true })

/** The options of a test that a short run skips. */
export const LONG = {
  skip: byExtent<string | false>({ short: 'a short run: npm test -- --all runs it', usual: false, thorough: false }),
}

/** The options of a test that mostly waits. */
export const PATIENT = { skip: IS_THOROUGH ? false : 'it waits for half a minute: npm run test:thorough runs it' }

/** How often something is tried with values that differ from commit to commit. */
export function tries(most: number): number {
  return Math.ceil(most / byExtent({ short: 10, usual: 4, thorough: 1 }))
}

/** Parameters of fast-check: so many worlds at most, the same for one commit. */
export function runs(most: number): { numRuns: number; seed: number } {
  return { numRuns: tries(most), seed: commitSeed() }
}

/** Every so many of these rows, beginning with this one; all of them in a thorough test. */
export function shareOf<T>(rows: readonly T[], first: number, of: number): T[] {
  return IS_THOROUGH ? [...rows] : rows.filter((_, index) => index % of === first)
}

/** Every eighth of these rows in a short run, every third in a usual one, from a first that the commit decides; all in a thorough one. */
export function shortened<T>(rows: readonly T[]): T[] {
  const first = commitSeed() % SHORTENED
  return rows.filter((_, index) => index % SHORTENED === first)
}

const SHORTENED = byExtent({ short: 8, usual: 3, thorough: 1 })

/** The least of rows that were as many before they were shortened. */
export function shortenedCount(count: number): number {
  return Math.floor(count / SHORTENED)
}
