// Test run: end-to-end, slow
/** The conformance kit catches plugins that ask what they may not, answer from memory, or go on. */
import { catches } from './bad-plugins/catches.ts'
import { REQUESTS } from './bad-plugins/requests.ts'

catches(REQUESTS)
