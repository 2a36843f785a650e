/** Requests access tokens by grant, and reads the answers. Nothing of a check's own request gets into them. */
import { DestinationError, isDestinationError } from '../../contract/destination-error.ts'
import { statusError } from '../../contract/http.ts'
import { utf8 } from '../../encoding.ts'
import { isJsonObject, type JsonObject, type JsonValue, objectIn } from '../../json.ts'
import { parseUrl } from '../../url.ts'
import { encodeBase64 } from './hashes.ts'
import { signingKey, signJwt } from './jwt.ts'
import { isAccessToken, percentEncode } from './messages.ts'
import type { AccessToken, ExchangeAnswer, NewTokens, Outgoing, RefreshFailure, TokenHost } from './scheme.ts'
import { fillTemplate, OPTION } from './templates.ts'

/**
 * An access token that the host gets from a token endpoint and sends as `Authorization: Bearer`. Nothing of a check's request reaches the
 * token request or what is signed for it. The token endpoint has to be the destination itself or one of the manifest's `tokenHosts`.
 */
export type OAuth2Credential = ClientCredentials | RefreshTokenCredential | JwtBearerCredential | GitHubAppCredential

/** Text in which `{option.<name>}` is what the workspace typed into an option that is not secret. */
type OptionTemplate = string

/** The client's authentication at the token endpoint. Without a secret it names its id only. */
interface OAuth2Client {
  /** The name of the option that holds the client's id. */
  readonly clientId: string
  /** The name of the secret option that holds the client's secret. */
  readonly clientSecret?: string
  /** The place of the secret in the request. Defaults to `basic`. */
  readonly authentication?: 'basic' | 'post'
}

interface TokenRequest {
  readonly scheme: 'oauth2'
  readonly tokenUrl: OptionTemplate
  readonly scope?: OptionTemplate
}

/** The grant of client credentials (RFC 6749 4.4). */
export interface ClientCredentials extends TokenRequest, OAuth2Client {
  readonly grant: 'clientCredentials'
  readonly clientSecret: string
}

/** The grant of a refresh token (RFC 6749 6). Each refresh may bring another refresh token, which the host stores before it uses the access token. */
export interface RefreshTokenCredential extends TokenRequest, OAuth2Client {
  readonly grant: 'refreshToken'
  /** The name of the secret option that holds the first refresh token. */
  readonly refreshToken: string
}

/** The grant of a JWT (RFC 7523 2.1) that a service account of Google signs. */
export interface JwtBearerCredential extends TokenRequest {
  readonly grant: 'jwtBearer'
  /** The name of the secret option that holds the JSON file of the service account's key. */
  readonly privateKey: string
}

/** An installation of a GitHub App. */
export interface GitHubAppCredential {
  readonly scheme: 'oauth2'
  readonly grant: 'githubApp'
  /** The address of GitHub's API, such as `https://api.github.com`. */
  readonly apiUrl: OptionTemplate
  /** The name of the option that holds the app's id or its client id. */
  readonly appId: string
  /** The name of the option that holds the installation's id. */
  readonly installationId: string
  /** The name of the secret option that holds the app's private key in PEM. */
  readonly privateKey: string
  /** The most that a token may do: it has those of these permissions that the installation has, and only to read. */
  readonly permissions: Readonly<Record<string, 'read'>>
}

type Fields = Readonly<Record<string, string | undefined>>

/**
 * Gets an access token by the credential's grant.
 * @param isUsable tells whether a stored token will do
 * @throws DestinationError where the token endpoint gives none
 */
export async function newToken(
  credential: OAuth2Credential,
  host: TokenHost,
  isUsable: (token: AccessToken) => boolean,
): Promise<AccessToken> {
  switch (credential.grant) {
    case 'clientCredentials':
      return exchangeToken(host, await byClient(credential, host, { grant_type: 'client_credentials' }))
    case 'jwtBearer':
      return exchangeToken(host, await byAssertion(credential, host))
    case 'githubApp':
      return exchangeToken(host, await byApp(credential, host))
    case 'refreshToken':
      return refreshTokenOf(credential, host, isUsable)
  }
}

async function exchangeToken(host: TokenHost, request: Outgoing): Promise<AccessToken> {
  const since = host.now()
  const { accessToken, until } = tokenIn(await host.exchange(request, { outlives: true }), since, host)
  return { accessToken, since, until }
}

async function refreshTokenOf(
  credential: RefreshTokenCredential,
  host: TokenHost,
  isUsable: (token: AccessToken) => boolean,
): Promise<AccessToken> {
  const { refreshToken: option } = credential
  return host.refreshes.refresh({
    option,
    typed: host.required(option),
    isUsable,
    async exchange(refreshToken): Promise<NewTokens | RefreshFailure> {
      let answer: ExchangeAnswer | undefined
      try {
        const request = await byClient(credential, host, { grant_type: 'refresh_token', refresh_token: refreshToken })
        const since = host.now()
        answer = await host.exchange(request, { outlives: true })
        return { ...tokenIn(answer, since, host), since }
      } catch (cause) {
        const error = isDestinationError(cause) ? cause : new DestinationError('unexpected_response', { cause })
        return { error, again: answer ? againAfter(answer) : 'at once' }
      }
    },
  })
}

function againAfter({ status, text }: ExchangeAnswer): RefreshFailure['again'] {
  // A refresh token is sent again at once after a success whose tokens cannot be read, and after the error of a gateway.
  if (status < 300 || (status >= 500 && status !== 503)) return 'at once'
  return objectIn(text).error === 'invalid_grant' ? 'never' : 'later'
}

async function byClient(
  credential: ClientCredentials | RefreshTokenCredential,
  host: TokenHost,
  grant: Fields,
): Promise<Outgoing> {
  const { clientSecret, authentication = 'basic' } = credential
  const url = urlIn(credential.tokenUrl, host)
  const id = host.required(credential.clientId)
  const fields = { ...grant, scope: textIn(credential.scope, host) }
  if (clientSecret === undefined) return form(url, { ...fields, client_id: id })
  const secret = host.required(clientSecret)
  if (authentication === 'post') return form(url, { ...fields, client_id: id, client_secret: secret })
  // RFC 6749 2.3.1 has the id and the secret each encoded as in a form.
  const pair = [id, secret].map((part) => percentEncode(part).replace(/%20/g, '+')).join(':')
  return form(url, fields, `Basic ${encodeBase64(utf8(pair))}`)
}

async function byAssertion(credential: JwtBearerCredential, host: TokenHost): Promise<Outgoing> {
  const url = urlIn(credential.tokenUrl, host)
  const text = host.required(credential.privateKey)
  const { private_key: pem, client_email: issuer, private_key_id: keyId } = objectIn(text)
  if (typeof pem !== 'string' || typeof issuer !== 'string') throw new DestinationError('misconfigured')
  const scope = textIn(credential.scope, host)
  const assertion = await signJwt(await signingKey(pem), typeof keyId === 'string' ? keyId : undefined, {
    iss: issuer,
    aud: url.href,
    // Google reads the scope in the signed claims; RFC 7521 has it in the request.
    ...(scope !== undefined && { scope }),
    ...lifetime(host),
    jti: host.nonce(),
  })
  return form(url, { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion, scope })
}

async function byApp(credential: GitHubAppCredential, host: TokenHost): Promise<Outgoing> {
  const id = host.required(credential.installationId)
  if (!/^[0-9]{1,20}$/.test(id)) throw new DestinationError('misconfigured')
  const api = textIn(credential.apiUrl, host)?.replace(/\/+$/, '')
  const url = parseUrl(`${api}/app/installations/${id}`)
  if (!url) throw new DestinationError('misconfigured')
  const key = await signingKey(host.required(credential.privateKey))
  const jwt = await signJwt(key, undefined, { iss: host.required(credential.appId), ...lifetime(host) })
  const headers = new Headers({
    accept: 'application/vnd.github+json',
    'content-type': 'application/json',
    'user-agent': 'claimcheck',
    authorization: `Bearer ${jwt}`,
  })
  const installation = await host.exchange({ url, method: 'GET', headers }, { outlives: true })
  // The app is known by its signature, so a 404 is of an installation that it does not have, or has no more.
  if (installation.status === 404) throw new DestinationError('unauthorized')
  const given = objectIn(installation.text)
  if (installation.status !== 200) throw failure(installation, given, host.now())
  // GitHub gives no token to a request that names a permission which the installation lacks.
  const granted = isJsonObject(given.permissions) ? given.permissions : {}
  const permissions = Object.entries(credential.permissions).filter(([name]) => Object.hasOwn(granted, name))
  // Without permissions in its body, the request asks for all that the installation has.
  if (permissions.length === 0) throw new DestinationError('forbidden')
  return {
    url: new URL(`${url.href}/access_tokens`),
    method: 'POST',
    headers,
    body: JSON.stringify({ permissions: Object.fromEntries(permissions) }),
  }
}

/** Seconds by which a lifetime begins early, because the token endpoint's clock may be behind. GitHub takes none longer than ten minutes. */
const BEFORE_SECONDS = 240
const AFTER_SECONDS = 300

function lifetime({ now }: TokenHost): { readonly iat: number; readonly exp: number } {
  const seconds = Math.floor(now() / 1000)
  return { iat: seconds - BEFORE_SECONDS, exp: seconds + AFTER_SECONDS }
}

function form(url: URL, fields: Fields, authorization?: string): Outgoing {
  const given = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  const headers = new Headers({ accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' })
  if (authorization !== undefined) headers.set('authorization', authorization)
  return { url, method: 'POST', headers, body: new URLSearchParams(given).toString() }
}

function textIn(template: string | undefined, host: TokenHost): string | undefined {
  return template === undefined ? undefined : fillTemplate(template, (part) => host.required(part.slice(OPTION.length)))
}

/** Fills in a URL. An option at its beginning is a URL, as in `{option.url}/token`; elsewhere it is a host with or without a port, or a segment. */
function urlIn(template: string, host: TokenHost): URL {
  const text = fillTemplate(template, (part, at) => {
    const value = host.required(part.slice(OPTION.length))
    return at === 0 ? value.replace(/\/+$/, '') : percentEncode(value).replaceAll('%3A', ':')
  })
  const url = parseUrl(text)
  if (!url) throw new DestinationError('misconfigured')
  return url
}

const USUAL_SECONDS = 300
const LEAST_SECONDS = 10
const MOST_SECONDS = 24 * 60 * 60
/** Seconds before the end of a token at which it is replaced; half of a short life. */
const MARGIN_SECONDS = 60

/** The errors of RFC 6749 5.2 that refuse the credentials. */
const REFUSALS: ReadonlySet<JsonValue | undefined> = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'access_denied',
])

/**
 * Reads the tokens in the answer of a token endpoint.
 * @param since the time of the request
 * @throws DestinationError for an answer without an access token
 */
function tokenIn(answer: ExchangeAnswer, since: number, { now }: TokenHost): Omit<NewTokens, 'since'> {
  const { status, text } = answer
  const given = objectIn(text)
  if (status !== 200 && status !== 201) throw failure(answer, given, now())
  const { access_token, token = access_token, token_type: type = 'bearer', refresh_token: refreshToken } = given
  const isBearer = typeof type === 'string' && type.toLowerCase() === 'bearer'
  if (!isAccessToken(token) || !isBearer) throw new DestinationError('unexpected_response')
  const seconds = Math.min(Math.max(secondsOf(given, since), LEAST_SECONDS), MOST_SECONDS)
  const until = since + Math.max(seconds - MARGIN_SECONDS, seconds / 2) * 1000
  return {
    accessToken: token,
    until,
    ...(typeof refreshToken === 'string' && refreshToken !== '' && { refreshToken }),
  }
}

/** Reads a token's lifetime in seconds from `expires_in`, which some write as text, or from GitHub's `expires_at`. */
function secondsOf({ expires_in: seconds, expires_at: end }: JsonObject, since: number): number {
  const found = typeof end === 'string' ? (Date.parse(end) - since) / 1000 : Number(seconds ?? Number.NaN)
  return Number.isNaN(found) ? USUAL_SECONDS : found
}

function failure(answer: ExchangeAnswer, { error }: JsonObject, now: number): DestinationError {
  const { status } = answer
  const { code, retryAfterMs } = statusError(answer, now)
  const options = retryAfterMs === undefined ? {} : { retryAfterMs }
  if (code === 'rate_limited' || code === 'timeout' || code === 'unavailable')
    return new DestinationError(code, options)
  if (REFUSALS.has(error) || status === 401) return new DestinationError('unauthorized')
  if (status === 403) return new DestinationError('forbidden')
  return new DestinationError(status >= 400 ? 'misconfigured' : 'unexpected_response')
}
