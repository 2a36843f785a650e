/** `npm run tour`: each action at each kind of place, which are those that the tests use. */
import { takeTour } from './tour/tour.ts'

process.exitCode = (await takeTour()) ? 0 : 1
