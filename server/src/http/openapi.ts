/** The OpenAPI description, generated from the schemas that the routes validate with. */
import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { ErrorBody } from '@claimcheck/core/api'
import type { TSchema } from '@claimcheck/core/plugin'
import swagger from '@fastify/swagger'
import type { FastifySchema } from 'fastify'
import type { App } from './instance.ts'

/** The version of the API, which is independent of the program's version. */
const API_VERSION = '0.1.0'

type Json = Record<string, unknown>

/** Ways to authenticate requests, in OpenAPI's form. */
export type SecuritySchemes = Readonly<Record<string, object>>

/** The bodies of the requests that the service sends to receivers, by what they tell of. */
export type WebhookBodies = Readonly<Record<string, TSchema>>

/** Serves the description of the routes. Call it before they are declared, because it records them as they are. */
export async function describeApi(
  app: App,
  publicUrl: string | undefined,
  { securitySchemes = {}, webhooks = {} }: { securitySchemes?: SecuritySchemes; webhooks?: WebhookBodies },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Claimcheck',
        version: API_VERSION,
        description:
          'Checks claims of software agents by reading the destination itself, and issues receipts that anyone can check.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicUrl ?? SAME_SERVER }],
      components: {
        securitySchemes: securitySchemes as Record<string, never>,
      },
    },
    // A route names every way to authenticate, also those that this service does without.
    transform: ({ schema, url }) => {
      const { security = [] } = schema ?? {}
      const offered = security.filter((ways) => Object.keys(ways).every((way) => way in securitySchemes))
      const described = { ...schema, security: offered }
      return { schema: offered.length > 0 ? withTreeHead(described) : described, url }
    },
    transformObject: (document) => {
      if (!('openapiObject' in document)) return document.swaggerObject
      return withComponents(document.openapiObject as Json, webhooks)
    },
  })
}

/** Adds the tree heads that requests with a credential may carry and their answers have. Nothing validates them: no head fails a request. */
function withTreeHead(schema: FastifySchema): FastifySchema {
  const answers = Object.entries((schema.response ?? {}) as Json).map(([status, answer]) => {
    return [status, status.startsWith('2') ? { ...(answer as Json), headers: { [TREE_HEAD]: ANSWERED_HEAD } } : answer]
  })
  const headers = { type: 'object', properties: { [TREE_HEAD]: { type: 'string', description: SENT_HEAD } } }
  return { ...schema, headers, response: Object.fromEntries(answers) }
}

const TREE_HEAD = 'Poaw-Tree-Head'
const SENT_HEAD =
  'The newest signed tree head that you saw in an answer of this service, unchanged. The service looks at it after the answer: one that its log does not contain stops the log.'
const ANSWERED_HEAD = {
  type: 'string',
  description:
    'The newest signed tree head, as a dictionary of structured fields (RFC 9651): `log_id`, `tree_size`, `root_hash`, `issued_at`, `key_id`, `signature`.',
}

/** The server where there is no `PUBLIC_URL`: the one that sent the description. */
const SAME_SERVER = '/'

/**
 * Moves what operations share to the components: each wire type, so that generated clients get a named type, and each refusal. Adds to every
 * operation that any other status is a refusal.
 */
function withComponents(document: Json, webhooks: WebhookBodies): Json {
  const schemas: Json = {}
  const responses: Json = { Error: { description: 'Any other refusal', content: jsonOf(hoist(ErrorBody)) } }

  function hoist(value: unknown, name?: string): unknown {
    if (typeof value !== 'object' || value === null || DATA_KEYWORDS.has(name)) return value
    if (Array.isArray(value)) return value.map((item) => hoist(item, name === 'parameters' ? 'parameter' : undefined))
    const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, hoist(member, key)]))
    if (name === 'responses') return describeResponses(copy as Record<string, Response>)
    if (name === 'parameter') return { ...copy, required: copy.required && !hasDefault(copy.schema) }
    const { title } = copy
    if (copy.type !== 'object' || !isTypeName(title)) return copy
    schemas[title] ??= copy
    // Two plugins may use the same title for different schemas.
    if (!isDeepStrictEqual(schemas[title], copy)) return copy
    return { $ref: `#/components/schemas/${title}` }
  }

  function describeResponses(given: Readonly<Record<string, Response>>): Json {
    const described = Object.entries(given).map(([status, response]) => [
      status,
      sharedRefusal(status, response) ?? { ...response, description: STATUS_CODES[status] },
    ])
    return { ...Object.fromEntries(described), default: { $ref: '#/components/responses/Error' } }
  }

  /**
   * Makes a component of a refusal that operations share.
   * @returns undefined for a refusal that only this operation has, such as the 503 of health checks
   */
  function sharedRefusal(status: string, { content }: Response): Json | undefined {
    if (Number(status) < 400) return undefined
    const description = STATUS_CODES[status]!
    const name = description.replaceAll(' ', '')
    const refusal = { description, ...(SAYS_WHEN.has(status) ? { headers: RETRY_AFTER } : {}), content }
    responses[name] ??= refusal
    return isDeepStrictEqual(responses[name], refusal) ? { $ref: `#/components/responses/${name}` } : undefined
  }

  const named = hoist(document) as Json & { components: Json }
  const sent = Object.entries(webhooks).map(([name, body]) => [
    name,
    toWebhook(name, (body as Json).description, hoist(body)),
  ])
  return { ...named, webhooks: Object.fromEntries(sent), components: { ...named.components, schemas, responses } }
}

/** Describes a request that receivers get, by the specification Standard Webhooks. */
function toWebhook(name: string, summary: unknown, body: unknown): Json {
  const parameters = WEBHOOK_HEADERS.map(([name, description]) => {
    return { name, in: 'header', required: true, description, schema: { type: 'string' } }
  })
  const responses = { '2XX': { description: 'It has arrived' }, default: { description: 'It is sent again' } }
  return {
    post: {
      operationId: name.replace(/\.(.)/g, (_, letter: string) => letter.toUpperCase()),
      summary,
      tags: ['Webhooks'],
      security: [],
      parameters,
      requestBody: { required: true, content: jsonOf(body) },
      responses,
    },
  }
}

const WEBHOOK_HEADERS = [
  ['webhook-id', 'The id of the message, the same at each try.'],
  ['webhook-timestamp', 'The time of this try, in seconds since 1970.'],
  ['webhook-signature', 'Signatures, with blanks between them: one of them is by the secret of the receiver.'],
] as const

interface Response {
  readonly content?: Json
}

function jsonOf(schema: unknown): Json {
  return { 'application/json': { schema } }
}

/** Tells whether a schema's title is the name of a type. Titles in the schemas of plugins are labels, such as `Merge commit`. */
function isTypeName(title: unknown): title is string {
  return typeof title === 'string' && /^([A-Z][a-z]+)+$/.test(title)
}

/** Tells whether a parameter has a default: it is optional then, although its schema, after defaults are applied, requires it. */
function hasDefault(schema: unknown): boolean {
  return (schema as Json).default !== undefined
}

// The values of these keywords are data, even when they look like schemas.
const DATA_KEYWORDS: ReadonlySet<string | undefined> = new Set(['examples', 'example', 'default', 'enum', 'const'])

const SAYS_WHEN: ReadonlySet<string> = new Set(['429', '503'])
const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds until it may be tried again.', schema: { type: 'integer', minimum: 0 } },
}
