/** An application that asks people for tokens, as RFC 6749 and RFC 7636 have it; its person's browser is a `Visitor`. */
import { createHash, randomBytes } from 'node:crypto'
import type { Test } from 'tap'
import type { Answer, Host } from './host.ts'
import { Installation, type InstallationOptions } from './installation.ts'
import type { Page, Visitor } from './visitor.ts'

export type Fields = Readonly<Record<string, string>>

/** What the browser brings back to the application. */
export type Returned = URLSearchParams

export interface Tokens {
  readonly access_token: string
  readonly refresh_token: string
  readonly scope: string
  readonly expires_in: number
  readonly token_type: string
}

export const CLIENT = {
  client_id: 'desk',
  client_name: 'Backend <b>& co</b>',
  redirect_uris: ['https://backend.example/back', 'http://127.0.0.1/back', 'com.example.backend:/back'],
}
export const SECRET = 's'.repeat(40)
export const CONFIDENTIAL = {
  client_id: 'back-office',
  client_name: 'Back office',
  redirect_uris: ['https://office.example/back'],
  client_secret: SECRET,
}
export const RESOURCE = 'https://mcp.example.com'
export const OAUTH = { clients: [CLIENT, CONFIDENTIAL], resources: [RESOURCE] }
export const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } }

/** Until the test ends. */
export const withOAuth = (t: Test, options: InstallationOptions = {}): Promise<Installation> =>
  Installation.during(t, { file: { oauth: OAUTH }, ...options })

export class Application {
  readonly redirectUri: string
  readonly clientId: string
  readonly verifier = randomBytes(32).toString('base64url')
  readonly state = randomBytes(8).toString('base64url')
  /** With a public address other than where the host listens. */
  readonly #origin: string | undefined

  constructor(client: { readonly client_id: string; readonly redirect_uris: string[] } = CLIENT, origin?: string) {
    this.clientId = client.client_id
    this.redirectUri = client.redirect_uris[0]!
    this.#origin = origin
  }

  /** Where it sends the browser. Undefined leaves a parameter out. */
  request(over: Readonly<Record<string, string | undefined>> = {}): string {
    const params = {
      response_type: 'code',
      client_id: this.clientId,
      redirect_uri: this.redirectUri,
      scope: 'claims:read claims:submit',
      state: this.state,
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'),
      code_challenge_method: 'S256',
      ...over,
    }
    const given = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined)
    return `/oauth/authorize?${new URLSearchParams(given)}`
  }

  /** The path of the consent page. */
  async ask(visitor: Visitor, over: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
    const resource = this.#origin ?? visitor.host.url
    const response = await visitor.once(this.request({ resource, ...over }))
    const location = response.headers.get('location') ?? ''
    if (!location.startsWith('/oauth/consent/'))
      throw new Error(`${response.status} ${location} ${await response.text()}`)
    return location
  }

  /** What the person answers, and what the application gets to know of it. */
  async decide(visitor: Visitor, path: string, fields: Fields): Promise<Returned> {
    const decided = await this.send(visitor, path, fields)
    const resume = ledTo(decided)
    if (!resume) throw new Error(`${decided.status} ${await decided.text()}`)
    const back = await visitor.once(resume.pathname + resume.search)
    return returned(back, this.redirectUri)
  }

  send(visitor: Visitor, path: string, fields: Fields): Promise<Response> {
    const body = new URLSearchParams({ _csrf: visitor.csrf ?? '', ...fields })
    return visitor.once(path, { method: 'POST', body, headers: { origin: this.#origin ?? visitor.host.url } })
  }

  async consentPage(visitor: Visitor, over: Readonly<Record<string, string | undefined>> = {}): Promise<Page> {
    return visitor.get(await this.ask(visitor, over))
  }

  /** The person allows it, in the workspace that the page offers or that is named. */
  async allowed(
    visitor: Visitor,
    over: Readonly<Record<string, string | undefined>> = {},
    workspaceId?: string,
  ): Promise<Returned> {
    const page = await this.consentPage(visitor, over)
    const workspace = workspaceId ?? /name="workspace" value="([^"]*)"/.exec(page.html)?.[1] ?? ''
    return this.decide(visitor, page.path, { decision: 'allow', workspace })
  }

  exchange(host: Host, code: string | null, over: Fields = {}): Promise<Answer> {
    return post(host, '/oauth/token', {
      grant_type: 'authorization_code',
      client_id: this.clientId,
      code: code ?? '',
      redirect_uri: this.redirectUri,
      code_verifier: this.verifier,
      ...over,
    })
  }

  refresh(host: Host, token: string, over: Fields = {}): Promise<Answer> {
    return post(host, '/oauth/token', {
      grant_type: 'refresh_token',
      client_id: this.clientId,
      refresh_token: token,
      ...over,
    })
  }

  revoke(host: Host, token: string, over: Fields = {}): Promise<Answer> {
    return post(host, '/oauth/revoke', { client_id: this.clientId, token, ...over })
  }

  /** From being asked to having tokens. */
  async tokens(
    visitor: Visitor,
    over: Readonly<Record<string, string | undefined>> = {},
    workspaceId?: string,
  ): Promise<Tokens> {
    const code = (await this.allowed(visitor, over, workspaceId)).get('code')
    const { status, body } = await this.exchange(visitor.host, code)
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
    return body
  }
}

/** Where the page after a decision leads the browser by itself. */
export function ledTo(page: Response): URL | undefined {
  const url = /^0;url=(.*)$/.exec(page.headers.get('refresh') ?? '')?.[1]
  return url === undefined ? undefined : new URL(url)
}

export function returned(response: Response, redirectUri: string): Returned {
  const location = response.headers.get('location') ?? ''
  if (!location.startsWith(redirectUri)) throw new Error(`not led back: ${response.status} ${location}`)
  const { searchParams, hash } = new URL(location)
  // Where it asked for tokens in the answer itself, errors are there too.
  return hash ? new URLSearchParams(hash.slice(1)) : searchParams
}

export function post(host: Host, path: string, fields: Fields, headers: Fields = {}): Promise<Answer> {
  return host.request(path, { method: 'POST', body: new URLSearchParams(fields), headers })
}

export function whoami(host: Host, token: string): Promise<Answer> {
  return host.request('/v1/whoami', { headers: { authorization: `Bearer ${token}` } })
}
