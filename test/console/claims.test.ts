// Test run: slow, both-databases
/** The table of claims: what it lists, filters, pages that hold while claims arrive, and the counts above it. */
import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import type { Receipt } from '@claimcheck/core/receipts'
import { newId } from '@claimcheck/server/base/ids'
import t from 'tap'
import { claimsConsole, exportClaims, linkOf, listed } from '../support/claims-console.ts'
import { connect } from '../support/connect.ts'
import { textOf, Visitor } from '../support/visitor.ts'

const MINUTE_MS = 60_000

/** The body that a shell sends for the command on the page. */
function sentBy(html: string): string {
  const command = /data-copy="(curl .*?)"/s.exec(html)![1]!.replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  const script = `curl() { printf '%s\\0' "$@"; }\n${command}`
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env: { ...process.env, KEY: 'svc_sk_x' } })
    .split('\0')
    .at(-2)!
}

/** The titles of the first steps, with their states. */
function stepsIn(html: string): string[] {
  return [...html.matchAll(/<h3>(.*?)<\/h3>/g)].map(([, heading]) => textOf(heading!))
}

t.test('a workspace without claims shows the steps to the first one, and which are done', async (t) => {
  const { installation, owner, path, workspaceId } = await claimsConsole(t)
  const { keys } = installation.claimcheck
  for (const { id } of await keys.list(workspaceId)) await keys.revoke(id)
  const page = await owner.get(path)
  t.equal(page.status, 200)
  t.strictSame(stepsIn(page.html), ['Make a key to do', 'Connect a destination optional', 'Submit a claim to do'])
  t.match(textOf(page.html), `curl '${installation.url}/v1/claims'`)
  for (const at of ['developers', 'connections', 'claims/new?action=test.outcome.reach']) {
    t.match(page.html, `href="/console/w/${workspaceId}/${at}"`)
  }
  t.notMatch(page.html, '<table')

  await keys.create(workspaceId, 'another')
  t.equal(stepsIn((await owner.get(path)).html)[0], 'Make a key done', 'a revoked one does not count')

  const member = await Visitor.joining(installation.host, workspaceId, 'member', 'Mia')
  const seen = await member.get(path)
  t.match(textOf(seen.html), 'curl')
  t.notMatch(seen.html, `href="${path}/new`, 'members do not submit')
})

t.test('the command of the first steps works as it is', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  t.equal((await client.post(sentBy((await owner.get(path)).html))).body.verdict, 'verified')
})

t.test('the command of the first steps claims what the workspace can read', async (t) => {
  const plugins = ['codehost', 'http'].map((name) => ({ use: resolve(`plugins/${name}/dist/index.js`) }))
  const { installation, owner, path, workspaceId } = await claimsConsole(t, { plugins })
  const claimed = async () => JSON.parse(sentBy((await owner.get(path)).html))
  t.match(await claimed(), { action: 'http.url.status', target: 'https://example.com/', params: {} })
  await connect(installation.claimcheck, workspaceId, 'git', { base_url: 'https://127.0.0.1:1' })
  t.match(await claimed(), { action: 'codehost.commit.push', target: /^[\w-]+\/[\w-]+$/, params: { branch: 'main' } })
  const { html } = await owner.get(path)
  t.equal(stepsIn(html)[1], 'Connect a destination done')
  t.match(textOf(html), /Connected: git over HTTP/i)
})

t.test('the table tells of each claim how it stands, and leads to its page', async (t) => {
  const { owner, client, path, workspaceId } = await claimsConsole(t)
  const verified = (await client.submit({ target: 'here', agent_id: 'release-bot' })).body
  const queued = (await client.submit({ target: 'there', params: { see: 'absent' } })).body
  const page = await owner.get(path)
  t.strictSame(listed(page.html), [queued.claim_id, verified.claim_id], 'newest first')
  const row = (id: string) => textOf(new RegExp(`<tr id="${id}">.*?</tr>`).exec(page.html)![0])
  t.match(row(verified.claim_id), /^verified here is there\. release-bot (now|\d+ sec. ago)$/)
  t.match(row(queued.claim_id), /^queued there is there\. agent-1 (now|\d+ sec. ago) 1 in \d+ sec\.$/)
  t.match(textOf(page.html), 'Verdict Claim Agent Submitted, newest first Checks Next check')
  t.match(page.html, `href="/console/w/${workspaceId}/agents/release-bot"`)
  const decided = textOf((await owner.get(`${path}?state=decided`)).html)
  t.match(decided, 'Submitted, newest first')
  t.notMatch(decided, 'Next check', 'what nothing waits for has no column')
  for (const { claim_id } of [verified, queued]) {
    t.match(page.html, `href="${path}/${claim_id}"`)
    t.equal((await owner.get(`${path}/${claim_id}`)).status, 200)
  }
})

t.test('filters in the address narrow the table, alone and together', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  const ids: Record<string, string> = {}
  const today = new Date().toISOString().slice(0, 10)
  const claims = {
    verified: { target: 'a/b', agent_id: 'one' },
    other: { target: 'a/b', agent_id: 'two' },
    queued: { params: { see: 'absent' }, target: 'a', agent_id: 'one' },
    unknown: { action: 'other.thing.do', params: {} },
  }
  for (const [name, claim] of Object.entries(claims)) ids[name] = (await client.submit(claim)).body.claim_id
  const rows: [query: string, names: string[]][] = [
    ['verdict=verified', ['verified', 'other']],
    ['verdict=unverifiable', ['unknown']],
    ['state=queued', ['queued']],
    ['state=decided', ['verified', 'other', 'unknown']],
    ['action=other.thing.do', ['unknown']],
    ['agent_id=one', ['verified', 'queued']],
    ['target=a', ['queued']],
    ['target=+a%2Fb+&agent_id=two', ['other']],
    ['verdict=&state=&agent_id=', ['verified', 'other', 'queued', 'unknown']],
    ['agent_id=two&agent_id=one&target=a', ['queued']],
    ['span=month&target=a', ['queued']],
    ['q=A%2FB', ['verified', 'other']],
    ['q=a%2Fb&agent_id=two', ['other']],
    ['q=TWO', ['other']],
    ['q=absent', ['queued']],
    ['q=%25', []],
    ['q=_', Object.keys(claims)],
    ['q=thing+that+is+nowhere', []],
    [`from=${today}&to=${today}`, Object.keys(claims)],
    ['to=2020-01-01', []],
    ['from=9999-01-01', []],
  ]
  for (const [query, names] of rows) {
    const page = await owner.get(`${path}?${query}`)
    t.same(listed(page.html).toSorted(), names.map((name) => ids[name]!).toSorted(), query)
  }
  const none = await owner.get(`${path}?target=nowhere`)
  t.match(textOf(none.html), 'No claim matches')
  t.match(none.html, 'value="nowhere"', 'the form shows what is asked for')
  t.equal(linkOf(none.html, 'clear'), path)
})

t.test('a filter that no claim can match is told, and ignored', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  const { claim_id } = (await client.submit()).body
  const wrong = {
    verdict: 'good',
    state: 'lost',
    action: 'a'.repeat(129),
    agent_id: '%00',
    target: '%ED%A0%80'.repeat(600),
    q: 'a'.repeat(513),
    from: '2026-02-30',
    to: 'yesterday',
  }
  for (const [name, value] of Object.entries(wrong)) {
    const page = await owner.get(`${path}?${name}=${value}`)
    t.equal(page.status, 200, name)
    t.match(textOf(page.html), 'this filter is ignored', name)
    t.strictSame(listed(page.html), [claim_id], name)
  }
  const backwards = await owner.get(`${path}?from=2026-09-02&to=2026-09-01`)
  t.match(textOf(backwards.html), 'The first day, 2026-09-02, is after the last, 2026-09-01: both are ignored.')
  t.strictSame(listed(backwards.html), [claim_id])
  const page = await owner.get(`${path}?span=__proto__&unknown=1&verdict=%3Cb%3E`)
  t.equal(page.status, 200)
  t.match(textOf(page.html), 'No claim can have the verdict “<b>”')
})

t.test('an agent of as many characters as a claim may have can be filtered for, whatever the characters', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  const agent = '🤖'.repeat(256)
  const { claim_id } = (await client.submit({ agent_id: agent })).body
  const page = await owner.get(`${path}?${new URLSearchParams({ agent_id: agent })}`)
  t.notMatch(textOf(page.html), 'this filter is ignored')
  t.strictSame(listed(page.html), [claim_id])
})

t.test('pages hold while claims arrive: nothing comes twice, and nothing is left out', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  const submit = async (count: number, agent: string) => {
    const answers = await Promise.all(Array.from({ length: count }, () => client.submit({ agent_id: agent })))
    return answers.map(({ body }) => body.claim_id as string)
  }
  const before = [...(await submit(40, 'first')), ...(await submit(25, 'first'))]
  const seen: string[] = []
  let at: string | undefined = `${path}?agent_id=first`
  while (at !== undefined) {
    const page = await owner.get(at)
    seen.push(...listed(page.html))
    at = linkOf(page.html, 'older')
    if (at !== undefined) t.match(at, 'agent_id=first', 'the filter goes along')
    await submit(7, 'first')
    if (seen.length > 25) {
      t.equal(linkOf(page.html, 'newest'), `${path}?agent_id=first`)
      t.notMatch(page.html, 'data-live', 'later pages stay as they are')
    }
  }
  t.equal(new Set(seen).size, seen.length)
  t.same(seen.toSorted(), before.toSorted())
})

t.test('from an older page one comes back, page by page, to the newest', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  for (const agent of ['one', 'other']) {
    await Promise.all(Array.from({ length: 60 }, () => client.submit({ agent_id: agent })))
  }
  const first = `${path}?agent_id=one`
  const pages: string[][] = []
  let at: string | undefined = first
  let last = first
  while (at !== undefined) {
    const page = await owner.get(at)
    pages.push(listed(page.html))
    last = at
    at = linkOf(page.html, 'older')
  }
  t.strictSame(
    pages.map((page) => page.length),
    [25, 25, 10],
  )
  const { html } = await owner.get(first)
  const assets = [...html.matchAll(/(?:href|src)="(\/assets\/[^"]+\.(?:css|js)[^"]*)"/g)].map(([, asset]) => asset!)
  const weights = await Promise.all([first, ...assets].map(async (at) => (await owner.get(at)).html.length))
  t.ok(weights.length > 2, 'the page has a style and scripts')
  t.ok(weights.reduce((sum, weight) => sum + weight) < 60_000, `a page weighs ${weights.join(' + ')}`)
  const back: string[][] = []
  for (at = last; at !== undefined; ) {
    const page = await owner.get(at)
    back.unshift(listed(page.html))
    at = linkOf(page.html, 'newer')
  }
  t.strictSame(back, pages)
  t.equal(linkOf((await owner.get(path)).html, 'newer'), undefined, 'nothing is newer than the newest')
})

t.test('the actions to choose from are those of the plugins and those of the claims', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  await client.submit({ action: 'gone.thing.do', params: {} })
  const { html } = await owner.get(path)
  const [, options] = /<select id="action"[^>]*>(.*?)<\/select>/s.exec(html)!
  const actions = [...options!.matchAll(/value="([^"]*)"/g)].map(([, action]) => action)
  t.equal(new Set(actions).size, actions.length)
  for (const action of ['test.outcome.reach', 'gone.thing.do']) t.ok(actions.includes(action), action)
})

t.test('a place in the list that is none is told, with the way back', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  await client.submit()
  for (const cursor of ['x', '', '%00', 'W10', Buffer.from('[1,"clm_1"]').toString('base64url')]) {
    const page = await owner.get(`${path}?verdict=verified&cursor=${cursor}`)
    t.equal(page.status, 400, cursor)
    t.match(textOf(page.html), 'This address leads to no page of the list')
    t.match(page.html, `href="${path}?verdict=verified"`)
  }
})

t.test('with a filter, so many claims are looked at at a time, and the next page goes on from there', async (t) => {
  const { installation, client, workspaceId } = await claimsConsole(t)
  const { claims } = installation.claimcheck
  const rare = (await client.submit({ target: 'rare' })).body.claim_id
  for (let count = 0; count < 5; count++) await client.submit()
  const filter = { limit: 10, target: 'rare', mostExamined: 3 }
  const first = await claims.list(workspaceId, filter)
  t.match(first, { claims: [], cutShort: true })
  const second = await claims.list(workspaceId, { ...filter, cursor: first.nextCursor! })
  t.match(second, { claims: [{ claimId: rare }], cutShort: true })
  t.match(await claims.list(workspaceId, { ...filter, cursor: second.nextCursor! }), { claims: [], nextCursor: null })
  const full = await claims.list(workspaceId, { limit: 1, agentId: 'agent-1', mostExamined: 3 })
  t.match(full, { claims: [{}], cutShort: false })
  t.ok(full.nextCursor, 'a full page is followed by another')
})

t.test('the table says where it stopped looking, and leads further back', async (t) => {
  const { installation, owner, client, path, workspaceId } = await claimsConsole(t)
  const { storage } = installation.claimcheck
  const rare = (await client.submit({ target: 'Rare/one', agent_id: 'rare' })).body
  const row = (await storage.read.claims.byId(workspaceId, rare.claim_id))!
  for (let start = 0; start < 10_000; start += 5000) {
    const more = Array.from({ length: 5000 }, (_, index) => {
      const submittedAt = row.submittedAt + 1 + start + index
      const names = { claimId: newId('clm_', submittedAt), clientClaimId: `more-${start + index}` }
      return { ...row, ...names, agentId: 'other', target: 'other', submittedAt, receiptId: null }
    })
    installation.isForged = true
    await storage.write((tx) => tx.claims.insertNew(more))
  }
  const page = await owner.get(`${path}?q=rare%2F`)
  t.match(textOf(page.html), '0 claims in the last 24 hours')
  t.match(textOf(page.html), 'Counted among the 10,000 newest claims only: older ones are left out.')
  t.match(textOf(page.html), 'None of the claims that were searched matches these filters')
  t.match(textOf(page.html), 'These filters were applied to the 10,000 newest claims only')
  const further = await owner.get(linkOf(page.html, 'older')!)
  t.strictSame(listed(further.html), [rare.claim_id])
  t.notMatch(textOf(further.html), 'were applied to')
  const back = await owner.get(linkOf(further.html, 'newer')!)
  t.match(textOf(back.html), 'None of the claims that were searched matches these filters', 'and as far forward again')
  t.equal(linkOf(back.html, 'older'), linkOf(page.html, 'older'))

  for (const query of ['agent_id=rare', `q=${rare.claim_id}`, `q=${rare.receipt_id}`]) {
    t.strictSame(listed((await owner.get(`${path}?${query}`)).html), [rare.claim_id], `an index finds ${query}`)
  }
  await owner.get(path)
  const csv = await (await exportClaims(owner, path, { format: 'csv' })).text()
  const lines = csv.trimEnd().split('\r\n')
  t.equal(lines.length, 10_002, 'a head, the claims, and why there are no more')
  t.match(
    lines.at(-1),
    /^"Only the 10,000 newest claims are here\. Export the others with a last day before them\.",{16}$/,
  )
  const found = (await (await exportClaims(owner, path, { format: 'json', q: 'rare/' })).json()) as {
    claims: unknown[]
    complete: boolean
  }
  t.match(found, { claims: [{ claim_id: rare.claim_id }], complete: true }, 'a file goes on looking')
})

t.test('the counts tell each verdict of the last day and the last month, as bars and as a table', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  await client.submit()
  await client.submit()
  await client.submit({ params: { see: 'absent' } })
  await client.submit({ action: 'other.thing.do', params: {} })
  for (const [query, heading, head] of [
    ['', '4 claims in the last 24 hours', 'Hour from'],
    ['?span=month', '4 claims in the last 30 days', 'Day from'],
  ] as const) {
    const { html } = await owner.get(path + query)
    t.match(textOf(html), heading)
    t.match(textOf(html), 'verified 2 late 0 mismatch 0 failed 0 unverifiable 1 queued 1')
    t.match(textOf(html), head)
    t.match(html, /<title>[^<]*2 verified, 1 unverifiable, 1 queued<\/title>/)
  }
})

t.test('only the first page, and what is not decided yet, is kept up to date', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  const decided = (await client.submit()).body
  const queued = (await client.submit({ params: { see: 'absent' } })).body
  t.match((await owner.get(path)).html, /id="claims" data-live/)
  t.match((await owner.get(`${path}/${queued.claim_id}`)).html, /id="claim" data-live/)
  t.notMatch((await owner.get(`${path}/${decided.claim_id}`)).html, 'data-live')
  t.notMatch((await owner.get(`${path}/${decided.claim_id}`)).html, 'live.js')
})

t.test("another workspace's claims are like ones that are not there", async (t) => {
  const { installation, owner, client, path, workspaceId } = await claimsConsole(t)
  const { claim_id } = (await client.submit()).body
  const { id: other } = await installation.claimcheck.workspaces.create('other')
  const stranger = await Visitor.joining(installation.host, other, 'owner', 'Sam')
  t.equal((await owner.get(`${path}/${claim_id}`)).status, 200)
  const own = `/console/w/${other}/claims`
  const refused = [path, `${path}/${claim_id}`, `${path}/new`, `${own}/${claim_id}`, `${own}/clm_x`, `${own}/%00`]
  const pages = await Promise.all(refused.map((at) => stranger.get(at)))
  t.strictSame(
    pages.map(({ status }) => status),
    refused.map(() => 404),
  )
  t.strictSame(listed((await stranger.get(own)).html), [])
  const form = { action: 'test.outcome.reach', target: 'x', 'params.see': 'present', agent_id: 'a' }
  t.equal((await stranger.post(`/console/w/${workspaceId}/claims/new`, form)).status, 404)
})

t.test('the counts of a stretch are those of the claims that were submitted in it', async (t) => {
  const { installation, client, workspaceId } = await claimsConsole(t)
  const { storage, now } = installation.claimcheck
  const stretchMs = 60 * MINUTE_MS
  await client.submit()
  const bucket = Math.floor(now() / stretchMs)
  const counts = await storage.read.claims.counts({ workspaceId, since: now() - stretchMs }, stretchMs)
  t.match(counts, [{ verdict: 'verified', count: 1 }])
  t.ok(bucket - counts[0]!.bucket <= 1, 'in whole stretches since the epoch')
  t.strictSame(await storage.read.claims.counts({ workspaceId: 'ws_other' }, stretchMs), [])
  t.strictSame(await storage.read.claims.counts({ workspaceId, since: now() + stretchMs }, stretchMs), [])
})

t.test('the chart counts what the filters show, and its verdicts lead to claims of these filters', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  await client.submit({ target: 'one/here' })
  await client.submit({ target: 'other' })
  const { html } = await owner.get(`${path}?q=ONE%2F`)
  t.match(textOf(html), '1 claim in the last 24 hours')
  t.match(html, `href="${path}?q=ONE%2F&amp;verdict=verified"`)
  t.notMatch(textOf(html), 'Counted among')
  const past = textOf((await owner.get(`${path}?to=2020-02-03`)).html)
  t.match(past, '0 claims in the 30 days up to 2020-02-03')
})

t.test('two claims of one target are told apart, also where no plugin is left that checks them', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  for (const text of ['first', 'second'])
    await client.submit({ action: 'gone.thing.do', target: 'a', params: { text } })
  const text = textOf((await owner.get(path)).html)
  for (const name of ['first', 'second']) t.match(text, `gone.thing.do: a (text ${name})`)
})

t.test('text of an agent does not turn the page around', async (t) => {
  const { owner, client, path } = await claimsConsole(t)
  await client.submit({ target: 'a\u202ecba' })
  const { html } = await owner.get(path)
  t.match(textOf(html), 'a<U+202E>cba is there.')
  t.notMatch(html, /\p{Bidi_Control}/u)
})

t.test('what the filters show goes into a file, as CSV and as JSON', async (t) => {
  const { installation, owner, client, path } = await claimsConsole(t)
  const strange = { target: '=cmd|"x", y', agent_id: '+1' }
  const { body: decided } = await client.submit({ ...strange, client_claim_id: 'with,comma' })
  await client.submit({ target: 'left out' })
  const { body: queued } = await client.submit({ target: 'also =cmd', params: { see: 'absent' } })
  const { html } = await owner.get(`${path}?q=%3DCMD`)
  t.match(html, /<input type="hidden" name="q" value="=CMD"/, 'the form of the list has its filters')

  const csv = await exportClaims(owner, path, { format: 'csv', q: '=CMD' })
  t.match(csv.headers.get('content-type'), 'text/csv; charset=utf-8')
  t.match(csv.headers.get('content-disposition'), /^attachment; filename="claims-\d{4}-\d\d-\d\d\.csv"$/)
  const [head, newer, older, end] = (await csv.text()).split('\r\n')
  t.equal(
    head,
    'claim_id,client_claim_id,agent_id,action,target,params,claimed_at,submitted_at,traceparent,state,receipt_id,verdict,reason_code,decided_at,receipt_url,erased_at,erased_because_of',
  )
  t.match(newer, new RegExp(`^${queued.claim_id},.*,"also =cmd",.*,,queued,,,,,,,$`))
  t.match(older, `${decided.claim_id},"with,comma",'+1,test.outcome.reach,"'=cmd|""x"", y","{""see"":""present""}",`)
  t.match(
    older,
    new RegExp(`,decided,${decided.receipt_id},verified,,[^,]+,${installation.url}/v1/receipts/${decided.receipt_id}`),
  )
  t.equal(end, '')

  const json = await exportClaims(owner, path, { format: 'json', q: '=CMD' })
  t.match(json.headers.get('content-type'), 'application/json')
  const text = await json.text()
  t.notMatch(text, /\p{Bidi_Control}/u)
  const receipt = (await (await fetch(`${installation.url}/v1/receipts/${decided.receipt_id}`)).json()) as Receipt
  t.match(JSON.parse(text), {
    complete: true,
    claims: [
      { claim_id: queued.claim_id, verdict: null, decided_at: null, receipt_url: null },
      { ...strange, claim_id: decided.claim_id, params: { see: 'present' }, decided_at: receipt.body.issued_at },
    ],
  })
})

t.test('a file of a filter that no claim can match is refused, and one of nothing is well formed', async (t) => {
  const { owner, path } = await claimsConsole(t)
  await owner.get(path)
  for (const format of ['csv', 'json']) {
    const refused = await owner.post(`${path}/export`, { format, verdict: 'good' })
    t.equal(refused.status, 400)
    t.match(textOf(refused.html), 'No claim can have the verdict “good”')
  }
  const unnamed = await owner.post(`${path}/export`, { format: 'xml' })
  t.match([unnamed.status, textOf(unnamed.html)], [400, /Choose csv or json as the format/])
  t.strictSame(await (await exportClaims(owner, path, { format: 'json' })).json(), { claims: [], complete: true })
  t.match(await (await exportClaims(owner, path, { format: 'csv' })).text(), /^claim_id,[a-z_,]+\r\n$/)
})

t.test('beyond its downloads of a day a person gets no file of claims or of the audit trail', async (t) => {
  const { owner, path } = await claimsConsole(t, { file: { limits: { exports_per_account: 2 } } })
  const trail = path.replace(/claims$/, 'audit-trail')
  t.equal((await exportClaims(owner, path, { format: 'csv' })).status, 200)
  t.equal((await owner.post(`${trail}/export`)).status, 200)
  for (const refused of [await exportClaims(owner, path, { format: 'json' }), await owner.post(`${trail}/export`)]) {
    t.equal(refused.status, 429)
    const html = 'html' in refused ? refused.html : await refused.text()
    t.match(textOf(html), /nothing was exported: .* may export at most 2 a day/i)
  }
  const entries = textOf((await owner.get(trail)).html)
  t.equal(entries.match(/exported/g)?.length, 2, 'nothing is recorded as exported that was not')
})
