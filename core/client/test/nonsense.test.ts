/** Whatever a service says: each call ends, soon and with an error that says so. Threat O10 of `security.md`. */
import { createClient, UnexpectedAnswerError } from '@claimcheck/client'
import t from 'tap'
import { runClaimcheck } from '../../../test/support/command.ts'
import { FaultServer } from './fault-server.ts'

const CLAIM = {
  claim_id: 'clm_1',
  agent_id: 'a',
  action: 'a.b.c',
  target: 't',
  submitted_at: 's',
  deadline_at: '2100-01-01T00:00:00.000Z',
  attempts: 1,
  state: 'queued',
  verdict: null,
  reason_code: null,
  receipt_id: null,
  next_check_at: null,
}
const deep = `${'{"x":'.repeat(20_000)}1${'}'.repeat(20_000)}`

/** What is no claim. */
const ANSWERS: readonly (readonly [what: string, body: string])[] = [
  ['nothing', ''],
  ['a page', '<!doctype html><title>Welcome</title>'],
  ['half a claim', JSON.stringify(CLAIM).slice(0, 50)],
  ['null', 'null'],
  ['a list', '[]'],
  ['a text', '"queued"'],
  ['an object', '{}'],
  ['another claim', JSON.stringify({ ...CLAIM, claim_id: 'clm_2' })],
  ['another state', JSON.stringify({ ...CLAIM, state: 'soon' })],
  ['decided without a verdict', JSON.stringify({ ...CLAIM, state: 'decided' })],
  ['queued with a verdict', JSON.stringify({ ...CLAIM, verdict: 'verified' })],
  ['a verdict that is no text', JSON.stringify({ ...CLAIM, state: 'decided', verdict: ['verified'] })],
  ['a target that is no text', JSON.stringify({ ...CLAIM, target: { toString: 1 } })],
  ['a deadline that is no time', JSON.stringify({ ...CLAIM, deadline_at: 'soon' })],
  ['attempts without end', JSON.stringify(CLAIM).replace('"attempts":1', '"attempts":1e999')],
  ['a claim that is too deep', JSON.stringify(CLAIM).replace('{', `{"more":${deep},`)],
  ['an array in which all is', JSON.stringify([CLAIM])],
]

for (const [what, body] of ANSWERS) {
  t.test(`watching ends where the service answers with ${what}`, async (t) => {
    const { url } = await FaultServer.start([
      { status: 200, body },
      { status: 200, body },
    ])
    const client = createClient({ baseUrl: url, key: 'k' })
    await t.rejects(client.watch('clm_1').next(), UnexpectedAnswerError)
    const env = { CLAIMCHECK_URL: url, CLAIMCHECK_API_KEY: 'k' }
    const { code, stdout, stderr } = await runClaimcheck(t.testdir(), ['claims', 'watch', 'clm_1'], env)
    t.equal(code, 1)
    t.equal(stdout, '')
    t.match(stderr, /is this the address of the service\?$/m)
  })
}

t.test('watching ends where a claim is "queued" long after its deadline and the others are decided', async (t) => {
  const overdue = JSON.stringify({ ...CLAIM, deadline_at: new Date(Date.now() - 2 * 3_600_000).toISOString() })
  const other = { ...CLAIM, claim_id: 'clm_2' }
  const decided = { ...other, state: 'decided', verdict: 'verified', receipt_id: 'rcpt_1' }
  const { url } = await FaultServer.start(
    [overdue, JSON.stringify(other), JSON.stringify(decided), overdue, overdue].map((body) => ({
      status: 200,
      body,
    })),
  )
  const client = createClient({ baseUrl: url, key: 'k' })
  const seen: (string | null)[] = []
  const watched = async () => {
    for await (const { verdict } of client.watch(['clm_1', 'clm_2'])) seen.push(verdict)
  }
  await t.rejects(watched(), { name: 'TimeoutError', message: /clm_1 is still queued, and its deadline was/ })
  t.strictSame(seen, [null, null, 'verified'])
  await t.rejects(client.wait('clm_1'), { name: 'TimeoutError', claim: { claim_id: 'clm_1' } })
  const env = { CLAIMCHECK_URL: url, CLAIMCHECK_API_KEY: 'k' }
  const { code, stdout, stderr } = await runClaimcheck(t.testdir(), ['claims', 'watch', 'clm_1'], env)
  t.equal(code, 1)
  t.match(stdout, /queued/)
  t.match(stderr, /^Claim clm_1 is still queued.*Ask its operator, or wait for it again later\.$/m)
})

const LISTS: readonly (readonly [what: string, bodies: readonly string[]])[] = [
  ['no claims', ['{}']],
  ['what are no claims', ['{"claims":[{}],"next_cursor":null}']],
  ['an empty page again and again', new Array(5).fill('{"claims":[],"next_cursor":"a"}')],
  ['empty pages without end', Array.from({ length: 1010 }, (_, n) => `{"claims":[],"next_cursor":"${n}"}`)],
  ['a cursor that is no text', [`{"claims":[${JSON.stringify(CLAIM)}],"next_cursor":{}}`]],
  ['one page again and again', new Array(5).fill(`{"claims":[${JSON.stringify(CLAIM)}],"next_cursor":"a"}`)],
]

for (const [what, bodies] of LISTS) {
  t.test(`a list ends where the service answers with ${what}`, async (t) => {
    const { url } = await FaultServer.start(bodies.map((body) => ({ status: 200, body })))
    const listed = async () => {
      for await (const _claim of createClient({ baseUrl: url, key: 'k' }).list());
    }
    await t.rejects(listed(), UnexpectedAnswerError)
  })
}

t.test('a list leads on over pages of claims that do not fit its filters', async (t) => {
  const empty = ['a', 'b', 'c'].map((next) => `{"claims":[],"next_cursor":"${next}"}`)
  const bodies = [...empty, `{"claims":[${JSON.stringify(CLAIM)}],"next_cursor":null}`]
  const { url } = await FaultServer.start(bodies.map((body) => ({ status: 200, body })))
  const listed: string[] = []
  for await (const { claim_id } of createClient({ baseUrl: url, key: 'k' }).list()) listed.push(claim_id)
  t.strictSame(listed, [CLAIM.claim_id])
})

t.test('other answers are looked at before they are given on, too', async (t) => {
  const { url } = await FaultServer.start(new Array(5).fill({ status: 200, body: '{"connections":{},"profiles":[1]}' }))
  const client = createClient({ baseUrl: url, key: 'k' })
  const claim = { agent_id: 'a', action: 'a.b.c', target: 't' }
  await t.rejects(client.whoami(), UnexpectedAnswerError)
  await t.rejects(client.connections(), UnexpectedAnswerError)
  await t.rejects(client.profiles(), UnexpectedAnswerError)
  await t.rejects(client.submit(claim), UnexpectedAnswerError)
})
