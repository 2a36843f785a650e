/** What takes long and rarely finds anything that its smaller part in `npm test` does not: `npm run test:thorough` runs all of it. */

export const IS_THOROUGH = process.env.TEST_THOROUGH === '1'
