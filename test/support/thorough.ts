/** What takes long and rarely finds anything that its smaller part in `npm test` does not: `npm run test:thorough` runs all of it. */

export const IS_THOROUGH = process.env.TEST_THOROUGH === '1'

/** How often a property is tried with values that differ from run to run. */
export function tries(most: number): number {
  return IS_THOROUGH ? most : Math.ceil(most / 4)
}

/** Every so many of these rows, beginning with this one; all of them in a thorough test. */
export function shareOf<T>(rows: readonly T[], first: number, of: number): T[] {
  return IS_THOROUGH ? [...rows] : rows.filter((_, index) => index % of === first)
}
