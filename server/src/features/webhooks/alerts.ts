/**
 * Alerts: events as messages for people, in the forms that chat services take at their incoming webhooks. Titles and links are ours. Words of others, as
 * an agent's id, notify nobody, lead nowhere, and stay in their line.
 */
import type * as wire from '@claimcheck/core/api'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { REASON_WORDS, VERDICT_WORDS } from '@claimcheck/core/words/verdicts'
import { pathsIn } from '../../web/console-paths.ts'
import { failureInWords } from '../../web/failures.ts'
import { publicPaths } from '../../web/paths.ts'

/** The content of an alert, before it takes the form of one service. */
interface Alert {
  /** A sentence of ours. */
  readonly title: string
  readonly facts: readonly Fact[]
  readonly link: { readonly text: string; readonly url: string }
}

/** A name of ours with its words, which are ours as well or harmless. */
type Fact = readonly [name: string, words: string]

const byOthers = (name: string, words: string): Fact => [name, harmless(words)]

/** An event, and the number of others like it that are told with it. */
interface Told {
  readonly event: wire.Event
  readonly more: number
}

const LONGEST = 200

/** Writes the body of an alert for one service. */
type Format = (alert: Alert) => object

const FORMATS = {
  slack: toSlack,
  discord: toDiscord,
  mattermost: toMattermost,
  teams: toTeams,
} as const satisfies Readonly<Record<string, Format>>

export type AlertFormat = keyof typeof FORMATS
export const ALERT_FORMATS = Object.keys(FORMATS) as readonly AlertFormat[]

/**
 * Writes an event as the body of a message to a chat service.
 * @param own this service's own address, without a slash at the end
 */
export function alertBody(format: AlertFormat, { event, more }: Told, workspaceId: string, own: string): string {
  const alert = alertOf(event, workspaceId, own)
  const title = more > 0 ? `${alert.title} And ${more.toLocaleString('en')} more like it.` : alert.title
  return JSON.stringify(FORMATS[format]({ ...alert, title }))
}

/** Writes the message that tries a receiver. */
export function testAlert(format: AlertFormat, workspaceId: string, own: string): string {
  const title = 'This is a test. Nothing happened.'
  const link = { text: 'Open the webhooks', url: own + pathsIn(workspaceId).developers }
  return JSON.stringify(FORMATS[format]({ title, facts: [], link }))
}

function alertOf({ type, data }: wire.Event, workspaceId: string, own: string): Alert {
  const at = pathsIn(workspaceId)
  switch (type) {
    case 'claim.decided': {
      const { verdict, reason_code, agent_id, action, target, receipt_id } = data
      const reason = reason_code === null ? '' : ` ${REASON_WORDS[reason_code]}`
      const facts: readonly Fact[] = [
        ['Agent', agent_id],
        ['Action', action],
        ['Target', target],
      ]
      return {
        title: `Claim ${verdict}. ${VERDICT_WORDS[verdict!]}${reason}`,
        // Erased claims have no words.
        facts: facts.filter(([, words]) => words !== '').map(([name, words]) => byOthers(name, words)),
        link: { text: 'Open the receipt', url: own + publicPaths.receipt(receipt_id!) },
      }
    }
    case 'agent.silent':
      return {
        title: `An agent submitted no claim for ${data.hours} ${data.hours === 1 ? 'hour' : 'hours'}.`,
        facts: [byOthers('Agent', data.agent_id), ['Last claim', data.last_claim_at]],
        link: { text: 'Open the agents', url: own + at.agents },
      }
    case 'rate.jumped': {
      const [day, before] = [data.last_day, data.weeks_before].map(
        ({ not_verified, judged }) => `${not_verified} of ${judged}`,
      )
      return {
        title: `Fewer claims of an agent hold: ${day} of the last day are not verified, ${before} of the four weeks before.`,
        facts: [byOthers('Agent', data.agent_id)],
        link: { text: 'Open the agents', url: own + at.agents },
      }
    }
    case 'anchor.landed':
      return {
        title: `The log is anchored: ${data.anchor.tree_size} receipts are on the chain.`,
        facts: [['Chain', data.anchor.chain]],
        link: { text: 'Open the log', url: own + publicPaths.log },
      }
    default:
      return {
        title: TITLES[type](data),
        facts: [byOthers('Connection', data.name), byOthers('Provider', data.provider)],
        link: { text: 'Open the connections', url: own + at.connections },
      }
  }
}

type ConnectionEvent = Extract<wire.Event, { type: `connection.${string}` }>

const TITLES: Readonly<Record<ConnectionEvent['type'], (data: ConnectionEvent['data']) => string>> = {
  'connection.failing': ({ failure }) => `A connection cannot be read: ${failureInWords(failure ?? '')}.`,
  'connection.recovered': () => 'A connection is read again.',
  'connection.expiring': ({ expires_at }) => `The credentials of a connection end at ${expires_at}.`,
}

/**
 * Makes words of others harmless: in one line, without characters that are not seen, cut, and with brackets around what makes links, mentions and
 * pictures: `@here` becomes `[@]here`, `evil.example` becomes `evil[.]example`. Names such as `acme/api` and `1.2.3` stay as they are.
 */
export function harmless(words: string): string {
  const line = visibleName(words.normalize('NFKC').replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '))
  const characters = [...line]
  const cut = characters.length > LONGEST ? `${characters.slice(0, LONGEST - 1).join('')}…` : line
  return cut.replaceAll(/[.。](?=\p{L})|:(?=\S)|@|\/(?=\/)/gu, '[$&]')
}

/** By https://docs.slack.dev/messaging/formatting-message-text: plain text is read as it is, but for three characters. */
function toSlack({ title, facts, link }: Alert): object {
  const text = (words: string) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const plain = (words: string) => ({ type: 'plain_text', text: text(words), emoji: false })
  const fields = facts.map(([name, words]) => plain(`${name}: ${words}`))
  return {
    text: text(title),
    blocks: [
      { type: 'section', text: plain(title) },
      ...(fields.length > 0 ? [{ type: 'section', fields }] : []),
      { type: 'section', text: { type: 'mrkdwn', text: `<${link.url}|${link.text}>` } },
    ],
  }
}

/** By https://docs.discord.com/developers/resources/webhook: nobody is mentioned, whatever the text says. */
function toDiscord({ title, facts, link }: Alert): object {
  const fields = facts.map(([name, words]) => ({ name, value: escaped(words), inline: true }))
  const embed = { title: title.slice(0, 256), url: link.url, fields }
  return { allowed_mentions: { parse: [] }, embeds: [embed] }
}

/** By https://developers.mattermost.com/integrate/webhooks/incoming. */
function toMattermost({ title, facts, link }: Alert): object {
  const lines = facts.map(([name, words]) => `${name}: ${escaped(words)}`)
  return { text: [title, ...lines, `[${link.text}](${link.url})`].join('\n') }
}

/** By https://learn.microsoft.com/adaptive-cards: a run of text is no Markdown, as a block of text is. */
function toTeams({ title, facts, link }: Alert): object {
  const paragraph = (text: string, more: object = {}) => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, ...more }],
  })
  const content = {
    type: 'AdaptiveCard',
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    version: '1.4',
    body: [paragraph(title, { weight: 'Bolder' }), ...facts.map(([name, words]) => paragraph(`${name}: ${words}`))],
    actions: [{ type: 'Action.OpenUrl', title: link.text, url: link.url }],
  }
  const attachment = { contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }
  return { type: 'message', attachments: [attachment] }
}

/** Escapes what is Markdown. */
function escaped(words: string): string {
  return words.replaceAll(/[\\`*_{}[\]()#+\-.!<>~|]/g, '\\$&')
}
