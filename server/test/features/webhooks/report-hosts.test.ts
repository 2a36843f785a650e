/** Reports at stand-ins that take what GitHub, GitLab and Gitea publish of their APIs, over real HTTP. */
import { generateKeyPairSync, verify } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import type { Event } from '@claimcheck/core/api'
import type { OpenReport } from '@claimcheck/server/features/webhooks/kind'
import { MARKER } from '@claimcheck/server/features/webhooks/reports'
import { createSend, type Try } from '@claimcheck/server/features/webhooks/sender'
import type { ReportedClaim, ReportFormat } from '@claimcheck/server/storage/webhooks'
import t, { type Test } from 'tap'
import { outboundTo, serve } from '../../support/loopback.ts'

const OWN = 'https://claims.example.com'
const ownAddress = { origin: () => OWN, url: () => OWN }
const SHA = 'a'.repeat(40)
const NOON = Date.UTC(2026, 8, 25, 12)
const TOKEN = 'reporter-token'
const ID = 583_231
const APP = 4711
const INSTALLATION = '87654321'
const { publicKey, privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
})

interface Comment {
  id: number
  body: string
  author: { id: number }
  performed_via_github_app: { id: number } | null
}

type Answered = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>]

/** The members that each request may have, by what the hosts publish: names, and the values of those that are enumerated. */
const BODIES: readonly (readonly [request: RegExp, members: Readonly<Record<string, RegExp>>])[] = [
  [
    /^POST \/(?:api\/v1\/)?repos\/acme\/api\/statuses\/[0-9a-f]{40}$/,
    {
      state: /^(?:error|failure|pending|success)$/,
      target_url: /^https:/,
      description: /^.{1,140}$/,
      context: /^claimcheck\/.{1,80}$/,
    },
  ],
  [
    /^POST \/api\/v4\/projects\/acme%2Ftools%2Fapi\/statuses\/[0-9a-f]{40}$/,
    {
      state: /^(?:pending|running|success|failed|canceled|skipped)$/,
      target_url: /^https:/,
      description: /^.{1,255}$/,
      name: /^claimcheck\/.{1,80}$/,
    },
  ],
  [
    /^POST \/repos\/acme\/api\/check-runs$/,
    {
      name: /^claimcheck\/.{1,80}$/,
      head_sha: /^[0-9a-f]{40}$/,
      status: /^completed$/,
      conclusion: /^(?:action_required|cancelled|failure|neutral|success|skipped|timed_out)$/,
      details_url: /^https:/,
      external_id: /^.{1,200}$/,
      output: /^\{"title":"[a-z]+","summary":"[^"]+"\}$/,
    },
  ],
  [/^(?:POST|PATCH|PUT) .*\/(?:comments|notes)(?:\/\d+)?$/, { body: /^<!-- claimcheck/ }],
  [
    /^POST \/app\/installations\/87654321\/access_tokens$/,
    { repositories: /^\["(?:api|none)"\]$/, permissions: /^\{"checks":"write"(?:,"pull_requests":"write")?\}$/ },
  ],
]

/** A host with one repository and one commit. */
async function begin(t: Test, format: ReportFormat, change: Partial<OpenReport> = {}) {
  const requests: string[] = []
  const posted: Record<string, unknown>[] = []
  const comments: Comment[] = []
  /** Answers in place of the host's own, each once, by the beginning of the request. */
  const faults: (readonly [request: RegExp, answer: Answered])[] = []
  let ids = 0

  const isRight = ({ authorization = '' }: IncomingMessage['headers']) => {
    if (format !== 'github_app') return authorization === `${format === 'gitea' ? 'token' : 'Bearer'} ${TOKEN}`
    if (authorization === 'Bearer installation-token') return 'installation'
    const [head = '', claims = '', signature = ''] = authorization.replace('Bearer ', '').split('.')
    const isSigned = verify('sha256', Buffer.from(`${head}.${claims}`), publicKey, Buffer.from(signature, 'base64url'))
    const { iss, iat, exp } = isSigned ? JSON.parse(Buffer.from(claims, 'base64url').toString()) : {}
    return isSigned && iss === String(APP) && exp - iat <= 600 && 'app'
  }

  function answer(line: string, body: Record<string, unknown> | undefined, rights: unknown): Answered {
    if (!rights) return [401, { message: 'Bad credentials' }]
    const [, members] = BODIES.find(([request]) => request.test(line)) ?? []
    if (body) {
      t.ok(members, `${line} is published`)
      t.strictSame(Object.keys(body).toSorted(), Object.keys(members ?? {}).toSorted(), line)
      for (const [name, pattern] of Object.entries(members ?? {})) {
        const value = typeof body[name] === 'string' ? body[name] : JSON.stringify(body[name])
        t.match(value, pattern, `${line}: ${name}`)
      }
    }
    const path = line.replace(/^\w+ (?:\/api\/v\d)?/, '')
    if (path === '/user') return [200, { id: ID, login: 'claimcheck-bot' }]
    if (path === '/app') return rights === 'app' ? [200, { id: APP, slug: 'reports' }] : [401, {}]
    // A long answer, as GitHub's, which lists the repositories.
    if (path.endsWith('/access_tokens'))
      return rights === 'app' ? [201, { repositories: 'x'.repeat(9000), token: 'installation-token' }] : [401, {}]
    if (path.startsWith('/repos/acme/api/commits/') && line.startsWith('GET')) {
      const name = new URL(`http://x${path}`).searchParams.get('check_name')
      const found = posted.findLast((run) => run.name === name)
      return [200, { total_count: found ? 1 : 0, check_runs: found ? [found] : [] }]
    }
    if (/\/(?:statuses\/|check-runs$)/.test(path)) {
      if (!(path.endsWith(SHA) || body?.head_sha === SHA)) return [422, { message: 'No commit found for SHA' }]
      posted.push(body!)
      return [201, { id: ++ids }]
    }
    if (/\/(?:comments|notes)/.test(path)) return answerComments(line, body as { body: string } | undefined)
    return /^\/(?:repos|projects)\/acme(?:\/|%2Ftools%2F)api$/.test(path) ? [200, { id: 1 }] : [404, {}]
  }

  function answerComments(line: string, body: { body: string } | undefined): Answered {
    const [, id] = /\/(?:comments|notes)\/(\d+)$/.exec(line) ?? []
    if (line.startsWith('GET')) {
      const query = new URL(`http://x${line.slice(4)}`).searchParams
      const size = Number(query.get('per_page'))
      const from = (Number(query.get('page')) - 1) * size
      return [200, comments.slice(from, from + size)]
    }
    const known = comments.find((one) => one.id === Number(id))
    if (known) known.body = body!.body
    else write(body!.body, ID, APP)
    return [known ? 200 : 201, { id: known?.id ?? ids }]
  }

  function write(body: string, author: number, app: number | null): void {
    comments.push({
      id: ++ids,
      body,
      author: { id: author },
      performed_via_github_app: app === null ? null : { id: app },
    })
  }

  const address = await serve(t, async (request: IncomingMessage, response: ServerResponse) => {
    const line = `${request.method} ${request.url}`
    requests.push(line)
    const sent = await text(request)
    const fault = faults.findIndex(([pattern]) => pattern.test(line))
    const own = () => answer(line, sent === '' ? undefined : JSON.parse(sent), isRight(request.headers))
    const [status, body, headers = {}] = fault >= 0 ? faults.splice(fault, 1)[0]![1] : own()
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  })

  const url = `http://${address}${{ github: '', github_app: '', gitlab: '/api/v4', gitea: '/api/v1' }[format]}`
  const repository = format === 'gitlab' ? 'acme/tools/api' : 'acme/api'
  const app = format === 'github_app' ? { id: String(APP), installation: INSTALLATION } : null
  const reporter = app ? `app-id:${APP}` : `account-id:${ID}`
  const report = { targetId: 'wht_1', repositories: [repository], reporter, comments: true, app, ...change }
  const secret = app ? privateKey : TOKEN
  /** The claims that the target was told of. */
  const claims: ReportedClaim[] = []
  const { send, whoReports } = createSend({
    outbound: outboundTo(t, ['127.0.0.1']),
    ownAddress,
    now: Date.now,
    reported: async () => claims,
  })
  const target = { workspaceId: 'ws_1', format, url, secrets: [secret], report }

  /** Reports a claim, which comes after those before. */
  function tell(
    given: Partial<ReportedClaim> = {},
    place = repository,
    facts: object = { head_sha: SHA },
  ): Promise<Try> {
    const claim: ReportedClaim = {
      ...{ claimId: `clm_${claims.length + 1}`, agentId: 'bot', profileAction: 'codehost.pull_request.open' },
      ...{ params: { number: 7, head_sha: SHA }, verdict: 'verified', reasonCode: null },
      ...{ receiptId: `rcpt_${claims.length + 1}`, submittedAt: NOON + claims.length },
      ...given,
    }
    if (!claims.some(({ claimId }) => claimId === claim.claimId)) claims.push(claim)
    const data = { claim_id: claim.claimId, target: place, last_check: { at: '', result: 'present', facts } }
    const event = { id: '1', type: 'claim.decided', timestamp: '', data } as unknown as Event
    return send(target, { id: 'msg_1', event, more: 0 })
  }

  return {
    ...{ requests, posted, comments, faults, claims, write, tell },
    test: () => send(target, { id: 'msg_1', event: undefined, more: 0 }),
    who: (credential = secret) => whoReports(format, { url, credential, report }),
  }
}

const FORMATS = ['github', 'github_app', 'gitlab', 'gitea'] as const
const VERDICTS: Readonly<Record<ReportFormat, readonly (readonly [ReportedClaim['verdict'], string])[]>> = {
  github: [
    ['verified', 'success'],
    ['late', 'success'],
    ['mismatch', 'failure'],
    ['failed', 'failure'],
    ['unverifiable', 'error'],
  ],
  github_app: [
    ['verified', 'success'],
    ['late', 'success'],
    ['mismatch', 'failure'],
    ['failed', 'failure'],
    ['unverifiable', 'action_required'],
  ],
  gitlab: [
    ['verified', 'success'],
    ['late', 'success'],
    ['mismatch', 'failed'],
    ['failed', 'failed'],
    ['unverifiable', 'canceled'],
  ],
  gitea: [
    ['verified', 'success'],
    ['late', 'success'],
    ['mismatch', 'failure'],
    ['failed', 'failure'],
    ['unverifiable', 'error'],
  ],
}
const ARRIVED = { fault: null }

for (const format of FORMATS) {
  t.test(`${format}: each verdict has its state`, async (t) => {
    const { tell, posted } = await begin(t, format)
    for (const [verdict, state] of VERDICTS[format]) {
      t.match(await tell({ verdict }), ARRIVED, String(verdict))
      const { state: shown, conclusion } = posted.at(-1)!
      t.equal(shown ?? conclusion, state, String(verdict))
    }
    t.equal(posted.length, 5)
  })

  t.test(`${format}: what is no matter of a report is not sent, and arrives`, async (t) => {
    const { tell, requests } = await begin(t, format)
    t.match(await tell({}, 'acme/other'), ARRIVED, 'another repository')
    t.match(await tell({}, '../acme/api'), ARRIVED, 'a path')
    t.match(await tell({}, ''), ARRIVED, 'an erased claim')
    t.match(await tell({ params: { number: 7 } }), ARRIVED, 'no commit')
    await tell({ claimId: 'newer', submittedAt: NOON + 1000 })
    const before = requests.length
    t.match(await tell({ submittedAt: NOON }), ARRIVED, 'one that a later claim has overtaken')
    t.equal(requests.length, before)
    t.notOk(requests.some((line) => line.includes('other') || line.includes('..')))
  })

  t.test(`${format}: the repository is named as its owner spells it`, async (t) => {
    const { tell, posted } = await begin(t, format)
    t.match(await tell({}, format === 'gitlab' ? 'ACME/Tools/API' : 'ACME/API'), ARRIVED)
    t.equal(posted.length, 1)
  })

  t.test(`${format}: what the host answers`, async (t) => {
    const world = await begin(t, format)
    const post = /^POST .*\/(?:statuses\/|check-runs)/
    const reset = String(Math.floor(Date.now() / 1000) + 90)
    const rows: readonly (readonly [what: string, answer: Answered, tried: Partial<Try>])[] = [
      ['a commit that it does not have', [422, {}], { fault: 'rejected', status: 422 }],
      ['a repository that it does not show', [404, {}], { fault: 'rejected', status: 404 }],
      ['a token that may not', [403, { message: 'Resource not accessible' }], { fault: 'rejected', status: 403 }],
      ['a token that ended', [401, {}], { fault: 'status', status: 401 }],
      ['a limit', [429, {}, { 'retry-after': '30' }], { fault: 'status', retryAfterMs: 30_000 }],
      ['a secondary limit', [403, {}, { 'retry-after': '60' }], { fault: 'status', retryAfterMs: 60_000 }],
      ['a fault', [502, {}], { fault: 'status', status: 502, retryAfterMs: undefined }],
      ['a redirect', [301, {}, { location: '/elsewhere' }], { fault: 'redirect', status: 301 }],
    ]
    for (const [what, answer, tried] of rows) {
      world.faults.push([post, answer])
      t.match(await world.tell(), tried, what)
    }
    world.faults.push([post, [403, {}, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }]])
    const { retryAfterMs = 0 } = await world.tell()
    t.ok(retryAfterMs > 60_000 && retryAfterMs <= 90_000, 'a limit that ends at a time')
    t.equal(world.posted.length, 0)
    t.match(await world.tell(), ARRIVED)
  })

  t.test(`${format}: a test, and who reports`, async (t) => {
    const { test, who, requests, posted, comments } = await begin(t, format)
    t.match(await test(), ARRIVED)
    t.ok(
      requests.every((line) => line.startsWith('GET') || line.includes('access_tokens')),
      'it posts nothing',
    )
    t.equal(await who(), format === 'github_app' ? `app-id:${APP}` : `account-id:${ID}`)
    await t.rejects(who('another'), { code: 'bad_request' })
    t.strictSame([posted.length, comments.length], [0, 0])
    const { test: elsewhere } = await begin(t, format, { repositories: ['acme/none'] })
    t.match(await elsewhere(), { fault: 'rejected', status: 404 })
  })
}

for (const format of ['github_app', 'gitlab'] as const) {
  t.test(`${format}: one comment on a pull request, which is kept up to date`, async (t) => {
    const { tell, comments, write } = await begin(t, format)
    for (let other = 0; other < 25; other++) write(`${MARKER}\nforged`, 666, null)
    write('another comment of ours', ID, APP)
    await tell({ verdict: 'failed', reasonCode: 'not_found' })
    t.equal(comments.length, 27)
    t.match(comments.at(-1)!.body, /\*\*failed\*\*.*rcpt_1/)
    await tell({ verdict: 'verified' })
    await tell({ verdict: 'late', profileAction: 'codehost.pull_request.merge' })
    t.equal(comments.length, 27, 'a comment that is there is changed')
    t.match(comments.at(-1)!.body, /\*\*verified\*\*.*rcpt_2.*\*\*late\*\*.*rcpt_3/s)
    t.notMatch(comments.at(-1)!.body, 'rcpt_1')
    await tell({ profileAction: 'codehost.commit.push', params: { sha: SHA } })
    t.notMatch(comments.at(-1)!.body, 'rcpt_4', 'a claim that names no pull request leads to none')
    t.ok(comments.slice(0, 25).every(({ body }) => body.endsWith('forged')))
  })

  t.test(`${format}: a report that broke off, and is sent again`, async (t) => {
    const { tell, posted, comments, faults, claims } = await begin(t, format)
    faults.push([/^GET .*(?:comments|notes)/, [502, {}]])
    t.match(await tell(), { fault: 'status', status: 502 })
    t.match(await tell(claims[0]), ARRIVED)
    t.match(await tell(claims[0]), ARRIVED)
    t.equal(comments.length, 1)
    if (format === 'github_app') t.equal(posted.length, 1, 'a check run that is there is left')
    else t.equal(new Set(posted.map((one) => JSON.stringify(one))).size, 1, 'the same status')
  })

  t.test(`${format}: no comment that its owner did not ask for`, async (t) => {
    const { tell, comments, posted } = await begin(t, format, { comments: false })
    t.match(await tell(), ARRIVED)
    t.strictSame([posted.length, comments.length], [1, 0])
  })
}
