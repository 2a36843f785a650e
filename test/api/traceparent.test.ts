/** The trace context of a submission is kept for those who run agents, and is no part of what is signed. */
import t from 'tap'
import { claimsConsole, exportClaims } from '../support/claims-console.ts'
import { query } from '../support/sql.ts'

const REST = '-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'

t.test('a valid traceparent is kept with the claim, and named on its page and in exports alone', async (t) => {
  const { installation, owner, client, path } = await claimsConsole(t)
  const claim = { agent_id: 'a', action: 'test.outcome.reach', target: 'x', params: { see: 'present' } }
  const submit = async (id: string, traceparent?: string) => {
    const body = JSON.stringify({ ...claim, client_claim_id: id, claimed_at: new Date().toISOString() })
    return (await client.post(body, traceparent === undefined ? {} : { traceparent })).body
  }
  const kept: readonly (readonly [header: string | undefined, kept: string | null])[] = [
    [undefined, null],
    [`00${REST}`, `00${REST}`],
    [`01${REST}-more`, `01${REST}`],
    [`00${REST}-more`, null],
    [`ff${REST}`, null],
    [`00${REST.toUpperCase()}`, null],
    [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, null],
    [`00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`, null],
    ['none', null],
  ]
  const claims = []
  for (const [index, [header]] of kept.entries()) claims.push(await submit(`traced ${index}`, header))
  const rows = await query(
    installation.config.databaseUrl,
    'SELECT traceparent FROM claims ORDER BY submitted_at, claim_id',
  )
  t.strictSame(rows.map(({ traceparent }) => traceparent).toSorted(), kept.map(([, value]) => value).toSorted())

  const traced = claims[1]
  t.notOk(JSON.stringify(claims).includes('4bf92f'), 'the API does not answer it')
  for (const what of ['', '/evidence']) {
    const { status, body } = await client.get(`/v1/receipts/${traced.receipt_id}${what}`)
    t.equal(status, 200)
    t.notOk(JSON.stringify(body).includes('4bf92f'), `receipts${what}`)
  }
  t.match((await owner.get(`${path}/${traced.claim_id}`)).html, `00${REST}`)
  await owner.get(path)
  t.match(await (await exportClaims(owner, path, { format: 'json' })).json(), {
    claims: kept.map(([, traceparent]) => ({ traceparent })).toReversed(),
  })
})
