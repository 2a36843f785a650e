/** The API reference as Markdown, made from the served OpenAPI description. */
import { STATUS_CODES } from 'node:http'
import { bulleted, code, fenced, page, table } from '../../../../base/markdown.ts'
import { EXAMPLES, type Example } from './examples.ts'
import { type JsonSchema, membersOf, typeOf } from './schema-members.ts'

/** The part of the OpenAPI description that a page uses. */
export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> }
}

interface Operation {
  readonly operationId: string
  readonly tags: readonly [string, ...string[]]
  readonly summary: string
  readonly description?: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Content }
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>
}

interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly schema: JsonSchema
}

type Content = Readonly<Record<string, { readonly schema: JsonSchema }>>

interface Endpoint extends Operation {
  readonly method: string
  readonly path: string
}

/** The introduction to each tag. The page of any other tag has none. */
const ABOUT: Readonly<Record<string, string>> = {
  Claims: 'An agent submits what it says that it did, and reads what became of it. Every endpoint here needs a key.',
  Events: 'What happens in the workspace, in its order: as a stream that goes on, or as a list.',
  Receipts:
    'Everyone who has the id of a receipt can read it, its evidence, and the rules behind it. No key is needed.',
  Log: 'The public log of all receipts: its signed head, its entries, proofs, and anchors. No key is needed.',
  Keys: 'The keys that sign receipts and tree heads. No key of yours is needed.',
  Workspace: 'What a credential may do, and what its workspace is connected to.',
  Webhooks:
    'Which receivers are told of the events of the workspace, and what became of each message: [webhooks](../webhooks.md). Every endpoint here needs a key.',
  Health: 'For load balancers and monitoring.',
}

/** Words by which people search for the reference. */
const KEYWORDS = 'rest, endpoints, pagination, cursor, openapi, http, curl'

// Pages link to one another as files next to those of the repository.
const FOLDER = 'server/docs/api'

/** @param origin the address of the service, which stands in examples */
export function apiPages(openApi: OpenApi, origin: string) {
  const endpoints = Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]): Endpoint => ({ ...operation, method: method.toUpperCase(), path }),
    ),
  )
  const tags = [...new Set([...Object.keys(ABOUT), ...endpoints.map(({ tags: [tag] }) => tag)])]
  const byTag = tags.map((tag) => ({ tag, endpoints: endpoints.filter(({ tags: [own] }) => own === tag) }))
  const filled = byTag.filter(({ endpoints }) => endpoints.length > 0)
  return [
    { path: 'api', file: `${FOLDER}/README.md`, keywords: KEYWORDS, text: overview(filled, origin) },
    ...filled.map(({ tag, endpoints }) => ({
      path: `api/${slugOf(tag)}`,
      file: `${FOLDER}/${slugOf(tag)}.md`,
      text: page([
        `# ${tag}`,
        ABOUT[tag],
        ...endpoints.map((endpoint) => section(endpoint, { schemas: openApi.components.schemas, origin })),
      ]),
    })),
  ]
}

interface Context {
  readonly schemas: OpenApi['components']['schemas']
  readonly origin: string
}

function overview(tags: readonly { tag: string; endpoints: readonly Endpoint[] }[], origin: string): string {
  return page([
    '# API reference',
    `The API is at ${code(origin)}. It speaks JSON. [The OpenAPI description](${origin}/openapi.json), ${code('/openapi.json')}, says the same to programs.`,
    bulleted([
      'A key (`svc_sk_...`) goes into the header `Authorization: Bearer`. Make one in the console under *Developers*.',
      'Times are RFC 3339 in UTC with three digits after the second: `2026-09-25T14:02:11.000Z`.',
      'Hashes are SHA-256 in base64url without padding: 43 characters.',
      'A refusal has a status of 400 or above and says in `detail` what is wrong: [every error, and what to do](../errors.md).',
      'Any site may read the API from a browser; only keys open what belongs to a workspace.',
    ]),
    ...tags.map(({ tag, endpoints }) =>
      page([
        `## ${tag}`,
        table(
          ['endpoint', 'what it does'],
          endpoints.map((one) => [
            code(`${one.method} ${one.path}`),
            `[${one.summary}](${slugOf(tag)}.md#${anchorOf(one)})`,
          ]),
        ),
      ]).trimEnd(),
    ),
  ])
}

function section(endpoint: Endpoint, context: Context): string {
  const { method, path, summary, description, security, parameters = [], requestBody, responses } = endpoint
  const body = schemaOf(requestBody?.content)
  const example = EXAMPLES[endpoint.operationId]
  const [status, answer] = Object.entries(responses).find(([status]) => status.startsWith('2'))!
  const answered = schemaOf(answer.content)
  return page([
    `## ${summary}`,
    `${code(`${method} ${path}`)}. ${NEEDS[Object.keys(security?.at(-1) ?? {}).join()] ?? NEEDS['']}`,
    description,
    parameters.length === 0
      ? undefined
      : table(
          ['parameter', 'in', 'form', '', 'what it is'],
          parameters.map(({ name, in: place, required, schema }) => [
            code(name),
            place,
            formOf(schema, context),
            required ? 'required' : defaultOf(schema),
            describe(schema, context),
          ]),
        ),
    body && members('body', 'required', body, context),
    example && fenced('sh', curl(endpoint, example, context.origin)),
    `Answer ${code(status)}${answered ? ':' : '.'}`,
    answered && members('answer', 'always', answered, context),
    example && fenced('json', JSON.stringify(example.answer, null, 2)),
    errors(responses, status),
  ]).trimEnd()
}

const NEEDS: Readonly<Record<string, string>> = {
  apiKey: 'Needs a key.',
  oauth: 'Needs a key, or a token of an [application](../oauth.md).',
  '': 'Needs no key.',
}

function members(name: string, must: string, schema: JsonSchema, context: Context): string | undefined {
  const rows = membersOf(schema, context.schemas)
  if (rows.length === 0) return undefined
  return table(
    [name, 'form', '', 'what it is'],
    rows.map(({ name, isRequired, schema }) => [
      code(name),
      formOf(schema, context),
      isRequired ? must : 'optional',
      describe(schema, context),
    ]),
  )
}

function formOf(schema: JsonSchema, { schemas }: Context): string {
  const { minimum, maximum } = schema
  const isSmall = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER
  return `${typeOf(schema, schemas)}${isSmall ? ` from ${minimum} to ${maximum}` : ''}`
}

function describe(schema: JsonSchema, { schemas }: Context): string {
  const own = schema.description ?? schema.anyOf?.map((one) => one.description).find(Boolean)
  if (own !== undefined) return own
  return schema.$ref === undefined ? '' : (schemas[schema.$ref.split('/').at(-1)!]?.description ?? '')
}

function defaultOf({ default: value }: JsonSchema): string {
  return value === undefined ? 'optional' : `optional, ${code(JSON.stringify(value))}`
}

/** Writes the request of an example as a reader sends it, with the key in `$KEY`. */
function curl(
  { method, path, security }: Endpoint,
  { path: values = {}, query = {}, headers = {}, body }: Example,
  origin: string,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '')
  const pairs = Object.entries(query).map(([name, value]) => `-d ${name}=${value}`)
  // curl posts by itself what has a body.
  const option = method === 'POST' && body === undefined ? '-X POST ' : ''
  return [
    `curl -s ${pairs.length > 0 ? '-G ' : ''}${option}${origin}${filled}`,
    ...pairs,
    ...(security?.length ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...Object.entries(headers).map(([name, value]) => `-H '${name}: ${value}'`),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d '${JSON.stringify(body, null, 2)}'`]),
  ].join(' \\\n  ')
}

function errors(responses: Endpoint['responses'], answered: string): string | undefined {
  const refused = Object.keys(responses).filter((status) => status !== answered && Number(status) >= 400)
  if (refused.length === 0) return undefined
  const links = refused.map(
    (status) => `[${status} ${STATUS_CODES[status]}](../errors.md#${status}-${slugOf(STATUS_CODES[status]!)})`,
  )
  return `Refusals: ${links.join(', ')}.`
}

function schemaOf(content: Content | undefined): JsonSchema | undefined {
  return content && Object.values(content)[0]?.schema
}

function anchorOf({ summary }: Endpoint): string {
  return slugOf(summary).replaceAll(/[^\w-]/g, '')
}

function slugOf(text: string): string {
  return text.toLowerCase().replaceAll(' ', '-')
}
