/** The pages of agents: who claims, how their claims held, and the way to those that did not. */
import { newId } from '@claimcheck/server/base/ids'
import { AGENTS_A_PAGE } from '@claimcheck/server/features/claims/agents'
import type { ClaimRow } from '@claimcheck/server/storage/claim-row'
import t from 'tap'
import { type ClaimsConsole, claimsConsole, linkOf, listed } from '../support/claims-console.ts'
import { textOf } from '../support/visitor.ts'

const DAY_MS = 24 * 60 * 60_000

function agentsPath({ workspaceId }: ClaimsConsole): string {
  return `/console/w/${workspaceId}/agents`
}

/** Decided claims as they are stored, without their receipts: as many of each verdict, that many days ago. */
async function decide(
  console: ClaimsConsole,
  agentId: string,
  counts: Readonly<Record<string, number>>,
  daysAgo = 0,
  over: Partial<ClaimRow> = {},
) {
  const { installation, client, workspaceId } = console
  const { storage, now } = installation.claimcheck
  const { claim_id } = (await client.submit({ agent_id: 'template' })).body
  const row = (await storage.read.claims.byId(workspaceId, claim_id))!
  const rows = Object.entries(counts).flatMap(([verdict, count]) =>
    Array.from({ length: count }, (_, index): ClaimRow => {
      const submittedAt = now() - daysAgo * DAY_MS
      const claimId = newId('clm_', submittedAt)
      const of = {
        claimId,
        clientClaimId: claimId,
        agentId,
        submittedAt,
        receiptId: null,
        target: `${verdict}/${index}`,
      }
      return { ...row, ...of, verdict: verdict as ClaimRow['verdict'], ...over }
    }),
  )
  await storage.write((tx) => tx.claims.insertNew(rows))
  installation.isForged = true
}

t.test('agents are listed by their last claim, each with its rate and what that is of', async (t) => {
  const console = await claimsConsole(t)
  const { owner, client } = console
  const none = await owner.get(agentsPath(console))
  t.match(textOf(none.html), 'No agents yet')
  t.match(none.html, `href="${console.path}"`)

  await decide(console, 'steady', { verified: 46, late: 1, mismatch: 1, failed: 2, unverifiable: 3 }, 1)
  await decide(console, 'old', { verified: 1 }, 40)
  await client.submit({ agent_id: 'new', params: { see: 'absent' } })
  const page = await owner.get(agentsPath(console))
  const text = textOf(page.html)
  t.match(text, '92 % verified, 46 of 50 decided; 3 unverifiable (6 %)')
  t.match(text, /new (now|\d+ sec\. ago) no rate yet: none decided for or against; 0 unverifiable; 1 queued/)
  t.match(text, /old 40 days ago no claims/)
  const order = [...page.html.matchAll(/agents\/([a-z]+)"/g)].map(([, name]) => name)
  t.strictSame(order, ['new', 'template', 'steady', 'old'])
  t.match(page.html, /<a href="[^"]*\/agents" aria-current="page">Agents<\/a>/)
})

t.test(
  'the page of an agent tells its rate over time and by action, its last failures, and leads to its claims',
  async (t) => {
    const console = await claimsConsole(t)
    const { owner, client, path } = console
    const agent = 'release bot/1'
    await decide(console, agent, { verified: 3, failed: 1, unverifiable: 1 })
    await decide(console, agent, { late: 1 }, 12)
    await decide(console, agent, { mismatch: 1 }, 45)
    await client.submit({ agent_id: agent, action: 'other.thing.do', params: {} })
    await decide(console, 'other', { failed: 1 })

    const { html, status } = await owner.get(`${agentsPath(console)}/${encodeURIComponent(agent)}`)
    t.equal(status, 200)
    const text = textOf(html)
    t.match(text, 'In the last 30 days: 60 % verified, 3 of 5 decided; 2 unverifiable (29 %)')
    t.match(text, 'Unverifiable claims could not be checked: they count neither for nor against an agent')
    t.match(text, /Outcome test\.outcome\.reach 6 60 % verified, 3 of 5 decided; 1 unverifiable \(17 %\)/)
    t.match(text, /other\.thing\.do 1 no rate yet: none decided for or against; 1 unverifiable \(100 %\)/)
    t.match(text, /\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d 75 % verified, 3 of 4 decided; 2 unverifiable \(33 %\)/)
    t.match(text, /\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d 0 % verified, 0 of 1 decided; 0 unverifiable \(0 %\)/)
    t.equal([...text.matchAll(/\d{4}-\d\d-\d\d to \d{4}-\d\d-\d\d/g)].length, 6, 'the last 30 days in stretches')
    const failures = ['failed', 'late', 'mismatch'].map((verdict) => text.indexOf(`${verdict}/0 is there.`))
    t.strictSame(
      failures,
      failures.toSorted((one, other) => one - other),
      'newest first, also those of before',
    )
    t.notMatch(failures, [-1])
    t.equal(listed(html).length, 3)
    const claims = await owner.get(linkOf(html, 'claims-of-agent')!)
    t.equal(listed(claims.html).length, 8)
    t.match(html, `href="${path}?verdict=failed&amp;agent_id=release+bot%2F1"`)
  },
)

t.test('an agent has its page whatever its name, and one that never claimed has none', async (t) => {
  const console = await claimsConsole(t)
  const { owner, client } = console
  const names = ['.', '..', '~.', '~', '%2F..', 'a?b#c', '🤖'.repeat(256), '\u05e2\u05d1\u05e8\u05d9\u05ea']
  for (const name of names) await client.submit({ agent_id: name })
  const { html } = await owner.get(agentsPath(console))
  const links = [...html.matchAll(/href="([^"]*\/agents\/[^"]+)"/g)].map(([, href]) => href!)
  t.equal(links.length, names.length)
  for (const [index, link] of links.entries()) {
    const page = await owner.get(link)
    t.equal(page.status, 200, link)
    const name = names.at(-1 - index)!
    t.equal(textOf(/<h1>.*?<\/h1>/.exec(page.html)![0]), name)
  }
  t.equal((await owner.get(`${agentsPath(console)}/nobody`)).status, 404)
  t.equal((await owner.get(`${agentsPath(console)}/%E0%A4%A`)).status, 404, 'no text')
})

t.test('ids that were stored before there was a rule are written out, and each keeps its claims', async (t) => {
  const console = await claimsConsole(t)
  const { owner, path } = console
  const ids = ['bot', 'bot ', 'b\u200bot', 'tob\u202e', 'b  ot']
  for (const [index, id] of ids.entries()) await decide(console, id, { verified: index + 1 })
  const { html } = await owner.get(agentsPath(console))
  const shown = ['bot', 'bot<U+0020>', 'b<U+200B>ot', 'tob<U+202E>', 'b <U+0020>ot']
  for (const [index, id] of ids.entries()) {
    t.match(html, `<bdi>${shown[index]!.replaceAll('<', '&lt;')}</bdi>`)
    const page = await owner.get(`${agentsPath(console)}/${encodeURIComponent(id)}`)
    t.equal(textOf(/<h1>.*?<\/h1>/.exec(page.html)![0]), shown[index])
    const claims = await owner.get(`${path}?${new URLSearchParams({ agent_id: id })}`)
    t.equal(listed(claims.html).length, index + 1, 'its own')
    t.notMatch(claims.html.replace(/ value="[^"]*"/g, ''), /\u200b|\u202e/)
  }
})

t.test('more agents than a page holds are on the next, each once', async (t) => {
  const console = await claimsConsole(t)
  const { owner, client } = console
  const names = Array.from({ length: AGENTS_A_PAGE + 3 }, (_, index) => `agent-${index}`)
  for (const name of [...names, 'agent-0']) await client.submit({ agent_id: name })
  const seen: string[] = []
  for (let at: string | undefined = agentsPath(console); at !== undefined; ) {
    const { html } = await owner.get(at)
    seen.push(...[...html.matchAll(/agents\/(agent-\d+)"/g)].map(([, name]) => name!))
    at = linkOf(html, 'older')
  }
  t.strictSame(seen, ['agent-0', ...names.slice(1).toReversed()])
  const lost = await owner.get(`${agentsPath(console)}?cursor=x`)
  t.equal(lost.status, 400)
  t.match(textOf(lost.html), 'This address leads to no page of the list')
})

t.test('whose claims were not judged because the connection was removed is seen', async (t) => {
  const console = await claimsConsole(t)
  const { owner } = console
  await decide(console, 'escaping', { unverifiable: 2 }, 0, { connectionRemoved: 1 })
  await decide(console, 'staying', { unverifiable: 1 })
  const text = textOf((await owner.get(agentsPath(console))).html)
  t.match(text, 'Connection removed')
  t.match(text, /escaping .*2 unverifiable \(100 %\)[^a-z]* 2 /)
  const page = textOf((await owner.get(`${agentsPath(console)}/escaping`)).html)
  t.match(
    page,
    '2 claims were not judged: the connection under which they were submitted was removed while they waited.',
  )
  t.notMatch(textOf((await owner.get(`${agentsPath(console)}/staying`)).html), 'not judged')
})
