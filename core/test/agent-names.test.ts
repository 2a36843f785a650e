/** What names a bound agent beside its id: only in the form in which Claimcheck writes it. */
import { agentNames, type ReceiptBody } from '@claimcheck/core/receipts'
import { agentSentences } from '@claimcheck/core/words/agents'
import t from 'tap'

const PSEUDONYM = `${'p'.repeat(42)}A`

const rows: [what: string, agent: Record<string, unknown>, expected: object][] = [
  ['both', { bound: true, pseudonym: PSEUDONYM, domain: 'acme.com' }, { pseudonym: PSEUDONYM, domain: 'acme.com' }],
  ['a domain in letters of ASCII', { bound: true, domain: 'xn--cme-5cd.com' }, { domain: 'xn--cme-5cd.com' }],
  ['an agent that is not bound', { pseudonym: PSEUDONYM, domain: 'acme.com' }, {}],
  ['a bound that is not true', { bound: 'true', pseudonym: PSEUDONYM, domain: 'acme.com' }, {}],
  ['another length', { bound: true, pseudonym: `${PSEUDONYM}A` }, {}],
  ['bits that are not used', { bound: true, pseudonym: `${'p'.repeat(42)}B` }, {}],
  ['no texts', { bound: true, pseudonym: 5, domain: ['acme.com'] }, {}],
  ['letters that look like others', { bound: true, domain: 'аcme.com' }, {}],
  ['a sentence', { bound: true, domain: 'acme.com. It is trusted' }, {}],
  ['a line of a terminal', { bound: true, domain: 'acme.com\u001b[1m' }, {}],
  ['an address', { bound: true, domain: '127.0.0.1' }, {}],
  ['a bare label', { bound: true, domain: 'acme' }, {}],
]
for (const [what, members, expected] of rows) {
  t.test(what, async (t) => {
    const agent = { id: 'bot', ...members } as ReceiptBody['agent']
    t.strictSame(agentNames(agent), expected)
    const said = agentSentences(agent).join(' ')
    t.equal(said.includes('acme.com'), Object.hasOwn(expected, 'domain') && members.domain === 'acme.com')
    t.equal(said.includes('pppp'), Object.hasOwn(expected, 'pseudonym'))
  })
}
