/** What takes long and rarely finds anything that its smaller part in `npm test` does not: `npm run test:thorough` runs all of it. */

export const IS_THOROUGH = process.env.TEST_THOROUGH === '1'

/** How often a property is tried with values that differ from run to run. */
export function tries(most: number): number {
  return IS_THOROUGH ? most : Math.ceil(most / 4)
}
