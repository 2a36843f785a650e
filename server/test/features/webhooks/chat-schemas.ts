/**
 * What chat services take at their incoming webhooks, with the limits that they publish, as JSON Schema. Members that this service does not use are left
 * out, so that a misspelled one is found.
 */
import type { AlertFormat } from '@claimcheck/server/features/webhooks/alerts'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

const object = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})
const text = (maxLength: number) => ({ type: 'string', minLength: 1, maxLength, pattern: '\\S' })
const HTTP = { type: 'string', pattern: '^https?://', maxLength: 2048 }

/** https://docs.slack.dev/reference/block-kit/blocks/section-block and .../composition-objects/text-object */
function slackText(maxLength: number) {
  return {
    oneOf: [
      object({ type: { const: 'plain_text' }, text: text(maxLength), emoji: { type: 'boolean' } }, ['type', 'text']),
      object({ type: { const: 'mrkdwn' }, text: text(maxLength), verbatim: { type: 'boolean' } }, ['type', 'text']),
    ],
  }
}
const slackFields = { type: 'array', minItems: 1, maxItems: 10, items: slackText(2000) }
const slackSection = object({ type: { const: 'section' }, text: slackText(3000), fields: slackFields }, ['type'])

/** https://docs.discord.com/developers/resources/message#embed-object */
const discordField = object({ name: text(256), value: text(1024), inline: { type: 'boolean' } }, ['name', 'value'])
const discordEmbed = object(
  {
    title: text(256),
    description: text(4096),
    url: HTTP,
    fields: { type: 'array', maxItems: 25, items: discordField },
  },
  [],
)

/** https://adaptivecards.io/schemas/adaptive-card.json, version 1.4, as far as Teams shows it. */
const textRun = object({ type: { const: 'TextRun' }, text: text(28_000), weight: { enum: ['Default', 'Bolder'] } }, [
  'type',
  'text',
])
const richText = object({
  type: { const: 'RichTextBlock' },
  inlines: { type: 'array', minItems: 1, items: textRun },
})
const adaptiveCard = object({
  type: { const: 'AdaptiveCard' },
  $schema: { const: 'http://adaptivecards.io/schemas/adaptive-card.json' },
  version: { const: '1.4' },
  body: { type: 'array', items: richText },
  actions: {
    type: 'array',
    maxItems: 6,
    items: object({ type: { const: 'Action.OpenUrl' }, title: text(200), url: HTTP }),
  },
})

const SCHEMAS: Readonly<Record<AlertFormat, object>> = {
  slack: object({
    text: text(40_000),
    blocks: { type: 'array', minItems: 1, maxItems: 50, items: { ...slackSection, minProperties: 2 } },
  }),
  discord: object({
    allowed_mentions: object({ parse: { type: 'array', items: { enum: ['roles', 'users', 'everyone'] } } }),
    embeds: { type: 'array', minItems: 1, maxItems: 10, items: discordEmbed },
  }),
  // https://developers.mattermost.com/integrate/webhooks/incoming: servers before 5.0 take 4,000 characters.
  mattermost: object({ text: text(4000) }),
  // https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using
  teams: object({
    type: { const: 'message' },
    attachments: {
      type: 'array',
      minItems: 1,
      items: object({
        contentType: { const: 'application/vnd.microsoft.card.adaptive' },
        contentUrl: { type: 'null' },
        content: adaptiveCard,
      }),
    },
  }),
}

/** The most bytes of a body. Discord counts the characters of all texts of its embeds. */
const MOST_BYTES: Readonly<Record<AlertFormat, number>> = {
  slack: 100_000,
  discord: 100_000,
  mattermost: 100_000,
  teams: 28 * 1024,
}
const MOST_EMBEDDED = 6000

const compiled = new Map<AlertFormat, ValidateFunction>()

/** Says what a service would refuse; empty for a body that it takes. */
export function refusals(format: AlertFormat, body: string): readonly string[] {
  const validate = compiled.get(format) ?? new Ajv2020({ allErrors: true }).compile(SCHEMAS[format])
  compiled.set(format, validate)
  const value = JSON.parse(body)
  const found = validate(value) ? [] : validate.errors!.map((error) => `${error.instancePath} ${error.message}`)
  if (Buffer.byteLength(body) > MOST_BYTES[format]) found.push('it is too large')
  if (format === 'discord' && embedded(value.embeds) > MOST_EMBEDDED) found.push('the embeds are too long')
  return found
}

function embedded(embeds: readonly { title?: string; fields?: readonly { name: string; value: string }[] }[]): number {
  const texts = embeds.flatMap(({ title = '', fields = [] }) => [
    title,
    ...fields.flatMap(({ name, value }) => [name, value]),
  ])
  return texts.join('').length
}
