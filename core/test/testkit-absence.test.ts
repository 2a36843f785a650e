// Test run: end-to-end, slow
/** The conformance kit catches plugins that call absent what they could not read. */
import { ABSENCE } from './bad-plugins/absence.ts'
import { catches } from './bad-plugins/catches.ts'

catches(ABSENCE)
