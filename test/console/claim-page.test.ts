/** A claim's page, for each way that a claim may stand. */
import { resolve } from 'node:path'
import { newId } from '@claimcheck/server/base/ids'
import t from 'tap'
import { claimsConsole } from '../support/claims-console.ts'
import { connect } from '../support/connect.ts'
import { SCRIPTED } from '../support/installation.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const MINUTE_MS = 60_000

/** Its deadline was a moment ago, so that the first check decides. */
function justOver(): string {
  return new Date(Date.now() - 15 * MINUTE_MS - 1000).toISOString()
}

const rows: [verdict: string, claim: () => object, told: RegExp[]][] = [
  [
    'verified',
    () => ({}),
    [
      /^somewhere was there in time · /,
      /somewhere was there in time verified It was there [\d.]+ s after the claim, and the tolerance is 10 min\. Claimed and found The agent says: somewhere is there\. Field Claimed Found Target somewhere somewhere See present –/,
      /Check 1 : it is there as claimed Seen present/,
    ],
  ],
  [
    'late',
    () => ({
      claimed_at: new Date(Date.now() - 10 * MINUTE_MS - 1000).toISOString(),
      params: { see: 'absent', later: { at: Date.now() + 500, see: 'present' } },
    }),
    [
      /Too late: there 10 min \d+ s after the claim late somewhere came too late\./,
      /End of the tolerance .* Check 1 : it is not there .* Checks? 2.*? : it is there/,
      /observed_after_tolerance/,
    ],
  ],
  [
    'mismatch',
    () => ({ claimed_at: justOver(), params: { see: 'differs', content: 'this' } }),
    [
      /Content not this mismatch somewhere differs\./,
      /Target somewhere somewhere See differs – Content this – differs Seen – differs/,
      /Checks? 1.*? : it differs in Content/,
      /content_mismatch/,
    ],
  ],
  [
    'failed',
    () => ({ claimed_at: justOver(), params: { see: 'absent' } }),
    [/Not there by the deadline failed somewhere was not there\./, /It was not there by the deadline\. not_found/],
  ],
  [
    'unverifiable',
    () => ({ action: 'other.thing.do', params: {} }),
    [
      /Could not be checked unverifiable The service has no plugin that checks this action\. This says nothing for or against the agent\. Claimed and found Field/,
      /The claim Target somewhere Action other\.thing\.do/,
      /Check 1 : could not read\. No plugin checks this action now\. unsupported_action/,
      /Decided : unverifiable The service has no plugin that checks this action/,
    ],
  ],
]

for (const [verdict, claim, told] of rows) {
  t.test(`the page of a claim that is ${verdict} tells why, in order, with its receipt`, async (t) => {
    const { installation, owner, client, path } = await claimsConsole(t)
    const { claim_id, client_claim_id, claim_digest } = (await client.submit(claim())).body
    const { receipt_id, verdict: value } = await client.decided(claim_id)
    t.equal(value, verdict)
    const { leaf_index } = (await installation.request(`/v1/receipts/${receipt_id}`)).body.proof
    const page = await owner.get(`${path}/${claim_id}`)
    const text = textOf(page.html)
    t.equal(page.status, 200)
    for (const expected of told) t.match(text, expected)
    t.match(text, /Claimed by agent-1/)
    t.match(
      text,
      new RegExp(
        `Decided : ${verdict} .*In the log as entry ${leaf_index}\\. .*Not anchored : this service does not anchor its log`,
      ),
    )
    t.notMatch(text, /to come Not anchored/)
    t.match(text, client_claim_id)
    t.match(page.html, `title="${claim_digest}"`)
    t.match(page.html, `<a class="button" href="/r/${receipt_id}">Open</a>`)
    t.match(page.html, `data-copy="${installation.url}/r/${receipt_id}" aria-label="Copy link"`)
    t.match(page.html, `href="/v1/receipts/${receipt_id}" download="${receipt_id}.json">Download</a>`)
    t.match(page.html, /<details id="receipt-json"><summary>The receipt as JSON<\/summary>/)
    t.match(text, `./claimcheck verify ${installation.url}/v1/receipts/${receipt_id}`)
    t.match(text, `"value": "${verdict}"`)
  })
}

t.test('the page of a queued claim tells when it is looked at next, and what is to come', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  const { claim_id } = (await client.submit({ params: { see: 'unavailable' } })).body
  const text = textOf((await owner.get(`${path}/${claim_id}`)).html)
  t.match(text, /Waiting: could not be read yet queued Not decided yet\./)
  t.match(text, /Next check: in \d+ sec\. , deadline: 2/)
  t.match(text, /Check 1 : could not read\. The destination could not be reached\. unavailable/)
  t.match(text, /to come Next check .* to come End of the tolerance .* to come Deadline/)
  t.match(text, /There is no receipt yet/)
  t.notMatch(text, /Decided|anchored/)
})

const waiting: [headline: string, params: object][] = [
  ['Waiting: not there yet', { see: 'absent' }],
  ['Waiting: Content not this, so far', { see: 'differs', content: 'this' }],
]
for (const [headline, params] of waiting) {
  t.test(`of a queued claim, what the last check saw is the title: ${headline}`, async (t) => {
    const { owner, client, path } = await claimsConsole(t)
    const { claim_id } = (await client.submit({ params })).body
    const { html } = await owner.get(`${path}/${claim_id}`)
    t.match(html, `<h1><span id="headline" data-live>${headline}</span></h1>`)
    t.match(html, `<title>${headline} ·`)
  })
}

t.test('a text that turns the direction of writing cannot mislead', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  const { claim_id } = (await client.submit({ target: 'a\u202eb', params: { see: 'absent', content: '\u202ee' } })).body
  const { html } = await owner.get(`${path}/${claim_id}`)
  t.notMatch(html.replace(/href="[^"]*"/g, ''), /[\u202e\u2067]/)
  for (const written of ['a<U+202E>b', '<U+202E>e']) t.match(textOf(html), written)
})

t.test('members see a claim, and may not submit one', async (t) => {
  const { installation, client, path, workspaceId } = await claimsConsole(t)
  const { claim_id } = (await client.submit()).body
  const member = await Visitor.joining(installation.host, workspaceId, 'member', 'Mia')
  t.equal((await member.get(`${path}/${claim_id}`)).status, 200)
  t.notMatch((await member.get(path)).html, `href="${path}/new"`)
  t.equal((await member.get(`${path}/new`)).status, 403)
  t.equal((await member.post(`${path}/new`, { action: 'test.outcome.reach' })).status, 403)
})

t.test('markup in what a claim says comes out as text', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  const markup = `<img src=x onerror=alert(1)>"'&amp;</pre><script>alert(1)</script>`
  const claim = {
    client_claim_id: `id${markup}`,
    agent_id: `agent${markup}`,
    target: `t${markup}`,
    // What it claims to see stands in the facts, too.
    params: { see: 'absent', later: { at: 0, see: 'absent' } },
  }
  const unknown = { action: 'other.thing.do', params: { [markup]: [markup] } }
  const ids = []
  for (const each of [claim, { ...claim, ...unknown, client_claim_id: 'other' }]) {
    const { status, body } = await client.submit(each)
    t.equal(status, 202)
    ids.push(body.claim_id)
  }
  const filters = new URLSearchParams({ agent_id: claim.agent_id, target: claim.target, verdict: markup })
  for (const at of [path, `${path}?${filters}`, ...ids.map((id) => `${path}/${id}`)]) {
    const { html, status } = await owner.get(at)
    t.equal(status, 200)
    t.notMatch(html, '<img', at)
    t.notMatch(html, 'alert(1)</script>', at)
    t.match(textOf(html), `agent${markup}`, at)
    t.match(textOf(html), `t${markup}`, at)
  }
  const page = textOf((await owner.get(`${path}/${ids[0]}`)).html)
  t.match(page, `id${markup}`)
  t.match(textOf((await owner.get(`${path}/${ids[1]}`)).html), JSON.stringify([markup]))
})

t.test('the page of a claim in an anchored log tells the chain, the transaction and the block', async (t) => {
  const { installation, owner, client, path } = await claimsConsole(t)
  const { claim_id } = (await client.submit()).body
  const { storage, now } = installation.claimcheck
  const { logId, treeSize, rootHash } = (await storage.read.log.state())!
  const [uid, txHash, attester, schema] = ['a', 'b', 'c', 'd'].map((digit) => `0x${digit.repeat(64)}`)
  await storage.write(async (tx) => {
    const plan = { logId, treeSize, rootHash, previousId: null, chain: 'eip155:84532', scheme: 'eas' }
    const planned = await tx.anchors.insert({ ...plan, attester: attester!, schema: schema!, plannedAt: now() })
    const blockTime = Math.floor(now() / 1000) + 5
    const landing = { uid: uid!, txHash: txHash!, blockNumber: 4711, blockTime, cost: '1', gasUsed: 1 }
    await tx.anchors.replace(planned, { ...planned, state: 'final', sentAt: now(), landing })
  })
  const page = await owner.get(`${path}/${claim_id}`)
  t.match(textOf(page.html), /Anchored on eip155:84532, in block 4711, by transaction 0xbbbbbb…bbbbbbbb/)
  t.match(page.html, `data-copy="${txHash}"`)
  t.notMatch(textOf(page.html), 'Not anchored')
})

t.test('the page tells the connection that a claim is read through, also once that is gone', async (t) => {
  const plugins = [SCRIPTED, { use: resolve('plugins/codehost/dist/index.js') }]
  const { installation, owner, client, path, workspaceId } = await claimsConsole(t, { plugins })
  const { connections, storage } = installation.claimcheck
  const { claim_id } = (await client.submit()).body
  const row = (await storage.read.claims.byId(workspaceId, claim_id))!
  // Nothing listens there: it is kept anyway.
  const { id } = await connect({ connections }, workspaceId, 'git', { base_url: 'https://127.0.0.1:1' })
  const read = { ...row, claimId: newId('clm_', row.submittedAt), clientClaimId: 'read', connectionId: id }
  installation.isForged = true
  await storage.write((tx) => tx.claims.insertNew([{ ...read, access: 'connection', receiptId: null }]))
  const connection = async (claimId: string) =>
    /<dt>Connection[^<]*<\/dt><dd>(.*?)<\/dd>/.exec((await owner.get(`${path}/${claimId}`)).html)?.[1]
  t.equal(await connection(claim_id), undefined)
  t.match(await connection(read.claimId), />git</)
  await connections.remove(id, workspaceId)
  t.match(await connection(read.claimId), 'a connection that was removed')
})

t.test('of a decided claim whose receipt is missing it is not said that it has yet to be decided', async (t) => {
  const { installation, owner, client, path, workspaceId } = await claimsConsole(t)
  const { claim_id } = (await client.submit()).body
  const { storage } = installation.claimcheck
  const row = (await storage.read.claims.byId(workspaceId, claim_id))!
  const [claimId, receiptId] = [newId('clm_', row.submittedAt), newId('rcpt_', row.submittedAt)]
  installation.isForged = true
  await storage.write((tx) => tx.claims.insertNew([{ ...row, claimId, receiptId, clientClaimId: 'another' }]))
  const page = await owner.get(`${path}/${claimId}`)
  t.equal(page.status, 200)
  t.match(textOf(page.html), 'its receipt cannot be read')
  t.notMatch(textOf(page.html), 'There is no receipt yet')
})
