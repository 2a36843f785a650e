// Test run: end-to-end, slow
/** The conformance kit at what is connected: plugins that name wrong addresses, or probe in vain. */
import { catches } from './bad-plugins/catches.ts'
import { CONNECTIONS } from './bad-plugins/connections.ts'

catches(CONNECTIONS)
