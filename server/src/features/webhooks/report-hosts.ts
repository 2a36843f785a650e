/** Reports at code hosts: the requests by which each takes a status, a check run and a comment, and by which it tells who posts them. */
import { signingKey, signJwt } from '@claimcheck/core/hosting'
import { retryAfterMs } from '@claimcheck/core/plugin'
import type { Instant, VerdictValue } from '@claimcheck/core/rules'
import type { DeliveryFault, ReportFormat } from '../../storage/webhooks.ts'
import type { Answer, Judgement, Kind, OpenReport, Sending } from './kind.ts'
import { commentOf, isOvertaken, MARKER, type Report, reportOf } from './reports.ts'

/** The time between two reports: GitHub takes 80 requests a minute that make something. */
const GAP_MS = 1000
/** The most bytes of an answer. */
const MOST_BYTES = 256 * 1024
/** The most bytes of a page of comments, each of which may have 64 Ki characters. */
const MOST_LIST_BYTES = 4 * 1024 * 1024
const COMMENTS_PAGE = 20
const MOST_PAGES = 10

/** A refusal of a host, which ends a report. */
class Refused extends Error {
  readonly judgement: Judgement

  constructor(judgement: Judgement) {
    super(judgement.fault ?? '')
    this.judgement = judgement
  }
}

type Ask = (method: string, path: string, body?: object, mostBytes?: number) => Promise<unknown>
type Call = Sending['call']

/** The access by which a report is sent: the address of the API, and what its owner granted. */
export interface ReportAccess {
  readonly url: string
  readonly credential: string
  readonly report: Pick<OpenReport, 'app' | 'comments'>
}

interface ReportHost {
  /** Makes the headers that authorize requests. @param repository the only one that they are for; undefined to ask who reports */
  authorize(access: ReportAccess, repository: string | undefined, at: Instant, call: Call): Promise<Headers>
  /** Tells who posts the reports, as connections name it. */
  identify(ask: Ask): Promise<string>
  repository(name: string): string
  /** Posts a report, unless it is there already. */
  post(ask: Ask, root: string, report: Report, reporter: string): Promise<void>
  /** The comments of a pull request. Without it the host gets none. */
  readonly comments?: {
    list(root: string, number: number): string
    change(root: string, number: number, id: number): readonly [method: string, path: string]
    /** Tells whether a comment is by who posts the reports. */
    isBy(comment: Comment, reporter: string): boolean
  }
}

interface FoundRuns {
  readonly check_runs?: readonly { readonly external_id?: string }[]
}

interface Comment {
  readonly id: number
  readonly body: string
  readonly author?: { readonly id?: number }
  readonly performed_via_github_app?: { readonly id?: number } | null
}

/** `late` passes: the outcome is there, and the words say that it came late. What could not be checked stops a merge, and blames nobody. */
const STATES = {
  verified: 'success',
  late: 'success',
  mismatch: 'failure',
  failed: 'failure',
  unverifiable: 'error',
} as const
/** GitHub lets a required check run pass that is neutral or skipped. */
const CONCLUSIONS: Readonly<Record<VerdictValue, string>> = { ...STATES, unverifiable: 'action_required' }
const GITLAB_STATES: Readonly<Record<VerdictValue, string>> = {
  ...{ verified: 'success', late: 'success', mismatch: 'failed', failed: 'failed', unverifiable: 'canceled' },
}

const JSON_TYPE = { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'claimcheck' }
const GITHUB = { ...JSON_TYPE, accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' }

const segments = (name: string) => name.split('/').map(encodeURIComponent).join('/')
const headers = (own: Readonly<Record<string, string>>, authorization: string) => ({ ...own, authorization })
const byToken =
  (own: Readonly<Record<string, string>>, scheme: string) =>
  async ({ credential }: ReportAccess) =>
    headers(own, `${scheme} ${credential}`)

async function postStatus(ask: Ask, root: string, { sha, verdict, words, link, name }: Report): Promise<void> {
  const body = { state: STATES[verdict], target_url: link, description: words, context: name }
  await ask('POST', `${root}/statuses/${sha}`, body)
}

/** Statuses by a token, which GitHub, Gitea and Forgejo take alike. */
const byAccount = {
  identify: async (ask: Ask) => `account-id:${idIn(await ask('GET', '/user'))}`,
  repository: (name: string) => `/repos/${segments(name)}`,
  post: postStatus,
}

const HOSTS: Readonly<Record<ReportFormat, ReportHost>> = {
  github: { ...byAccount, authorize: byToken(GITHUB, 'Bearer') },
  gitea: { ...byAccount, authorize: byToken(JSON_TYPE, 'token') },
  github_app: {
    repository: byAccount.repository,
    identify: async (ask) => `app-id:${idIn(await ask('GET', '/app'))}`,
    authorize: authorizeApp,
    async post(ask, root, { sha, verdict, words, link, name }, reporter) {
      const query = new URLSearchParams({ check_name: name, app_id: reporter.replace('app-id:', ''), per_page: '1' })
      const found = (await ask('GET', `${root}/commits/${sha}/check-runs?${query}`)) as FoundRuns | undefined
      if (found?.check_runs?.[0]?.external_id === link) return
      const body = {
        ...{ name, head_sha: sha, status: 'completed', conclusion: CONCLUSIONS[verdict], details_url: link },
        external_id: link,
        output: { title: verdict, summary: words },
      }
      await ask('POST', `${root}/check-runs`, body)
    },
    comments: {
      list: (root, number) => `${root}/issues/${number}/comments?`,
      change: (root, _, id) => ['PATCH', `${root}/issues/comments/${id}`],
      isBy: ({ performed_via_github_app: app }, reporter) => reporter === `app-id:${app?.id}`,
    },
  },
  gitlab: {
    repository: (name) => `/projects/${encodeURIComponent(name)}`,
    identify: byAccount.identify,
    authorize: byToken(JSON_TYPE, 'Bearer'),
    async post(ask, root, { sha, verdict, words, link, name }) {
      const body = { state: GITLAB_STATES[verdict], target_url: link, description: words, name }
      await ask('POST', `${root}/statuses/${sha}`, body)
    },
    comments: {
      list: (root, number) => `${root}/merge_requests/${number}/notes?sort=asc&order_by=created_at&`,
      change: (root, number, id) => ['PUT', `${root}/merge_requests/${number}/notes/${id}`],
      isBy: ({ author }, reporter) => reporter === `account-id:${author?.id}`,
    },
  },
}

/** Makes the kind of webhook that reports at a host. A report that is sent again changes nothing that is there. */
export function reporting(format: ReportFormat): Kind {
  const host = HOSTS[format]
  return {
    gapMs: GAP_MS,
    gathers: false,
    async send(sending) {
      try {
        await sendReport(host, sending)
        return { fault: null }
      } catch (error) {
        if (error instanceof Refused) return error.judgement
        throw error
      }
    },
  }
}

async function sendReport(
  host: ReportHost,
  { target, message, at, ownAddress, call, reported }: Sending,
): Promise<void> {
  const { url, secrets, report: grant } = target
  const access = { url, credential: secrets[0]!, report: grant! }
  if (!message.event) {
    const [first = ''] = grant!.repositories
    await asking(access, await host.authorize(access, first, at, call), at, call)('GET', host.repository(first))
    return
  }
  if (message.event.type !== 'claim.decided') return
  const { claim_id, target: place, last_check } = message.event.data
  // As the owner spells it, and no other: what an agent wrote reaches no address.
  const repository = grant!.repositories.find((one) => one.toLowerCase() === place.toLowerCase())
  if (repository === undefined) return
  const all = await reported(grant!.targetId, claim_id, repository)
  const claim = all.find(({ claimId }) => claimId === claim_id)
  const facts = (last_check && 'facts' in last_check && last_check.facts) || {}
  const report = claim && reportOf(claim, facts, ownAddress.url())
  if (!report || isOvertaken(claim, all)) return
  const ask = asking(access, await host.authorize(access, repository, at, call), at, call)
  const root = host.repository(repository)
  await host.post(ask, root, report, grant!.reporter)
  const { number, sha } = report
  if (!host.comments || !grant!.comments || number === undefined) return
  await comment(host.comments, ask, {
    root,
    number,
    reporter: grant!.reporter,
    body: commentOf(number, sha, all, ownAddress.url()),
  })
}

async function comment(
  comments: NonNullable<ReportHost['comments']>,
  ask: Ask,
  { root, number, reporter, body }: { root: string; number: number; reporter: string; body: string },
): Promise<void> {
  const list = comments.list(root, number)
  for (let page = 1; page <= MOST_PAGES; page++) {
    const found = await ask('GET', `${list}per_page=${COMMENTS_PAGE}&page=${page}`, undefined, MOST_LIST_BYTES)
    if (!Array.isArray(found)) throw new Refused({ fault: 'bad_answer' })
    const all = found as readonly Comment[]
    // Anybody can write the marker.
    const own = all.find((one) => comments.isBy(one, reporter) && String(one.body).startsWith(MARKER))
    if (own) {
      if (own.body !== body) await ask(...comments.change(root, number, idIn(own)), { body })
      return
    }
    if (all.length < COMMENTS_PAGE) return void (await ask('POST', list.slice(0, list.indexOf('?')), { body }))
  }
  // Beyond these pages, ours may be there already: another would be added by each report.
}

/** Finds out who posts reports with these credentials. @throws Refused */
export async function whoReports(format: ReportFormat, access: ReportAccess, at: Instant, call: Call): Promise<string> {
  const host = HOSTS[format]
  return host.identify(asking(access, await host.authorize(access, undefined, at, call), at, call))
}

type Headers = Readonly<Record<string, string>>

function asking({ url }: ReportAccess, own: Headers, at: Instant, call: Call): Ask {
  return async (method, path, body, mostBytes = MOST_BYTES) => {
    const text = body && JSON.stringify(body)
    const answer = await call({ url: url + path, method, headers: own, body: text, mostBytes })
    if (answer.status < 200 || answer.status >= 300) throw new Refused(judge(answer, at))
    return valueIn(answer)
  }
}

/** By https://docs.github.com/apps: a token for one repository, for an hour. It is asked for anew, and kept nowhere. */
async function authorizeApp(
  access: ReportAccess,
  repository: string | undefined,
  at: Instant,
  call: Call,
): Promise<Headers> {
  const { app, comments } = access.report
  const seconds = Math.floor(at / 1000)
  const key = await signingKey(access.credential)
  // The host's clock may be behind, and takes no more than ten minutes.
  const jwt = await signJwt(key, undefined, { iss: app!.id, iat: seconds - 240, exp: seconds + 300 })
  const asApp = headers(GITHUB, `Bearer ${jwt}`)
  if (repository === undefined) return asApp
  const ask = asking(access, asApp, at, call)
  const permissions = { checks: 'write', ...(comments && { pull_requests: 'write' }) }
  const given = await ask('POST', `/app/installations/${app!.installation}/access_tokens`, {
    repositories: [repository.slice(repository.indexOf('/') + 1)],
    permissions,
  })
  const token = (given as { readonly token?: unknown } | null)?.token
  if (typeof token !== 'string') throw new Refused({ fault: 'bad_answer' })
  return headers(GITHUB, `Bearer ${token}`)
}

/** Answers by which a host never takes this report: it does not have the commit, or the token may not. */
const REJECTS: ReadonlySet<number> = new Set([400, 403, 404, 410, 422])

function judge({ status, headers }: Answer, at: Instant): Judgement {
  const isLimited = status === 429 || headers.has('retry-after') || headers.get('x-ratelimit-remaining') === '0'
  if (isLimited) {
    const resetAt = Number(headers.get('x-ratelimit-reset') ?? 0) * 1000
    return { fault: 'status', retryAfterMs: retryAfterMs(headers, at) ?? Math.max(resetAt - at, GAP_MS) }
  }
  if (status >= 300 && status < 400) return { fault: 'redirect' }
  return { fault: REJECTS.has(status) ? 'rejected' : ('status' satisfies DeliveryFault) }
}

function valueIn({ text }: Answer): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // What was posted has arrived, whatever the host says of it.
    return undefined
  }
}

function idIn(value: unknown): number {
  const { id } = (value ?? {}) as { readonly id?: unknown }
  if (!Number.isSafeInteger(id) || Number(id) <= 0) throw new Refused({ fault: 'bad_answer' })
  return Number(id)
}
