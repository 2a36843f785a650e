// Test run: end-to-end, slow
/** Claims that are submitted again, to a host that does not know them: alone, among new ones, and many at once. */
import t from 'tap'
import { createDatabase } from '../support/database.ts'
import { Installation } from '../support/installation.ts'

t.test('a claim that another host stored is answered, and stored once', async (t) => {
  const installation = await Installation.during(t, { database: await createDatabase('postgres') })
  const client = await installation.client('acme')
  const other = client.at(await installation.addHost())
  const names = Array.from({ length: 20 }, (_, index) => `claim-${index}`)
  const claimOf = (name: string) => ({
    client_claim_id: name,
    params: { see: name.endsWith('3') ? 'absent' : 'present' },
  })
  const first = await Promise.all(names.map((name) => client.submit(claimOf(name))))
  for (const { status } of first) t.equal(status, 202)
  for (const repeatedAt of [other, other, client]) {
    const fresh = names.map((name) => other.submit({ client_claim_id: `new-${name}-${Math.random()}` }))
    const again = await Promise.all(names.map((name) => repeatedAt.submit(claimOf(name))))
    again.forEach(({ status, body }, index) => {
      t.match([status, body], [202, { claim_id: first[index]!.body.claim_id, created: false }])
    })
    for (const { status, body } of await Promise.all(fresh)) t.match([status, body], [202, { created: true }])
  }
  const { body } = await client.get('/v1/claims?limit=100')
  t.equal(body.claims.length, 80)
  const receipts = body.claims.flatMap(({ receipt_id: id }: { receipt_id: string | null }) => (id === null ? [] : [id]))
  t.equal(new Set(receipts).size, 78, 'a receipt for each decided claim')
})
