/** `npm run tour`: claims each action at each kind of destination that the tests use. */
import { readOptions } from './options.ts'
import { installTools } from './tools.ts'

readOptions(
  `Usage: npm run tour

Claim each action at each kind of destination, truly, and falsely where that is decided at once. A line each.`,
  {},
)
await installTools(['chain', 'postgres', 'registry'])
// Imported here, because a part of it is what was just installed.
const { takeTour } = await import('./tour/tour.ts')
process.exitCode = (await takeTour()) ? 0 : 1
