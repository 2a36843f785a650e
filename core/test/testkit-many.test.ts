// Test run: end-to-end, slow
/** The conformance kit at what serves many claims: plugins that mix their results or their errors up. */
import { catches } from './bad-plugins/catches.ts'
import { MANY } from './bad-plugins/many.ts'

catches(MANY)
