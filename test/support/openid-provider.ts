/** An OpenID provider on this machine, and people who sign in there under any login. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'

export const CLIENT = { client_id: 'claimcheck', client_secret: 'a secret of forty characters, or nearly so' }
/** Another client of the same provider. Tokens that are meant for it must not sign in here. */
export const OTHER_CLIENT = { client_id: 'other', client_secret: 'another secret of the other client there' }
/** A login of which the provider gives the subject alone: no name, no address. */
export const NAMELESS = 'nameless'
const OTHER_CALLBACK = 'http://127.0.0.1:1/callback'

type Tokens = Record<string, unknown>

export class OpenIdProvider {
  readonly issuer: string
  readonly #server: Server
  /** What its token endpoint answers, changed. */
  alter: (tokens: Tokens) => Tokens = (tokens) => tokens
  isDown = false
  /** The logins with an address that it calls verified. */
  readonly verified = new Set<string>()

  readonly #callbackUrls = new Set<string>()

  private constructor(server: Server) {
    this.#server = server
    this.issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  /** It is down until it is opened. */
  static async start(): Promise<OpenIdProvider> {
    const server = createServer((_request, response) => response.writeHead(503).end())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new OpenIdProvider(server)
  }

  /** The environment with which a host may reach it. `section` configures the sign-in. */
  get env(): { readonly ALLOW_PRIVATE: string } {
    return { ALLOW_PRIVATE: new URL(this.issuer).host }
  }

  get section(): object {
    return { oidc: { issuer: this.issuer, ...CLIENT, name: 'Example' } }
  }

  /** Lets a host send people here, who come back to its `callbackUrl`. */
  open(callbackUrl: string): void {
    if (this.#callbackUrls.has(callbackUrl)) return
    this.#callbackUrls.add(callbackUrl)
    const provider = new Provider(this.issuer, {
      clients: [
        { ...CLIENT, redirect_uris: [...this.#callbackUrls] },
        { ...OTHER_CLIENT, redirect_uris: [OTHER_CALLBACK] },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
      cookies: { keys: ['a key of the test'] },
      findAccount: (_context, id) => ({
        accountId: id,
        // One person has neither a name nor an address.
        claims: () =>
          id === NAMELESS
            ? { sub: id }
            : { sub: id, name: `${id} of Example`, email: `${id}@example.com`, email_verified: this.verified.has(id) },
      }),
    })
    provider.use(async (context, next) => {
      if (this.isDown) {
        context.status = 503
        return
      }
      await next()
      if (context.path === '/token' && context.status === 200) context.body = this.alter(context.body as Tokens)
    })
    this.#server.removeAllListeners('request').on('request', provider.callback())
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  /** Follows the console's redirect, signs in and agrees. Returns the address to which the provider sends them back. */
  signIn(url: string, login: string): Promise<URL> {
    return new Person(this.issuer).follow(url, login)
  }

  /** Says no there. */
  refuse(url: string): Promise<URL> {
    return new Person(this.issuer).follow(url, undefined)
  }

  /** A genuine ID token for the other client. */
  async idTokenForOther(login: string, nonce: string): Promise<string> {
    const verifier = 'v'.repeat(43)
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const url = new URL(`${this.issuer}/auth`)
    url.search = new URLSearchParams({
      client_id: OTHER_CLIENT.client_id,
      redirect_uri: OTHER_CALLBACK,
      response_type: 'code',
      scope: 'openid',
      nonce,
      code_challenge: challenge,
      code_challenge_method: 'S256',
    }).toString()
    const back = await this.signIn(url.href, login)
    const response = await fetch(`${this.issuer}/token`, {
      method: 'POST',
      body: new URLSearchParams({
        ...OTHER_CLIENT,
        grant_type: 'authorization_code',
        code: back.searchParams.get('code')!,
        redirect_uri: OTHER_CALLBACK,
        code_verifier: verifier,
      }),
    })
    const { id_token } = (await response.json()) as { readonly id_token?: string }
    if (id_token === undefined) throw new Error(`the provider answered ${response.status}`)
    return id_token
  }
}

const MOST_STEPS = 12

/** At the provider's pages. */
class Person {
  readonly #issuer: string
  readonly #cookies = new Map<string, string>()

  constructor(issuer: string) {
    this.#issuer = issuer
  }

  /** @param login undefined: they say no */
  async follow(url: string, login: string | undefined): Promise<URL> {
    let response = await this.#ask(new URL(url))
    for (let count = 0; count < MOST_STEPS; count++) {
      const location = response.headers.get('location')
      if (location !== null) {
        const next = new URL(location, this.#issuer)
        if (next.origin !== this.#issuer) return next
        response = await this.#ask(next)
        continue
      }
      const html = await response.text()
      const [, action] = /<form[^>]*action="([^"]+)"/.exec(html) ?? []
      const [, prompt] = /name="prompt" value="([^"]+)"/.exec(html) ?? []
      if (!action || !prompt) throw new Error(`the provider answered ${response.status}: ${html.slice(0, 500)}`)
      const at = new URL(action, this.#issuer)
      if (login === undefined) {
        response = await this.#ask(new URL(`${at.pathname}/abort`, this.#issuer))
        continue
      }
      const fields = prompt === 'login' ? { prompt, login, password: 'any' } : { prompt }
      response = await this.#ask(at, { method: 'POST', body: new URLSearchParams(fields) })
    }
    throw new Error('the provider leads nowhere')
  }

  async #ask(url: URL, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(url, { ...init, headers: { cookie }, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      this.#cookies.set(name!, value!)
    }
    return response
  }
}
