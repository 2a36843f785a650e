/** The form page, of which all pages with forms are made: what an address loads and shows, what its forms save, and where they lead. */
import type { FastifyContextConfig, FastifyReply, FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import { ServiceError } from '../../base/errors.ts'
import type { App } from '../../http/instance.ts'
import type { WorkspacePaths } from '../../web/console-paths.ts'
import { sendPage } from '../../web/document.tsx'
import type { limitAttempts } from './attempts.ts'
import type { ConsoleDependencies } from './dependencies.ts'
import { PlainPage, Viewing } from './page.tsx'
import { type Fields, formOf, queryOf } from './request-fields.ts'
import { actingOf, optionalSessionOf, ownersOnly, sessionOf, viewerOf, workspaceOf } from './session.ts'
import { freshSignInOnly, type NeedsFreshSignIn } from './sign-in-again.ts'
import { KEEPS_ALL, type KeepsField } from './unsent.tsx'

type Param =
  | 'workspace'
  | 'agent_id'
  | 'claim_id'
  | 'connection'
  | 'grant'
  | 'key'
  | 'machine'
  | 'member'
  | 'provider'
  | 'token'
  | 'webhook'

/**
 * Makes a request's view for pages. Pages without a session must not read the members about its sender, and only pages in a workspace may read
 * `workspace`.
 */
export function visitOf(request: FastifyRequest, reply: FastifyReply) {
  return {
    request,
    reply,
    params: request.params as Readonly<Record<Param, string>>,
    get query() {
      return queryOf(request)
    },
    get form() {
      return formOf(request)
    },
    /** The person who acts, for the audit trail. */
    get by() {
      return actingOf(request)
    },
    get user() {
      return sessionOf(request).user
    },
    get session() {
      return sessionOf(request).session
    },
    get workspace() {
      return workspaceOf(request)
    },
    get workspaces() {
      return viewerOf(request)!.workspaces
    },
    /** The token that the forms of a page carry, also of one that needs no session. */
    get csrf() {
      return optionalSessionOf(request)?.csrf
    },
  }
}

export type Visit = ReturnType<typeof visitOf>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** True for an action that needs a sign-in of the last ten minutes, for some forms at least. A text is the reason why it needs none. */
    readonly freshSignIn?: true | string
  }
}

interface Guard {
  /** True to refuse members who are no owners of the workspace. */
  readonly owners?: true
  /** Requires a sign-in of the last ten minutes: always, or where the function says so. A text is the reason why none is needed. */
  readonly freshSignIn?: true | NeedsFreshSignIn | string
  readonly keepsField?: KeepsField
  readonly cost?: FastifyContextConfig['cost']
  readonly countAttempt?: ReturnType<typeof limitAttempts>
}

/** The guard of a form without secrets that needs a sign-in of the last ten minutes. */
export const FRESH_SIGN_IN = { freshSignIn: true, keepsField: KEEPS_ALL } as const

/** Makes the options of a route that is no form page. Refusals that hold for anybody come before the question who sends the request. */
export function guarded(services: ConsoleDependencies, guard: Guard) {
  const { owners, freshSignIn, keepsField, cost = 'page', countAttempt } = guard
  const needs = typeof freshSignIn === 'string' ? undefined : freshSignIn
  const checks = [owners && ownersOnly, needs && freshSignInOnly(services, needs), countAttempt]
  return {
    config: { keepsField, cost, freshSignIn: typeof freshSignIn === 'function' ? true : freshSignIn } as const,
    preHandler: checks.filter((check) => check !== undefined),
  }
}

type Shown = VNode | { readonly page: VNode; readonly status: number }

/** A form that was not saved, and why. */
export interface Refused {
  /** The address of the form, as the page names it. */
  readonly form: string
  readonly values: Fields
  readonly problem: string
}

type Loaded<L> = Visit & { readonly loaded: L }

export type Form<L> = Guard & {
  readonly freshSignIn: NonNullable<Guard['freshSignIn']>
  /** False if a refused form gets an error page instead of its own. */
  readonly showsRefusal?: false
} & (
    | {
        readonly save: (visit: Loaded<L>) => Promise<unknown>
        /** The code of the notice that the form was saved. */
        readonly done?: string
        /** The path to which a saved form leads. Defaults to its page. */
        readonly leadsTo?: string | ((at: WorkspacePaths) => string)
      }
    /** Saves the form, and returns a path to lead to, a page to show, or the answer that it has sent. */
    | { readonly answer: (visit: Loaded<L>) => Promise<string | Shown | FastifyReply> }
  )

interface FormPage<L> extends Guard {
  /** Loads what the address names, for the page and for each of its forms. */
  readonly load?: (visit: Visit) => L | Promise<L>
  /** Shows the page, also with a form that was refused. */
  readonly show: (visit: Loaded<L> & { readonly refused?: Refused }) => Shown | Promise<Shown>
  /** The form whose address is that of the page. */
  readonly form?: Form<L>
  /** Forms of the page that are sent to other addresses. */
  readonly forms?: Readonly<Record<string, Form<L>>>
}

/** Forms of a page, by their addresses. They use nothing that the page loads. */
export type Forms = Readonly<Record<string, Form<unknown>>>

/** Registers a page and its forms. A page for owners has forms for owners. */
export function addPage<L>(app: App, services: ConsoleDependencies, address: string, page: FormPage<L>): void {
  const { load = () => undefined as L, show, form, forms, ...guard } = page
  async function visit(request: FastifyRequest, reply: FastifyReply): Promise<Loaded<L>> {
    const visit = visitOf(request, reply)
    return Object.assign(visit, { loaded: await load(visit) })
  }

  app.get(address, guarded(services, guard), async (request, reply) => {
    return send(request, reply, await show(await visit(request, reply)))
  })

  for (const [at, one] of Object.entries({ ...forms, ...(form && { [address]: form }) })) {
    app.post(at, guarded(services, { ...guard, ...one }), async (request, reply) => {
      const filled = await visit(request, reply)
      const answer = await answerOf(one, filled).catch(async (error: unknown) => {
        if (one.showsRefusal === false) throw error
        const refused = { form: at, values: filled.form, problem: refusalOf(error) }
        const shown = await show(Object.assign(filled, { refused }))
        return 'page' in shown ? shown : { page: shown, status: 422 }
      })
      if (typeof answer === 'string') return reply.redirect(answer, 303)
      return 'raw' in answer ? answer : send(request, reply, answer)
    })
  }

  async function answerOf(form: Form<L>, filled: Loaded<L>): Promise<string | Shown | FastifyReply> {
    if ('answer' in form) return form.answer(filled)
    const { save, done, leadsTo = (app.prefix + address).replace(':workspace', filled.params.workspace) } = form
    await save(filled)
    const path = typeof leadsTo === 'string' ? leadsTo : leadsTo(filled.workspace.at)
    return done === undefined ? path : withNotice(path, done)
  }
}

/** Returns what an address names. @throws ServiceError `not_found` where there is nothing */
export function requireFound<T>(thing: T | undefined, problem: string): T {
  if (thing === undefined) throw new ServiceError('not_found', problem)
  return thing
}

/** Makes a path whose page shows the notice of this code. */
export function withNotice(path: string, done: string): string {
  return `${path}?done=${done}`
}

function send(request: FastifyRequest, reply: FastifyReply, shown: Shown): FastifyReply {
  const { page, status } = 'page' in shown ? shown : { page: shown, status: 200 }
  const viewer = viewerOf(request)
  if (!viewer) return sendPage(reply, page, status)
  const { done } = queryOf(request)
  return sendPage(reply, <Viewing.Provider value={{ ...viewer, done }}>{page}</Viewing.Provider>, status)
}

/**
 * Words a refusal for the page.
 * @throws any error that is not about the form's values: it gets an error page
 */
export function refusalOf(error: unknown): string {
  if (error instanceof ServiceError && (error.code === 'bad_request' || error.code === 'conflict')) return error.message
  throw error
}

/**
 * Leads the browser from a form to another place. A redirect would count for `form-action`, and so would each one after it: applications
 * redirect on to schemes and loopback addresses that nobody knows before. The browser follows `refresh`, which no such rule holds back.
 */
export function leadAway(reply: FastifyReply, url: string, place: string): FastifyReply {
  reply.header('refresh', `0;url=${url}`)
  return sendPage(
    reply,
    <PlainPage title={`Continue to ${place}`}>
      <p>
        If nothing happens, <a href={url}>continue to {place}</a>. Once you are there, you can close this page.
      </p>
    </PlainPage>,
  )
}
