// Test run: end-to-end, slow
/** The conformance kit catches plugins that give a credential away. */
import { catches } from './bad-plugins/catches.ts'
import { LEAKS } from './bad-plugins/leaks.ts'

catches(LEAKS)
