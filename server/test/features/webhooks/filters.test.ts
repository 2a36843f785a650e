/** Which events a webhook gets. */
import { fits, needsTraits } from '@claimcheck/server/features/webhooks/filters'
import type { EventRow, EventType } from '@claimcheck/server/storage/events'
import { type ClaimTraits, NO_FILTERS, type WebhookFilters } from '@claimcheck/server/storage/webhooks'
import t from 'tap'

const CLAIM: ClaimTraits = {
  claimId: 'clm_1',
  verdict: 'failed',
  action: 'git.push',
  profileAction: 'codehost.commit.push',
  agentId: 'bot',
  target: 'acme/API',
  connectionId: 'conn_1',
}

function event(type: EventType, subject = 'clm_1'): EventRow {
  return { workspaceId: 'ws_1', number: 1, type, at: 0, subject, detail: null }
}

const DECIDED = event('claim.decided')
const FAILING = event('connection.failing', 'conn_1')
const LANDED = event('anchor.landed', '7')

const rows: readonly (readonly [what: string, filters: Partial<WebhookFilters>, event: EventRow, fits: boolean])[] = [
  ['no filter', {}, DECIDED, true],
  ['its type', { types: ['anchor.landed', 'claim.decided'] }, DECIDED, true],
  ['another type', { types: ['anchor.landed'] }, DECIDED, false],
  ['its verdict', { verdicts: ['late', 'failed'] }, DECIDED, true],
  ['another verdict', { verdicts: ['verified'] }, DECIDED, false],
  ['its action', { actions: ['codehost.commit.push'] }, DECIDED, true],
  ['the alias of its action', { actions: ['git.push'] }, DECIDED, true],
  ['another action', { actions: ['http.url.status'] }, DECIDED, false],
  ['its agent', { agents: ['bot'] }, DECIDED, true],
  ['another agent', { agents: ['Bot'] }, DECIDED, false],
  ['its connection', { connections: ['conn_1'] }, DECIDED, true],
  ['another connection', { connections: ['conn_2'] }, DECIDED, false],
  ['one that fits and one that does not', { agents: ['bot'], verdicts: ['late'] }, DECIDED, false],
  ['the connection that fails', { connections: ['conn_1'] }, FAILING, true],
  ['another connection than the one that fails', { connections: ['conn_2'] }, FAILING, false],
  ['a verdict, for a connection', { verdicts: ['failed'] }, FAILING, true],
  ['an agent, for an anchor', { agents: ['bot'], connections: ['conn_2'] }, LANDED, true],
]

for (const [what, filters, row, expected] of rows) {
  t.test(`${row.type} ${expected ? 'is' : 'is not'} sent by ${what}`, async (t) => {
    t.equal(fits({ ...NO_FILTERS, ...filters }, row, CLAIM), expected)
  })
}

t.test('a claim that is not there fits no filter of claims', async (t) => {
  t.equal(fits({ ...NO_FILTERS, agents: ['bot'] }, DECIDED, undefined), false)
  t.equal(fits(NO_FILTERS, DECIDED, undefined), true)
  t.equal(needsTraits({ ...NO_FILTERS, types: ['claim.decided'] }), false)
})
