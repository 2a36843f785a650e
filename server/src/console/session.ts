/** Who visits: the session behind a cookie, the workspace behind an address, and proof that a form was sent from one of our own pages. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import { HttpError } from '../http/errors.ts'
import type { App } from '../http/instance.ts'
import { contentIssues } from '../http/text.ts'
import type { MemberService, WorkspaceOfMember } from '../people/members.ts'
import { SESSION_LONGEST_MS, type SessionService, type SignedIn, type Visitor } from '../people/sessions.ts'
import type { Viewer } from './page.tsx'
import { signInPath } from './paths.ts'

interface PersonSession extends SignedIn {
  readonly csrf: string
}

interface Place {
  readonly workspaces: readonly WorkspaceOfMember[]
  readonly workspace: WorkspaceOfMember | undefined
}

const VISIT = 'visit'
const PLACE = 'place'

export interface SessionOptions {
  readonly sessions: Pick<SessionService, 'find'>
  /** Where browsers reach us; undefined: wherever they say. */
  readonly config: Pick<Config, 'publicUrl'>
}

/** The origin of our pages, as the browser of this request has to name it. @throws HttpError 400 */
export function originOf(request: FastifyRequest, publicUrl: string | undefined): string {
  if (publicUrl !== undefined) return new URL(publicUrl).origin
  const origin = `${request.protocol}://${request.host}`
  if (!URL.canParse(origin)) throw new HttpError(400, 'the Host header names no host')
  return origin
}

/** Of `app`: refuses text that a database, or a later reader, would take otherwise than we do. What a query holds, its page looks at. */
export function refuseUnclearText(app: App): void {
  app.addHook('preValidation', async ({ params, body }) => {
    if (contentIssues(params, []).length > 0) throw new ServiceError('not_found', 'there is no such page')
    if (contentIssues(body, []).length === 0) return
    throw new ServiceError('bad_request', 'what was sent holds characters that are no text')
  })
}

/** Tells of each request of `app` who makes it, and refuses forms that other sites send. */
export function readSessions(app: App, { sessions, config: { publicUrl } }: SessionOptions): void {
  app.decorateRequest(VISIT)
  app.decorateRequest(PLACE)

  // Here and below, once the body is there: whoever lets it wait gains nothing by what they were when they began to send.
  app.addHook('preValidation', async (request) => {
    const token = sessionTokenOf((name) => request.cookies[name], publicUrl)
    const signedIn = token === undefined ? undefined : await sessions.find(token)
    if (signedIn) request.setDecorator<PersonSession>(VISIT, { ...signedIn, csrf: csrfOf(token!) })
  })

  app.addHook('preHandler', async (request) => {
    if (request.method === 'GET' || request.method === 'HEAD') return
    // Browsers name the origin of every form; what names none is no page of ours.
    if (request.headers.origin !== originOf(request, publicUrl)) {
      const origin = originOf(request, publicUrl)
      throw new HttpError(
        403,
        `this form was not sent from ${origin}: open the console there, or set PUBLIC_URL to where it is`,
      )
    }
    const visit = optionalSessionOf(request)
    if (visit && !isSame(String(formOf(request)._csrf ?? ''), visit.csrf)) {
      throw new HttpError(
        403,
        'this form is not of the session that you have now: go back, load the page again, and send it once more',
      )
    }
  })
}

/** For pages that need somebody who is signed in; others are sent to sign in, and back afterwards. */
export function requireSession(app: App, members: Pick<MemberService, 'workspacesOf'>): void {
  app.addHook('preHandler', async (request: FastifyRequest, reply: FastifyReply) => {
    const visit = optionalSessionOf(request)
    if (!visit) return reply.redirect(signInPath(request.method === 'GET' ? request.url : '/console'), 303)
    const workspaces = await members.workspacesOf(visit.user.id)
    const { workspace: id } = request.params as { readonly workspace?: string }
    const workspace = workspaces.find((one) => one.id === id)
    // Somebody else's workspace is like one that is not there.
    if (id !== undefined && !workspace) throw new ServiceError('not_found', 'there is no such page')
    request.setDecorator<Place>(PLACE, { workspaces, workspace })
  })
}

export function optionalSessionOf(request: FastifyRequest): PersonSession | undefined {
  return request.getDecorator<PersonSession | undefined>(VISIT)
}

/** Of pages that need a session. */
export function sessionOf(request: FastifyRequest): PersonSession {
  return optionalSessionOf(request)!
}

/** Of pages that need a session: what every such page shows of who looks at it. */
export function viewerOf(request: FastifyRequest): Viewer {
  const { user, csrf } = sessionOf(request)
  return { user, csrf, ...request.getDecorator<Place>(PLACE) }
}

/** Of the pages of a workspace. */
export function workspaceOf(request: FastifyRequest): WorkspaceOfMember {
  return request.getDecorator<Place>(PLACE).workspace!
}

export function isOwner(request: FastifyRequest): boolean {
  return workspaceOf(request).role === 'owner'
}

/** A `preHandler` for what members may see and not do. */
export async function ownersOnly(request: FastifyRequest): Promise<void> {
  if (!isOwner(request)) throw new HttpError(403, 'only owners of the workspace may do this')
}

/** A form's fields. Of a name that is given more than once, the last. */
export function formOf(request: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return lastOf(request.body)
}

/** The fields of the address. Of a name that is given more than once, the last. */
export function queryOf(request: FastifyRequest): Readonly<Record<string, string | undefined>> {
  return lastOf(request.query)
}

function lastOf(values: unknown): Readonly<Record<string, string | undefined>> {
  const entries = Object.entries(values ?? {}).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.at(-1) : value,
  ])
  // A body of JSON may hold anything.
  return Object.fromEntries(entries.filter(([, value]) => typeof value === 'string'))
}

function browserOf(request: FastifyRequest): Visitor {
  return { userAgent: request.headers['user-agent'] ?? '', address: request.ip }
}

interface Entering {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly sessions: Pick<SessionService, 'start' | 'end'>
  readonly config: Pick<Config, 'publicUrl'>
}

/** Begins a session in place of the one that this browser had, and leads on. @param next one of our own paths */
export async function enter({ request, reply, sessions, config }: Entering, userId: string, next: string) {
  const visit = optionalSessionOf(request)
  if (visit) await sessions.end(visit.user.id, visit.session.id)
  signIn(reply, await sessions.start(userId, browserOf(request)), config.publicUrl)
  return reply.redirect(next, 303)
}

export function signIn(reply: FastifyReply, token: string, publicUrl: string | undefined): void {
  reply.setCookie(cookieName(publicUrl), token, { ...cookieOptions(publicUrl), maxAge: SESSION_LONGEST_MS / 1000 })
}

export function signOut(reply: FastifyReply, publicUrl: string | undefined): void {
  reply.clearCookie(cookieName(publicUrl), cookieOptions(publicUrl))
}

function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl !== undefined && new URL(publicUrl).protocol === 'https:'
}

// `__Host-`: browsers take it over https alone, and from this very host. Without https, on one's own machine, there is no such cookie.
export function cookieName(publicUrl: string | undefined, ending = ''): string {
  return `${isSecure(publicUrl) ? '__Host-' : ''}claimcheck${ending}`
}

/** The token of the console's session, of a request whose cookies `read` reads. */
export function sessionTokenOf(
  read: (cookie: string) => string | undefined,
  publicUrl: string | undefined,
): string | undefined {
  return read(cookieName(publicUrl))
}

export function cookieOptions(publicUrl: string | undefined) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(publicUrl) } as const
}

/** Known to whoever has the session's cookie, and to the pages that we make for them. */
function csrfOf(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url')
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
