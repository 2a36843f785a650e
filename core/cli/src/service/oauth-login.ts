/**
 * Signs in with the browser (RFC 8252): the person allows it at the service, the code comes back to this machine, its token is exchanged for
 * an API key, and ends with that.
 */
import { hash, randomBytes } from 'node:crypto'
import { CommandError } from '@claimcheck/command-line/errors'
import { objectIn } from '@claimcheck/core/rules'
import { visible } from '@claimcheck/core/words/plain-text'
import { listenOnLoopback } from './loopback.ts'
import { COMMAND_LINE_CLIENT, KEY_SCOPE } from './oauth-client.ts'

export interface SignedIn {
  readonly key: string
  readonly keyId: string
  readonly workspaceId: string
  readonly expiresAt: string
}

const TIMEOUT_MS = 5 * 60_000
const REQUEST_TIMEOUT_MS = 30_000
const LONGEST_ANSWER = 64 * 1024

/** Signs in with the browser. @throws CommandError `not_signed_in`, or for what the service answers */
export async function signIn({
  url,
  name,
  show,
  signal,
  timeoutMs = TIMEOUT_MS,
}: {
  readonly url: string
  /** The name of the new API key, by which people know this machine. */
  readonly name: string
  /** Shows the sign-in's address to the person, or opens it. */
  readonly show: (address: string) => Promise<void>
  readonly signal: AbortSignal
  readonly timeoutMs?: number
}): Promise<SignedIn> {
  const service = await endpointsOf(url)
  const state = randomBytes(32).toString('base64url')
  const verifier = randomBytes(32).toString('base64url')
  const loopback = await listenOnLoopback(state)
  try {
    const asked = new URLSearchParams({
      response_type: 'code',
      client_id: COMMAND_LINE_CLIENT.client_id,
      redirect_uri: loopback.redirectUri,
      scope: KEY_SCOPE,
      state,
      code_challenge: hash('sha256', verifier, 'base64url'),
      code_challenge_method: 'S256',
    })
    await show(`${service.authorize}?${asked}`)
    const params = await waited(loopback.answer, signal, timeoutMs)
    const code = codeOf(params, service.issuer)
    const grant = { code, redirect_uri: loopback.redirectUri, code_verifier: verifier }
    const token = await tokenFor(service.token, grant)
    return await keyFor(url, token, name).catch(async (error) => {
      await giveBack(service.revoke, token)
      throw error
    })
  } finally {
    await loopback.close()
  }
}

/** Reads the endpoints from the metadata (RFC 8414), which must be of the service that was named, and lead nowhere else. */
async function endpointsOf(url: string) {
  const { origin } = new URL(url)
  const { status, body } = await ask(`${origin}/.well-known/oauth-authorization-server`)
  if (status !== 200) throw noSignIn(`${url} answered ${status}: it has no sign-in for the command line. Use --key.`)
  const { issuer } = body
  if (typeof issuer === 'string' && issuer !== origin) {
    throw noSignIn(
      `The service at ${origin} calls itself ${visible(issuer)}: log in with that address, if it is the one you mean.`,
    )
  }
  const authorize = addressAt(origin, body.authorization_endpoint)
  const token = addressAt(origin, body.token_endpoint)
  const revoke = addressAt(origin, body.revocation_endpoint)
  if (authorize === undefined || token === undefined || revoke === undefined) {
    throw noSignIn(`${url} does not say as a Claimcheck service does where to sign in. Use --key.`)
  }
  return { issuer: origin, authorize, token, revoke }
}

/** Takes the URL as the parser writes it: the text of the service may hold what a terminal obeys. */
function addressAt(origin: string, address: unknown): string | undefined {
  const url = typeof address === 'string' && URL.canParse(address) ? new URL(address) : undefined
  return url?.origin === origin ? url.href : undefined
}

async function waited(
  answer: (signal: AbortSignal) => Promise<URLSearchParams>,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<URLSearchParams> {
  const timeout = AbortSignal.timeout(timeoutMs)
  try {
    return await answer(AbortSignal.any([signal, timeout]))
  } catch (error) {
    if (signal.aborted) throw noSignIn('Stopped. Nothing was kept.')
    if (timeout.aborted) throw noSignIn('Nobody answered in the browser in time. Run the command again.')
    throw error
  }
}

/** Reads the code that the browser brought with the right state. An answer of another service must not be taken for one of this (RFC 9207). */
function codeOf(params: URLSearchParams, issuer: string): string {
  if (params.get('iss') !== issuer) throw noSignIn('The answer is not of the service that was asked. Nothing was kept.')
  const error = params.get('error')
  if (error === 'access_denied') throw noSignIn('It was not allowed. Nothing was kept.')
  if (error !== null) throw noSignIn(`The service refused: ${visible(params.get('error_description') ?? error)}.`)
  const code = params.get('code')
  if (code) return code
  throw noSignIn('The answer has no code. Nothing was kept.')
}

async function tokenFor(endpoint: string, fields: Readonly<Record<string, string>>): Promise<string> {
  const form = { grant_type: 'authorization_code', client_id: COMMAND_LINE_CLIENT.client_id, ...fields }
  const { status, body } = await ask(endpoint, { method: 'POST', body: new URLSearchParams(form) })
  const { access_token: token, token_type: type, scope } = body
  if (status !== 200 || typeof token !== 'string' || String(type).toLowerCase() !== 'bearer') {
    throw noSignIn(`The service gave no token: ${printable(body.error_description ?? body.error ?? status)}.`)
  }
  if (scope !== undefined && !String(scope).split(' ').includes(KEY_SCOPE)) {
    throw noSignIn('Only owners of a workspace may allow this: ask one of them, or for a key.')
  }
  return token
}

async function keyFor(url: string, token: string, name: string): Promise<SignedIn> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const { status, body } = await ask(`${url}/v1/keys`, { method: 'POST', headers, body: JSON.stringify({ name }) })
  const { key, id: keyId, workspace_id: workspaceId, expires_at: expiresAt } = body
  const texts = [key, keyId, workspaceId, expiresAt]
  if (status !== 201 || !texts.every((text) => typeof text === 'string')) {
    throw noSignIn(`The service made no key: ${printable(body.detail ?? status)}.`)
  }
  return { key, keyId, workspaceId, expiresAt } as SignedIn
}

/** Revokes a token that gave no key, as nothing uses it any more. Where the service is away, it ends within the hour. */
async function giveBack(endpoint: string, token: string): Promise<void> {
  const form = { client_id: COMMAND_LINE_CLIENT.client_id, token }
  await ask(endpoint, { method: 'POST', body: new URLSearchParams(form) }).catch(() => undefined)
}

/** Revokes a key that the service made for this machine. @returns false where that did not work */
export async function revokeKey(url: string, key: string): Promise<boolean> {
  const init = { method: 'POST', headers: { authorization: `Bearer ${key}` } }
  const answer = await ask(`${url}/v1/keys/self/revoke`, init).catch(() => undefined)
  // 401 means that the key was revoked before, or has expired.
  return answer !== undefined && [204, 401].includes(answer.status)
}

/** Sends a request without following redirects: the secrets that are sent are for this address alone. */
async function ask(address: string, init: RequestInit = {}) {
  try {
    const signal = AbortSignal.timeout(REQUEST_TIMEOUT_MS)
    const response = await fetch(address, { ...init, redirect: 'manual', signal })
    return { status: response.status, body: objectIn(await beginningOf(response)) }
  } catch (error) {
    const { message, cause } = error as Error
    const why = cause instanceof Error ? cause.message : message
    throw new CommandError('unreachable', `${new URL(address).origin} cannot be reached: ${why}.`)
  }
}

/** Reads the beginning of an answer, up to the largest size that an answer may have. */
async function beginningOf({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of body ?? []) {
    parts.push(part)
    length += part.length
    if (length >= LONGEST_ANSWER) break
  }
  return Buffer.concat(parts).toString('utf8', 0, LONGEST_ANSWER)
}

function printable(value: unknown): string {
  return visible(String(value).slice(0, 500)).replace(/\.$/, '')
}

function noSignIn(detail: string): CommandError {
  return new CommandError('not_signed_in', detail)
}
