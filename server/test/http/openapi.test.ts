import { FAILURE_CODES } from '@claimcheck/core/rules'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import t from 'tap'
import { afterFile } from '../../../test/support/after-file.ts'
import { UNREAD } from '../support/rows.ts'
import { CLAIM, KEY, startApp, WORKSPACE } from './support/server.ts'
import {
  ANCHOR,
  claimStatus,
  hash,
  memoryClaims,
  memoryConnections,
  memoryKeys,
  memoryLog,
  memoryReceipts,
  NOW,
  SIGNATURE,
} from './support/services.ts'

type Json = Record<string, unknown>
interface Operation {
  readonly operationId: string
  readonly summary: string
  readonly parameters?: { name: string; in: string; required: boolean; schema: Json }[]
  readonly requestBody?: { content: Record<string, { schema: Json }> }
  readonly responses: Record<string, { description: string; content: Record<string, { schema: Json }> }>
  readonly security?: Json[]
}

const RECEIPT = {
  body: {
    spec_version: 'poaw/0.1',
    receipt_id: 'rcpt_1',
    issued_at: new Date(NOW).toISOString(),
    issuer: { key_id: SIGNATURE.key_id, name: 'x' },
    agent: { id: 'release-bot' },
    claim: { ...CLAIM, claim_digest: hash('claim') },
    observation: {
      verifier: { id: CLAIM.action, version: '1' },
      observed_at: new Date(NOW).toISOString(),
      deadline_at: new Date(NOW).toISOString(),
      attempts: 1,
      facts: { found: true },
      appeared: {
        not_before: new Date(NOW).toISOString(),
        not_after: new Date(NOW).toISOString(),
        source: 'observation',
      },
    },
    verdict: { value: 'late', reason_code: 'observed_after_tolerance' },
    trust_level: 2,
  },
  signature: SIGNATURE,
  proof: {
    log_id: hash('log'),
    leaf_index: 0,
    tree_size: 1,
    root_hash: hash('root'),
    inclusion: [hash('node')],
    anchor: { chain: ANCHOR.chain, scheme: 'eas', uid: ANCHOR.uid, tx_hash: ANCHOR.txHash, tree_size: 1 },
  },
}
const { agent_id: _, ...receiptClaim } = RECEIPT.body.claim
const KEYS = {
  issuer: 'x',
  log_id: hash('log'),
  keys: [
    { key_id: SIGNATURE.key_id, public_key: hash('key'), valid_from: new Date(NOW).toISOString(), revoked_at: null },
  ],
  anchor_addresses: [],
  anchor_schemas: [],
}

const claims = memoryClaims()
const app = await startApp({
  services: {
    claims,
    keys: memoryKeys({
      [KEY]: { kind: 'key', keyId: 'key_1', workspaceId: WORKSPACE, agentIds: null, bindsAgents: false },
    }),
    log: memoryLog(120),
    receipts: memoryReceipts({
      rcpt_1: JSON.stringify({ ...RECEIPT, body: { ...RECEIPT.body, claim: receiptClaim } }),
    }),
    connections: memoryConnections([
      {
        id: 'conn_1',
        workspaceId: WORKSPACE,
        provider: 'git',
        options: {},
        scopes: [],
        ...UNREAD,
        name: 'Git, acme',
        usualName: 'Git, acme',
        connectedAt: NOW,
        disconnectedAt: null,
        actions: [],
        aliases: [],
      },
    ]),
  },
  keyDocument: async () => KEYS,
  publicUrl: 'https://claims.example',
})
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
    for (const [status, { description: words, content }] of Object.entries(responses)) {
      t.ok(words, `${name} ${status} is described`)
      t.ok(content['application/json']?.schema, `${name} ${status} has a schema`)
    }
    t.equal(requestBody !== undefined, method === 'post', name)
  }
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
          scopes: { 'claims:read': String, 'claims:submit': String, 'connections:read': String },
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

t.test('every reference leads to a named schema', async (t) => {
  const references = [...JSON.stringify(description).matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!)
  t.ok(references.length > 20)
  for (const reference of new Set(references)) {
    const name = reference.replace('#/components/schemas/', '')
    t.type(description.components.schemas[name], 'object', reference)
  }
})

t.test('the description says what claims of the known actions look like', async (t) => {
  const ajv = schemas()
  const check = ajv.compile({ $ref: 'description#/components/schemas/ClaimRequest' })
  t.ok(check(CLAIM))
  t.notOk(check({ ...CLAIM, params: { sha: 'short', branch: 'main' } }))
  t.ok(check({ ...CLAIM, action: 'mail.message.send', params: {} }))
})

t.test('answers have what their schemas say, and nothing that they do not say', async (t) => {
  const read = { sentAt: NOW, answeredAt: NOW, clockOffsetMs: 0 }
  const input = { clientClaimId: 'a', agentId: 'a', action: 'a.b.c', target: 'x', params: {}, claimedAt: NOW }
  const failing = { sentAt: NOW, answeredAt: NOW, failure: { code: 'unavailable', status: 500 } } as const
  const differing = { ...read, observation: { kind: 'present', facts: { n: 1 }, differs: ['branch'] } } as const
  claims.put(WORKSPACE, claimStatus(input, { claimId: 'clm_1', lastCheck: failing }))
  claims.put(
    WORKSPACE,
    claimStatus(input, {
      claimId: 'clm_2',
      lastCheck: differing,
      state: 'decided',
      verdict: 'mismatch',
      reasonCode: 'target_mismatch',
      receiptId: 'rcpt_1',
      nextCheckAt: null,
    }),
  )
  const rows: [string, string, number, string?][] = [
    ['post', '/v1/claims', 202, JSON.stringify(CLAIM)],
    ['post', '/v1/claims', 422, '{}'],
    ['post', '/v1/claims', 415, 'x'],
    ['get', '/v1/claims', 200],
    ['get', '/v1/claims?limit=0', 422],
    ['get', '/v1/claims?cursor=x', 400],
    ['get', '/v1/claims/clm_1', 200],
    ['get', '/v1/claims/clm_2', 200],
    ['get', '/v1/claims/clm_9', 404],
    ['get', '/v1/receipts/rcpt_1', 200],
    ['get', '/v1/receipts/rcpt_9', 404],
    ['get', '/.well-known/poaw-keys.json', 200],
    ['get', '/v1/whoami', 200],
    ['get', '/v1/connections', 200],
    ['get', '/v1/log/head', 200],
    ['get', '/v1/log/entries', 200],
    ['get', '/v1/log/entries?start=0', 200],
    ['get', '/v1/log/entries?start=999', 404],
    ['get', '/v1/log/proof?leaf_index=0', 200],
    ['get', '/v1/log/proof?leaf_index=999', 400],
    ['get', '/v1/log/consistency?first=1', 200],
    ['get', '/v1/log/consistency?first=0', 400],
    ['get', '/v1/log/anchors', 200],
    ['get', '/v1/log/anchors?limit=0', 422],
    ['get', '/healthz', 200],
    ['get', '/readyz', 200],
    ['get', '/readyz/read', 200],
  ]
  const ajv = schemas()
  for (const [method, path, status, body] of rows) {
    const headers = { 'content-type': status === 415 ? 'text/plain' : 'application/json' }
    const answer = await app.ask(path, {
      method: method.toUpperCase(),
      key: KEY,
      headers,
      ...(body === undefined ? {} : { body }),
    })
    t.equal(answer.status, status, `${method} ${path}`)
    const template = path
      .replace(/\?.*/, '')
      .replace(/\/clm_.*/, '/{claim_id}')
      .replace(/\/rcpt_.*/, '/{receipt_id}')
    const pointer = `/paths/${template.replaceAll('/', '~1')}/${method}/responses/${status}/content/application~1json/schema`
    const check = ajv.compile({ $ref: `description#${encodeURI(pointer)}` })
    t.ok(check(answer.json), `${method} ${path} ${status} ${JSON.stringify(check.errors)}`)
  }
})

/** The served description, in which objects with named members have no others. */
function schemas() {
  const ajv = new Ajv2020({ strict: false })
  addFormats.default(ajv)
  const close = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(close)
    if (typeof value !== 'object' || value === null) return value
    const copy = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, close(member)]))
    return copy.type === 'object' && copy.properties ? { additionalProperties: false, ...copy } : copy
  }
  ajv.addSchema(close(description) as object, 'description')
  return ajv
}
