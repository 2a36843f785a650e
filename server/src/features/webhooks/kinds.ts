/** The kinds of webhooks: each turns an event into requests to a receiver, and tells by the answers whether it arrived. */
import { retryAfterMs } from '@claimcheck/core/plugin'
import { type Instant, VERDICTS } from '@claimcheck/core/rules'
import { type DeliveryFault, NO_FILTERS, type WebhookFilters, type WebhookFormat } from '../../storage/webhooks.ts'
import { ALERT_FORMATS, type AlertFormat, alertBody, testAlert } from './alerts.ts'
import type { Answer, Kind } from './kind.ts'
import { bodyOf, messageHeaders, testBody } from './message.ts'
import { reporting } from './report-hosts.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const ASKS_TO_WAIT: ReadonlySet<number> = new Set([429, 503])

const standard: Kind = {
  gapMs: 0,
  gathers: false,
  async send({ target: { url, secrets }, message: { id, event }, at, ownAddress, post }) {
    const body = event ? bodyOf(event, ownAddress) : testBody(at)
    const answer = await post({ url, headers: messageHeaders(id, secrets, body, at), body })
    return { fault: faultOf(answer.status), retryAfterMs: waitOf(answer, at) }
  },
}

/** The rules of a chat service, as patterns of a status, a blank and the beginning of a body. */
interface ChatService {
  readonly gapMs: number
  /** The query that makes the service say whether it stored the message. */
  readonly query?: Readonly<Record<string, string>>
  readonly arrived: RegExp
  /** Answers by which this address takes no message any more. */
  readonly gone: RegExp
  /** Answers by which the service never takes this message. */
  readonly rejected: RegExp
}

const CHAT_SERVICES: Readonly<Record<AlertFormat, ChatService>> = {
  // https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks and https://docs.slack.dev/apis/web-api/rate-limits
  slack: { gapMs: 1000, arrived: /^200 ok$/, gone: /^(403|404|410) /, rejected: /^400 / },
  // https://docs.discord.com/developers/resources/webhook. A channel takes 30 messages a minute.
  discord: {
    gapMs: 2000,
    query: { wait: 'true' },
    arrived: /^(200|204) /,
    gone: /^(401|403|404|410) /,
    rejected: /^400 /,
  },
  // https://developers.mattermost.com/integrate/webhooks/incoming. A proxy before it may answer 404 by itself, in no JSON.
  mattermost: {
    gapMs: 1000,
    arrived: /^200 ok$/,
    gone: /^400 .*"web\.incoming_webhook\.invalid\.app_error"|^(403|404) .*"status_code"/s,
    rejected: /^400 /,
  },
  // https://learn.microsoft.com/connectors/teams: the trigger answers 202 before its workflow posts.
  teams: {
    gapMs: 1000,
    arrived: /^202 /,
    gone: /^(401|403|404|410) |^400 .*WorkflowTriggerIsNotEnabled/s,
    rejected: /^400 /,
  },
}

/** Makes the kind of a chat service. Its address alone gives the right to post, so that nothing is signed. */
function chat(format: AlertFormat): Kind {
  const { gapMs, query = {}, arrived, gone, rejected } = CHAT_SERVICES[format]
  return {
    gapMs,
    gathers: true,
    async send({ target: { workspaceId, url }, message: { id, event, more }, at, ownAddress, call }) {
      const own = ownAddress.url()
      const body = event ? alertBody(format, { event, more }, workspaceId, own) : testAlert(format, workspaceId, own)
      const address = new URL(url)
      for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value)
      const headers = { ...JSON_TYPE, 'webhook-id': id }
      const answer = await call({ url: address.href, method: 'POST', headers, body })
      const said = `${answer.status} ${answer.text.trim()}`
      if (arrived.test(said)) return { fault: null }
      if (gone.test(said)) return { fault: 'gone' }
      if (rejected.test(said)) return { fault: 'rejected' }
      // A page that answers 200 to everything is no chat service.
      return { fault: faultOf(answer.status) ?? 'bad_answer', retryAfterMs: waitOf(answer, at) }
    },
  }
}

const KINDS: Readonly<Record<WebhookFormat, Kind>> = {
  standard,
  slack: chat('slack'),
  discord: chat('discord'),
  mattermost: chat('mattermost'),
  teams: chat('teams'),
  github: reporting('github'),
  github_app: reporting('github_app'),
  gitlab: reporting('gitlab'),
  gitea: reporting('gitea'),
}

export function kindOf(format: WebhookFormat): Kind {
  return KINDS[format]
}

/** Tells whether a format is read by people. */
export function isAlert(format: WebhookFormat): format is AlertFormat {
  return (ALERT_FORMATS as readonly WebhookFormat[]).includes(format)
}

const ALERTING: WebhookFilters = {
  ...NO_FILTERS,
  types: [
    'claim.decided',
    'connection.failing',
    'connection.recovered',
    'connection.expiring',
    'agent.silent',
    'rate.jumped',
  ],
  verdicts: VERDICTS.filter((verdict) => verdict !== 'verified'),
}

/** Returns the filters that a new webhook has before its owner chooses others. People are told of what is not as it should be. */
export function usualFilters(format: WebhookFormat): WebhookFilters {
  return isAlert(format) ? ALERTING : NO_FILTERS
}

function faultOf(status: number): DeliveryFault | null {
  if (status >= 200 && status < 300) return null
  if (status === 410) return 'gone'
  // A redirect is not followed: its receiver never got the approval of an owner.
  return status >= 300 && status < 400 ? 'redirect' : 'status'
}

/** Reads the time to wait from `Retry-After`, and from Discord's `retry_after`, in seconds with a fraction. */
function waitOf({ status, headers, text }: Answer, at: Instant): number | undefined {
  if (!ASKS_TO_WAIT.has(status)) return undefined
  const [, seconds = '0'] = /"retry_after"\s*:\s*(\d+(?:\.\d+)?)/.exec(text) ?? []
  const waits = [retryAfterMs(headers, at) ?? 0, Math.ceil(Number(seconds) * 1000)].filter((wait) => wait > 0)
  return waits.length > 0 ? Math.max(...waits) : undefined
}
