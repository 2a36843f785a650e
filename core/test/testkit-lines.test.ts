// Test run: end-to-end, slow
/** The conformance kit at what is no HTTP: plugins that take silence, ends and floods for what the destination says. */
import { catches } from './bad-plugins/catches.ts'
import { LINES } from './bad-plugins/lines.ts'

catches(LINES)
