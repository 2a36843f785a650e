/** Requests to the OAuth endpoints, by which anyone may reach the service without an account. */
import type { Random } from '../crash/random.ts'
import { CLIENT, CONFIDENTIAL, RESOURCE, SECRET } from '../support/application.ts'
import {
  changedHeaders,
  changedJson,
  changedMethod,
  changedPairs,
  changedPath,
  changedType,
  formText,
  type Pairs,
  queryText,
} from './change.ts'
import type { FuzzRequest } from './request.ts'
import { escaped, nastyText } from './values.ts'

const FORM_TYPE = 'application/x-www-form-urlencoded'
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'

export interface OAuthValues {
  /** Tokens of every kind; some of them are used up on the way. */
  readonly tokens: readonly string[]
}

export function oauthRequest({ tokens }: OAuthValues, random: Random): FuzzRequest {
  const way = random.below(10)
  if (way < 3) return asking(random)
  if (way < 6) return formTo('/oauth/token', tokenFields(tokens, random), random)
  if (way < 7) return formTo('/oauth/revoke', [...clientFields(random), ['token', token(tokens, random)]], random)
  if (way < 9) return registering(random)
  const paths = [
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/.well-known/oauth-protected-resource',
    '/oauth/jwks',
    `/oauth/authorize/${escaped(nastyText(random), random)}`,
  ]
  return {
    method: changedMethod('GET', random),
    path: changedPath(random.pick(paths), random),
    headers: changedHeaders({}, random),
  }
}

function asking(random: Random): FuzzRequest {
  const client = random.pick([CLIENT, CONFIDENTIAL])
  const fields: Pairs = [
    ['response_type', 'code'],
    ['client_id', client.client_id],
    ['redirect_uri', random.pick(client.redirect_uris)],
    ['scope', 'claims:read claims:submit'],
    ['state', 's'],
    ['code_challenge', CHALLENGE],
    ['code_challenge_method', 'S256'],
    ...(random.chance(0.2) ? ([['resource', RESOURCE]] as const) : []),
    ...(random.chance(0.2)
      ? ([
          [
            random.pick(['prompt', 'max_age', 'claims', 'request', 'response_mode', 'id_token_hint', 'ui_locales']),
            nastyText(random),
          ],
        ] as const)
      : []),
  ]
  const path = `/oauth/authorize${queryText(changedPairs(fields, random), random)}`
  return { method: changedMethod('GET', random), path: changedPath(path, random), headers: changedHeaders({}, random) }
}

function clientFields(random: Random): Pairs {
  return random.chance(0.5)
    ? [['client_id', CLIENT.client_id]]
    : [
        ['client_id', CONFIDENTIAL.client_id],
        ['client_secret', random.chance(0.8) ? SECRET : nastyText(random)],
      ]
}

function tokenFields(tokens: readonly string[], random: Random): Pairs {
  if (random.chance(0.5))
    return [
      ['grant_type', 'refresh_token'],
      ...clientFields(random),
      ['refresh_token', token(tokens, random)],
      ['scope', 'claims:read'],
    ]
  return [
    [
      'grant_type',
      random.chance(0.8)
        ? 'authorization_code'
        : random.pick(['client_credentials', 'password', 'urn:ietf:params:oauth:grant-type:device_code']),
    ],
    ...clientFields(random),
    ['code', token(tokens, random)],
    ['redirect_uri', CLIENT.redirect_uris[0]!],
    ['code_verifier', 'v'.repeat(43)],
  ]
}

function token(tokens: readonly string[], random: Random): string {
  return random.chance(0.6) ? random.pick(tokens) : nastyText(random)
}

function formTo(path: string, fields: Pairs, random: Random): FuzzRequest {
  const headers = {
    'content-type': changedType(FORM_TYPE, random),
    ...(random.chance(0.2)
      ? {
          authorization: `Basic ${Buffer.from(`${CONFIDENTIAL.client_id}:${random.chance(0.5) ? SECRET : nastyText(random)}`).toString('base64')}`,
        }
      : {}),
  }
  return {
    method: changedMethod('POST', random),
    path: changedPath(path, random),
    headers: changedHeaders(headers, random),
    body: Buffer.from(formText(changedPairs(fields, random))),
  }
}

function registering(random: Random): FuzzRequest {
  const metadata = {
    client_name: 'Fuzz',
    redirect_uris: ['https://backend.example/back'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    application_type: 'native',
    ...(random.chance(0.3)
      ? {
          [random.pick([
            'jwks_uri',
            'logo_uri',
            'sector_identifier_uri',
            'jwks',
            'scope',
            'client_id',
            'software_id',
            'contacts',
          ])]: nastyText(random),
        }
      : {}),
  }
  return {
    method: changedMethod('POST', random),
    path: changedPath('/oauth/register', random),
    headers: changedHeaders({ 'content-type': changedType('application/json', random) }, random),
    body: Buffer.from(changedJson(metadata, random)),
  }
}
