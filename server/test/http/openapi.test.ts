import { FAILURE_CODES } from '@claimcheck/core/rules'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { afterFile } from '../../../test/support/after-file.ts'
import { CLAIM, KEY, startApp } from './support/server.ts'

type Json = Record<string, unknown>
interface Response {
  readonly $ref?: string
  readonly description: string
  readonly content?: Record<string, { schema: Json }>
  readonly headers?: Json
}
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: { name: string; in: string; required: boolean; schema: Json }[]
  readonly requestBody?: { content: Record<string, { schema: Json }> }
  readonly responses: Record<string, Response>
  readonly security?: Json[]
}

const app = await startApp({ publicUrl: 'https://claims.example' })
afterFile(app.close)

const description = (await app.ask('/openapi.json')).json
const operations: [string, string, Operation][] = Object.entries(
  description.paths as Record<string, Record<string, Operation>>,
).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]): [string, string, Operation] => [method, path, operation]),
)

t.test('the description is OpenAPI 3.1 and names every endpoint', async (t) => {
  t.match(description, {
    openapi: /^3\.1\./,
    info: { title: String, version: '0.1.0' },
    servers: [{ url: 'https://claims.example' }],
  })
  const own = await startApp()
  t.same((await own.ask('/openapi.json')).json.servers, [{ url: '/' }], 'without a public address: where it was read')
  await own.close()
  t.same(operations.map(([method, path]) => `${method} ${path}`).sort(), [
    'get /.well-known/poaw-keys.json',
    'get /healthz',
    'get /readyz',
    'get /readyz/read',
    'get /v1/claims',
    'get /v1/claims/{claim_id}',
    'get /v1/connections',
    'get /v1/log/anchors',
    'get /v1/log/consistency',
    'get /v1/log/entries',
    'get /v1/log/head',
    'get /v1/log/proof',
    'get /v1/profiles',
    'get /v1/receipts/{receipt_id}',
    'get /v1/receipts/{receipt_id}/evidence',
    'get /v1/whoami',
    'post /v1/claims',
  ])
})

t.test('evidence is described with every code of a check that could not read', async (t) => {
  const codes = enumsIn(description).filter((values) => values.includes('verifier_error') && values.includes('timeout'))
  t.ok(codes.length > 0)
  for (const values of codes) t.strictSame(values, FAILURE_CODES)
})

function enumsIn(value: unknown): string[][] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'enum' in value && Array.isArray(value.enum) ? [value.enum as string[]] : []
  return [...own, ...Object.values(value).flatMap(enumsIn)]
}

t.test('an operation of the API takes no query parameter that it does not declare, and says so', async (t) => {
  for (const [method, path, { responses }] of operations) {
    const isApi = path.startsWith('/v1/')
    const target = `${path.replace(/\{\w+\}/, 'some_1')}?nonsense=1`
    const body = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(CLAIM) }
    const answer = await app.ask(target, { key: KEY, method: method.toUpperCase(), ...(method === 'post' && body) })
    const mistakes = answer.status === 422 ? (answer.json.detail as { loc: unknown[]; type: string }[]) : []
    const found = mistakes.filter(({ loc, type }) => loc.join() === 'query,nonsense' && type === 'extra_forbidden')
    t.equal(found.length, isApi ? 1 : 0, `${method} ${path}`)
    t.equal(responses['422'] !== undefined, isApi, path)
  }
  t.equal((await app.ask('/v1/whoami?nonsense=1')).status, 401, 'the credential comes first')
  t.equal((await app.ask('/v1/whoami?', { key: KEY })).status, 200, 'an empty query has no parameter')
})

t.test('every operation is whole', async (t) => {
  const ids = operations.map(([, , { operationId }]) => operationId)
  t.equal(new Set(ids).size, operations.length, 'operation ids are unique')
  for (const [method, path, { summary, parameters = [], responses, requestBody }] of operations) {
    const name = `${method} ${path}`
    t.ok(summary, name)
    const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const declared = parameters.filter((parameter) => parameter.in === 'path')
    t.same(
      declared.map((parameter) => parameter.name),
      inPath,
      `${name} declares its path parameters`,
    )
    t.ok(
      declared.every(({ required, schema }) => required && schema),
      name,
    )
    t.ok(
      Object.keys(responses).some((status) => /^2\d\d$/.test(status)),
      `${name} has a success`,
    )
    t.same(responses.default, { $ref: '#/components/responses/Error' })
    for (const [status, response] of Object.entries(responses)) {
      const { description: words, content, headers } = resolved(response)
      t.ok(words, `${name} ${status} is described`)
      t.ok(content?.['application/json']?.schema ?? headers?.Location, `${name} ${status} has a schema`)
    }
    t.equal(requestBody !== undefined, method === 'post', name)
  }
})

function resolved(response: Response): Response {
  return response.$ref ? description.components.responses[response.$ref.split('/').at(-1)!] : response
}

t.test('what operations share is described once', async (t) => {
  const { Error: other, ...shared } = description.components.responses as Record<string, Response>
  t.match(other, { content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } })
  t.same(Object.keys(shared).sort(), [
    ...['BadRequest', 'Forbidden', 'Gone', 'NotFound', 'PayloadTooLarge', 'ServiceUnavailable'],
    ...['TooManyRequests', 'Unauthorized', 'UnprocessableEntity', 'UnsupportedMediaType'],
  ])
  for (const name of ['TooManyRequests', 'ServiceUnavailable']) t.ok(shared[name]?.headers?.['Retry-After'], name)
  t.ok(description.components.schemas.LogHead)
  t.notOk(description.components.schemas.Branch, 'the label of a field is no type')
})

t.test('only parameters without a default are required', async (t) => {
  const query = operations.flatMap(([, path, { parameters = [] }]) =>
    parameters
      .filter((parameter) => parameter.in === 'query' && parameter.required)
      .map(({ name }) => `${path} ${name}`),
  )
  t.same(query, ['/v1/log/proof leaf_index', '/v1/log/consistency first'])
})

t.test('routes that need a key say so, and only those', async (t) => {
  for (const [method, path, { security }] of operations) t.ok(security, `${method} ${path}`)
  const keyed = operations.filter(([, , { security }]) => security?.length).map(([, path]) => path)
  t.same(new Set(keyed), new Set(['/v1/claims', '/v1/claims/{claim_id}', '/v1/connections', '/v1/whoami']))
  t.match(description.components.securitySchemes, {
    apiKey: { type: 'http', scheme: 'bearer' },
    oauth: {
      type: 'oauth2',
      flows: {
        authorizationCode: {
          authorizationUrl: 'https://claims.example/oauth/authorize',
          tokenUrl: 'https://claims.example/oauth/token',
          scopes: {
            'claims:read': String,
            'claims:submit': String,
            'claims:revisit': String,
            'connections:read': String,
          },
        },
      },
    },
  })
  const takesTokens = operations.filter(([, , { security = [] }]) => security.some((way) => 'oauth' in way))
  t.same(
    takesTokens.map(([, path]) => path),
    ['/v1/whoami'],
  )
})

t.test('every reference leads to a component', async (t) => {
  const references = [...JSON.stringify(description).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!)
  t.ok(references.length > 20)
  for (const reference of new Set(references)) {
    const [, , kind, name] = reference.split('/')
    t.type(description.components[kind!]?.[name!], 'object', reference)
  }
})

t.test('the description says what claims of the known actions look like', async (t) => {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  ajv.addSchema(description, 'description')
  const check = ajv.compile({ $ref: 'description#/components/schemas/ClaimRequest' })
  t.ok(check(CLAIM))
  t.notOk(check({ ...CLAIM, params: { sha: 'short', branch: 'main' } }))
  t.ok(check({ ...CLAIM, action: 'mail.message.send', params: {} }))
})
