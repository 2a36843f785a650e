// Test run: end-to-end, slow
/** The conformance kit catches plugins that are wrong in form, in time or in words. */
import { catches } from './bad-plugins/catches.ts'
import { FORMS } from './bad-plugins/forms.ts'

catches(FORMS)
