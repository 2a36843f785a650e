/** The types of the client are made from the OpenAPI document that the service serves, and say what it says now. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { CLIENT_TYPES, clientTypes } from '../scripts/client-types/types.ts'

t.test('the types of the client are as `npm run client-types` writes them', async (t) => {
  t.equal(readFileSync(CLIENT_TYPES, 'utf8'), await clientTypes())
})
