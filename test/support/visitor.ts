/** A person at the console without a browser: pages as text, forms as their fields, cookies kept. */
import type { Host } from './host.ts'
import type { Mailbox } from './mailbox.ts'

export interface Page {
  readonly status: number
  /** Path and query of the last page. */
  readonly path: string
  readonly html: string
  readonly headers: Headers
}

type Fields = Readonly<Record<string, string>>
/** Where a name has several values. */
type Field = readonly [name: string, value: string]

const MOST_REDIRECTS = 5

export class Visitor {
  readonly host: Host
  /** Of their account, where they have one. */
  readonly email: string
  readonly cookies = new Map<string, string>()
  /** What the last page's forms carry. */
  csrf: string | undefined

  constructor(host: Host, email = '') {
    this.host = host
    this.email = email
  }

  /** The first person of an installation, signed in, with a workspace of this name. */
  static async first(host: Host, workspace = 'acme'): Promise<Visitor> {
    const token = await host.claimcheck.accounts.setupToken()
    return Visitor.enter(host, `/console/setup/${token}`, 'owner', { workspace })
  }

  /** The first person of an installation that has a public address. */
  static async firstAt(host: Host, origin: string): Promise<Visitor> {
    const token = await host.claimcheck.accounts.setupToken()
    const visitor = new Visitor(host, emailOf('owner'))
    const fields = { name: 'owner', email: visitor.email, password: PASSWORD, workspace: 'acme' }
    const body = new URLSearchParams(fields)
    await visitor.once(`/console/setup/${token}`, { method: 'POST', body, headers: { origin } })
    return visitor
  }

  /** The owner of a new workspace, signed in. Where the installation has a workspace of this name, the new one has a number behind it. */
  static async owner(host: Host, workspace = 'acme'): Promise<Visitor> {
    const { id } = await host.claimcheck.workspaces.create(unused(host, workspace))
    return Visitor.joining(host, id, 'owner', 'owner')
  }

  /** Another person, signed in, who joins a workspace. */
  static async joining(host: Host, workspaceId: string, role: 'owner' | 'member', name: string): Promise<Visitor> {
    const token = await host.claimcheck.accounts.inviteToken(workspaceId, role, null)
    return Visitor.enter(host, `/console/join/${token}`, name)
  }

  static async enter(host: Host, path: string, name: string, more: Fields = {}): Promise<Visitor> {
    const visitor = new Visitor(host, emailOf(unused(host, name)))
    const page = await visitor.post(path, { name, email: visitor.email, password: PASSWORD, ...more })
    if (visitor.cookies.size === 0) throw new Error(`${name} could not enter: ${page.status} ${textOf(page.html)}`)
    return visitor
  }

  /** Shows that they read mails to their address. */
  async confirm(mailbox: Mailbox): Promise<this> {
    const { text } = await mailbox.mailTo(this.email, /^Confirm your address/)
    const { pathname } = new URL(/https?:\/\/\S+/.exec(text)![0])
    await this.get(pathname)
    const { path } = await this.post(pathname)
    if (!path.endsWith('done=address-confirmed')) throw new Error(`${this.email} is not confirmed: ${path}`)
    return this
  }

  /** The id of the workspace that they are in first. */
  async workspaceId(): Promise<string> {
    const { path } = await this.get('/console')
    const id = /^\/console\/w\/([^/]+)\//.exec(path)?.[1]
    if (id === undefined) throw new Error(`no workspace at ${path}`)
    return id
  }

  /** Follows redirects on this host. */
  get(path: string, headers: Fields = {}): Promise<Page> {
    return this.#ask(path, { method: 'GET', headers })
  }

  /** Sends a form as the console's own pages send it. Follows redirects on this host. */
  post(path: string, fields: Fields | readonly Field[] = {}, headers: Fields = {}): Promise<Page> {
    const given = Array.isArray(fields) ? fields : Object.entries(fields)
    const isGiven = this.csrf === undefined || given.some(([name]) => name === '_csrf')
    const body = new URLSearchParams([...(isGiven ? [] : [['_csrf', this.csrf]]), ...given])
    return this.#ask(path, { method: 'POST', body, headers: { origin: this.host.url, ...headers } })
  }

  /** The answer itself, without following a redirect. */
  async once(path: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie ? { cookie } : {}), ...(init.headers as Fields) }
    const response = await fetch(new URL(path, this.host.url), { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (value === '' || /max-age=0/i.test(line)) this.cookies.delete(name!)
      else this.cookies.set(name!, value!)
    }
    return response
  }

  async #ask(path: string, init: RequestInit): Promise<Page> {
    let at = path
    let response = await this.once(at, init)
    for (let count = 0; response.status >= 300 && response.status < 400 && count < MOST_REDIRECTS; count++) {
      const next = new URL(response.headers.get('location')!, new URL(at, this.host.url))
      // A redirect to another host is the answer.
      if (next.origin !== this.host.url) break
      at = next.pathname + next.search
      response = await this.once(at)
    }
    const html = await response.text()
    this.csrf = /name="_csrf" value="([^"]*)"/.exec(html)?.[1] ?? this.csrf
    return { status: response.status, path: at, html, headers: response.headers }
  }
}

export const PASSWORD = 'purple lantern orbit cactus'

export function emailOf(name: string): string {
  return `${name.toLowerCase().replace(/[^a-z0-9]+/g, '.')}@example.com`
}

/** How many have had each name. Addresses and the names of workspaces are unique in an installation, whose tests all want the same ones. */
const uses = new WeakMap<Host, Map<string, number>>()

function unused(host: Host, name: string): string {
  const counts = uses.get(host) ?? new Map<string, number>()
  uses.set(host, counts)
  const count = (counts.get(name) ?? 0) + 1
  counts.set(name, count)
  return count === 1 ? name : `${name}-${count}`
}

/** What a person reads on a page. */
export function textOf(html: string): string {
  return html
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ')
    .trim()
}
