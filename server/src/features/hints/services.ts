/** Functions that make the services of hints, which the host calls on first use. */
import { createHintAddresses } from './hint-addresses.ts'
import { createHints } from './hints.ts'
import { createLookWorker } from './look-worker.ts'

export const services = {
  hintAddresses: createHintAddresses,
  hints: createHints,
  lookWorker: createLookWorker,
}
