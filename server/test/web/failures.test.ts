import { DESTINATION_ERROR_CODES } from '@claimcheck/core/rules'
import { failureInWords } from '@claimcheck/server/web/failures'
import t from 'tap'

t.test('every reason why a destination could not be read has its words', async (t) => {
  for (const code of [...DESTINATION_ERROR_CODES, 'unsupported_action', 'verifier_error', 'unexpected_error']) {
    t.match(failureInWords(code), / /, code)
  }
})

t.test('a reason that is not known is shown as it is', async (t) => {
  for (const code of ['ECONNRESET', 'constructor', '']) t.equal(failureInWords(code), code)
})
