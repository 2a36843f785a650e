/** The sender of a request: the session of its cookie, the workspace of its address, and proof that a form comes from one of our own pages. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Acting, byNobody, byUser } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { HttpError } from '../../http/errors.ts'
import type { Gate } from '../../http/gate.ts'
import type { App } from '../../http/instance.ts'
import { contentIssues } from '../../http/text.ts'
import { pathsIn, signInPath } from '../../web/console-paths.ts'
import { originOf } from '../../web/origin.ts'
import type { MemberService } from '../people/members.ts'
import type { SignedIn, User } from '../people/sessions.ts'
import { meetsRule, type SignedInBy } from '../people/sign-in-rules.ts'
import type { ConsoleDependencies } from './dependencies.ts'
import type { ViewedWorkspace, Viewer } from './page.tsx'
import { formOf } from './request-fields.ts'

export interface ConsoleSession extends SignedIn {
  /** The token that every form of a session carries against cross-site requests. */
  readonly csrf: string
}

interface WorkspaceAccess {
  readonly now: Instant
  readonly workspaces: readonly ViewedWorkspace[]
  readonly workspace: ViewedWorkspace | undefined
}

const SESSION = 'session'
const ACCESS = 'workspaceAccess'

/** A function that answers in place of the page. */
type AnswerInstead = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>

/** Refuses texts that a database or a later reader would read differently. Pages check their own queries. */
export function refuseUnclearText(app: App): void {
  app.addHook('preValidation', async ({ params, body }) => {
    if (contentIssues(params, []).length > 0) throw new ServiceError('not_found', 'there is no such page')
    if (contentIssues(body, []).length === 0) return
    throw new ServiceError('bad_request', 'the form holds characters that are not text')
  })
}

/**
 * Finds the session of each request, which pays for it then, and refuses forms that other sites send.
 * @param answerStale answers a form of our own pages that is of another session than the present one
 */
export function readSessions(
  app: App,
  { sessions, config: { publicUrl } }: Pick<ConsoleDependencies, 'sessions' | 'config'>,
  gate: Pick<Gate, 'admit'>,
  answerStale: AnswerInstead,
): void {
  app.decorateRequest(SESSION)
  app.decorateRequest(ACCESS)

  // Sessions are read here and below after the body has arrived: a slow sender gets the rights of the end of the request, not of its beginning.
  app.addHook('preValidation', async (request, reply) => {
    const token = sessionTokenOf((name) => request.cookies[name], publicUrl)
    const signedIn = token === undefined ? undefined : await sessions.find(token)
    if (!signedIn) return
    request.setDecorator<ConsoleSession>(SESSION, { ...signedIn, csrf: csrfOf(token!) })
    await gate.admit(request, reply, { account: signedIn.user.payer })
  })

  app.addHook('preHandler', async (request, reply) => {
    if (request.method === 'GET' || request.method === 'HEAD') return
    // Browsers send the origin of every form. A request without one does not come from our pages.
    const origin = originOf(request, publicUrl)
    if (request.headers.origin !== origin) {
      throw new HttpError(
        403,
        `this form was not sent from ${origin}: open the console there, or set PUBLIC_URL to where it is`,
      )
    }
    const session = optionalSessionOf(request)
    if (session && !isSame(String(formOf(request)._csrf ?? ''), session.csrf)) return answerStale(request, reply)
  })
}

/**
 * Requires a session: other visitors are sent to sign in, and back afterwards.
 * @param answerSignedOut answers a form that was sent without a session
 * @param answerWeak answers in a workspace that asks for another sign-in
 */
export function requireSession(
  app: App,
  { members, now }: Pick<ConsoleDependencies, 'members' | 'now'>,
  { answerSignedOut, answerWeak }: Readonly<Record<'answerSignedOut' | 'answerWeak', AnswerInstead>>,
): void {
  app.addHook('onRoute', (route) => {
    route.config = { ...route.config, needsSession: true }
  })
  app.addHook('preHandler', async (request, reply) => {
    const session = optionalSessionOf(request)
    const isForm = request.method !== 'GET' && request.method !== 'HEAD'
    if (!session) return isForm ? answerSignedOut(request, reply) : reply.redirect(signInPath(request.url), 303)
    const workspaces = await viewedWorkspaces(members, session)
    const { workspace: id } = request.params as { readonly workspace?: string }
    const workspace = workspaces.find((one) => one.id === id)
    // Workspaces of others answer like one that does not exist.
    if (id !== undefined && !workspace) throw new ServiceError('not_found', 'there is no such page')
    request.setDecorator<WorkspaceAccess>(ACCESS, { workspaces, workspace, now: now() })
    if (workspace && !workspace.isOpen) return answerWeak(request, reply)
  })
}

export function optionalSessionOf(request: FastifyRequest): ConsoleSession | undefined {
  return request.getDecorator<ConsoleSession | undefined>(SESSION)
}

/** Returns the session of a request to a page that needs one. */
export function sessionOf(request: FastifyRequest): ConsoleSession {
  return optionalSessionOf(request)!
}

/** Returns the viewer of a page that needs a session; undefined on other pages. */
export function viewerOf(request: FastifyRequest): Viewer | undefined {
  const access = request.getDecorator<WorkspaceAccess | undefined>(ACCESS)
  if (!access) return undefined
  const { user, csrf } = sessionOf(request)
  return { user, csrf, ...access }
}

/** Returns the workspace of a page that is in one. */
export function workspaceOf(request: FastifyRequest): ViewedWorkspace {
  return request.getDecorator<WorkspaceAccess>(ACCESS).workspace!
}

/** Lists the workspaces of a person. Those that ask for a better sign-in than this one are closed. */
export async function viewedWorkspaces(
  members: Pick<MemberService, 'workspacesOf'>,
  { user, session }: SignedIn,
): Promise<readonly ViewedWorkspace[]> {
  return (await members.workspacesOf(user.id)).map((workspace) => {
    const { id, role, signInRule } = workspace
    return {
      ...workspace,
      get at() {
        return pathsIn(id)
      },
      isOwner: role === 'owner',
      isOpen: meetsRule(signInRule, session.method),
    }
  })
}

/** Returns the actor of a request, for the audit trail. */
export function actingOf(request: FastifyRequest): Acting {
  const session = optionalSessionOf(request)
  return session ? byUser(session.user.id, request.ip) : byNobody(request.ip)
}

/**
 * Lets only owners of the workspace pass, as a `preHandler`.
 * @throws HttpError 403 for other members
 */
export async function ownersOnly(request: FastifyRequest): Promise<void> {
  if (!workspaceOf(request).isOwner)
    throw new HttpError(403, 'only owners of the workspace may do this: ask one of them')
}

export interface Entering {
  readonly services: Pick<ConsoleDependencies, 'sessions' | 'config'>
  readonly request: FastifyRequest
  readonly reply: FastifyReply
}

/** A person who has just proved who they are. */
export interface Arrival {
  readonly user: Pick<User, 'id' | 'generation'>
  readonly method: SignedInBy
}

/** Begins a session, ends the one that this browser had, and leads on. @param next one of our own paths */
export async function enter(entering: Entering, arrival: Arrival, next: string): Promise<FastifyReply> {
  await startSession(entering, arrival)
  return entering.reply.redirect(next, 303)
}

/** Begins a session, and ends the one that this browser had. Returns the token that the forms of the answer must carry. */
export async function startSession(
  { services: { sessions, config }, request, reply }: Entering,
  { user, method }: Arrival,
): Promise<string> {
  const { publicUrl, sessionEnds } = config
  const session = optionalSessionOf(request)
  const browser = { userAgent: request.headers['user-agent'] ?? '', address: request.ip }
  const token = await sessions.start(user, method, browser)
  if (session) await sessions.end(session.user.id, session.session.id, actingOf(request))
  reply.setCookie(cookieName(publicUrl), token, { ...cookieOptions(publicUrl), maxAge: sessionEnds.longestMs / 1000 })
  return csrfOf(token)
}

export function deleteSessionCookie(reply: FastifyReply, publicUrl: string | undefined): void {
  reply.clearCookie(cookieName(publicUrl), cookieOptions(publicUrl))
}

function isSecure(publicUrl: string | undefined): boolean {
  return publicUrl !== undefined && new URL(publicUrl).protocol === 'https:'
}

// Browsers take a `__Host-` cookie over https only, and send it to this host only. Without https the name has no such prefix.
export function cookieName(publicUrl: string | undefined, ending = ''): string {
  return `${isSecure(publicUrl) ? '__Host-' : ''}claimcheck${ending}`
}

/**
 * Reads the token of the console's session.
 * @param read reads a cookie of the request
 */
export function sessionTokenOf(
  read: (cookie: string) => string | undefined,
  publicUrl: string | undefined,
): string | undefined {
  return read(cookieName(publicUrl))
}

export function cookieOptions(publicUrl: string | undefined) {
  return { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure(publicUrl) } as const
}

/** Derives the token of forms from that of the cookie: other sites know neither. */
function csrfOf(token: string): string {
  return createHmac('sha256', token).update('csrf').digest('base64url')
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
