import { newId } from '@claimcheck/server/base/ids'
import t from 'tap'

t.test('an id is a ULID behind its prefix', async (t) => {
  // The time of the example in the ULID specification.
  t.match(newId('clm_', 1_469_922_850_259), /^clm_01ARZ3NDEK[0-9A-HJKMNP-TV-Z]{16}$/)
  t.match(newId('rcpt_', 0), /^rcpt_0{10}[0-9A-HJKMNP-TV-Z]{16}$/)
  t.match(newId('rcpt_', 2 ** 48 - 1), /^rcpt_7ZZZZZZZZZ/)
})

t.test('ids of one moment are not counted up, and none comes twice', async (t) => {
  const ids = Array.from({ length: 2000 }, () => newId('rcpt_', Date.UTC(2026, 8, 25)))
  t.equal(new Set(ids).size, 2000)
  const rising = ids.filter((id, index) => index > 0 && id > ids[index - 1]!).length
  t.ok(rising > 800 && rising < 1200, `${rising} of 2000 follow the one before`)
})
