// Test run: end-to-end, slow
/** The conformance kit at what is called: plugins that take a refusal for an answer, or call what they may not. */
import { CALLS } from './bad-plugins/calls.ts'
import { catches } from './bad-plugins/catches.ts'

catches(CALLS)
