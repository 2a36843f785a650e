/** `npm run tour`: claims each action at each kind of destination that the tests use. */
import { readOptions } from './options.ts'
import { takeTour } from './tour/tour.ts'

readOptions(
  `Usage: npm run tour

Claim and verify each action at each kind of destination, a line each.`,
  {},
)
process.exitCode = (await takeTour()) ? 0 : 1
