/** Set-up, invitations, signing in with a password, and choosing a new password with a link. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import { byNobody } from '../../../base/actor.ts'
import type { App } from '../../../http/instance.ts'
import { paths, returnPath, signInPath } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { Name, Now } from '../../../web/parts/values.tsx'
import type { Link } from '../../people/accounts.ts'
import { unusableLink } from '../../people/links.ts'
import type { NewUser } from '../../people/new-accounts.ts'
import type { Kept } from '../../people/new-passwords.ts'
import type { User } from '../../people/sessions.ts'
import { refusalOf } from '../answers.tsx'
import { limitAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { beginAttempt } from '../known-browser.ts'
import { PlainPage } from '../page.tsx'
import { Field, PostForm, Tick } from '../parts/form.tsx'
import { KeptWaysIn, keptIn, type WaysIn, waysInOf } from '../parts/kept-ways-in.tsx'
import { NewPassword } from '../parts/new-password.tsx'
import { OidcEntry } from '../parts/sign-in-methods.tsx'
import { type Fields, formOf, queryOf } from '../request-fields.ts'
import {
  type Arrival,
  actingOf,
  type ConsoleSession,
  type Entering,
  enter,
  optionalSessionOf,
  signOut,
  startSession,
} from '../session.ts'
import { type Destination, sendCode, sendSignIn } from '../sign-in-page.tsx'
import { type TicketCookie, ticketCookie } from '../ticket-cookie.ts'
import { carriedForm, sendConfirmation } from '../unsent.tsx'
import { ROLE_WORDS } from '../words.ts'
import { askToConfirm, HELD, TAKES_ADDRESS } from './address.tsx'

/** They hash a password. */
const HASHES = { config: { cost: 'password' } } as const

type Token = { Params: { token: string } }

export function signInRoutes(app: App, services: ConsoleDependencies): void {
  passwordRoutes(app, services)
  codeRoutes(app, services)
  setUpRoutes(app, services)
  joinRoutes(app, services)
  resetRoutes(app, services)
}

function codeCookie({ config }: ConsoleDependencies): TicketCookie {
  return ticketCookie('code', config.publicUrl)
}

/** After a right password: into the console, or to the second step. */
async function passPassword(
  services: ConsoleDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  user: Pick<User, 'id' | 'generation'>,
  destination: Destination,
): Promise<FastifyReply> {
  const ticket = await services.secondSteps.ask(user)
  if (ticket === undefined) {
    return arrive({ services, request, reply }, { user, method: 'password' }, destination)
  }
  codeCookie(services).give(reply, ticket)
  return sendCode(reply, { ...destination, csrf: optionalSessionOf(request)?.csrf })
}

function passwordRoutes(app: App, services: ConsoleDependencies): void {
  const { accounts, sessions, config } = services

  app.get(paths.signIn, async (request, reply) => {
    const { next, done } = queryOf(request)
    if (optionalSessionOf(request)) return reply.redirect(returnPath(next), 303)
    return sendSignIn(reply, services, { next: returnPath(next), done })
  })

  app.post(paths.signIn, HASHES, async (request, reply) => {
    const values = formOf(request)
    const { email = '', password = '', next } = values
    const guess = await beginAttempt(services, request, { passwordOf: email })
    const user = await accounts.byPassword(email, password, byNobody(request.ip))
    if (user) await guess.succeeded()
    const unsent = carriedForm(values)
    if (user) return passPassword(services, request, reply, user, { next: returnPath(next), unsent })
    const problem = 'the e-mail address or the password is not right'
    const session = optionalSessionOf(request)
    return sendSignIn(reply, services, { next: returnPath(next), email, problem, unsent, session })
  })

  app.post(paths.signOut, async (request, reply) => {
    const session = optionalSessionOf(request)
    if (session) await sessions.end(session.user.id, session.session.id, actingOf(request), 'signed out')
    signOut(reply, config.publicUrl)
    return reply.redirect(`${paths.signIn}?done=signed-out`, 303)
  })
}

function codeRoutes(app: App, services: ConsoleDependencies): void {
  const { secondSteps } = services
  const cookie = codeCookie(services)

  app.post(paths.signInCode, async (request, reply) => {
    const values = formOf(request)
    const { code = '', next } = values
    const destination = { next: returnPath(next), unsent: carriedForm(values) }
    const begin = (user: Pick<User, 'id' | 'generation'>) => beginAttempt(services, request, { codeOf: user })
    const outcome = await secondSteps.answer(cookie.take(request, reply), code, byNobody(request.ip), begin)
    if ('user' in outcome) {
      const arrival = { user: outcome.user, method: 'password_and_code' } as const
      return arrive({ services, request, reply }, arrival, destination)
    }
    const { problem, again, retryAfterMs } = outcome
    const session = optionalSessionOf(request)
    if (again === undefined) return sendSignIn(reply, services, { ...destination, problem, session })
    cookie.give(reply, again)
    return sendCode(reply, { ...destination, problem, retryAfterMs, csrf: session?.csrf })
  })
}

type LinkOf<K extends Link['kind']> = Extract<Link, { kind: K }>

interface LinkForm<K extends Link['kind']> {
  readonly route: string
  readonly kind: K
  /** The page of the form. @param problem why it was refused */
  readonly page: (request: FastifyRequest<Token>, link: LinkOf<K>, problem?: string) => VNode | Promise<VNode>
  readonly work: (request: FastifyRequest<Token>, reply: FastifyReply, link: LinkOf<K>) => Promise<FastifyReply>
}

/** A page that a link opens, with a form that uses the link up. */
function linkRoutes<K extends Link['kind']>(
  app: App,
  { accounts, counters, config }: ConsoleDependencies,
  { route, kind, page, work }: LinkForm<K>,
): void {
  const countAttempt = limitAttempts(counters, config.signInLimit)

  async function requireLink(token: string): Promise<LinkOf<K>> {
    const link = await accounts.link(token)
    if (link?.kind === kind) return link as LinkOf<K>
    throw unusableLink()
  }

  app.get<Token>(route, async (request, reply) =>
    sendPage(reply, await page(request, await requireLink(request.params.token))),
  )

  app.post<Token>(route, HASHES, async (request, reply) => {
    await countAttempt(request, reply)
    const link = await requireLink(request.params.token)
    try {
      return await work(request, reply, link)
    } catch (error) {
      return sendPage(reply, await page(request, link, refusalOf(error)), 422)
    }
  })
}

function setUpRoutes(app: App, services: ConsoleDependencies): void {
  const { accounts, oidcSignIn } = services
  linkRoutes(app, services, {
    route: '/console/setup/:token',
    kind: 'setup',
    page: (request, link, problem) => (
      <SetUp
        token={request.params.token}
        link={link}
        values={formOf(request)}
        oidcName={oidcSignIn?.name}
        problem={problem}
      />
    ),
    async work(request, reply) {
      const values = formOf(request)
      const workspace = values.workspace?.trim() ?? ''
      const { user } = await accounts.setUp(request.params.token, newUserOf(values), workspace, actingOf(request))
      await askToConfirm(services, user, actingOf(request))
      return enter({ services, request, reply }, { user, method: 'password' }, paths.home)
    },
  })
}

function joinRoutes(app: App, services: ConsoleDependencies): void {
  const { accounts, oidcSignIn } = services
  linkRoutes(app, services, {
    route: '/console/join/:token',
    kind: 'invitation',
    page: (request, link, problem) => (
      <Join
        token={request.params.token}
        link={{ ...link, isHeld: link.isHeld || queryOf(request)[HELD] !== undefined }}
        values={formOf(request)}
        session={optionalSessionOf(request)}
        oidcName={oidcSignIn?.name}
        problem={problem}
      />
    ),
    async work(request, reply, link) {
      const values = formOf(request)
      const session = optionalSessionOf(request)
      const email = link.recipient ?? values.email
      const newUser = session ? { user: session.user } : newUserOf({ ...values, email })
      const { user, workspaceId } = await accounts.join(request.params.token, newUser, actingOf(request))
      const next = paths.claims(workspaceId)
      if (session) return reply.redirect(next, 303)
      await askToConfirm(services, user, actingOf(request))
      return enter({ services, request, reply }, { user, method: 'password' }, next)
    },
  })
}

function resetRoutes(app: App, services: ConsoleDependencies): void {
  const { accounts, secondSteps, now } = services
  linkRoutes(app, services, {
    route: '/console/reset/:token',
    kind: 'reset',
    page: async (request, link, problem) => (
      <Now.Provider value={now()}>
        <Reset
          token={request.params.token}
          email={link.email}
          csrf={optionalSessionOf(request)?.csrf}
          ways={await waysInOf(services, link.userId)}
          kept={keptIn(request)}
          hasSecondStep={(await secondSteps.find(link.userId)) !== undefined}
          problem={problem}
        />
      </Now.Provider>
    ),
    async work(request, reply) {
      const { password = '' } = formOf(request)
      const { token } = request.params
      const user = await accounts.passwords.reset(token, password, keptIn(request), actingOf(request))
      return passPassword(services, request, reply, user, { next: `${paths.account}?done=password-reset` })
    },
  })
}

function newUserOf({ name = '', email = '', password = '', [TAKES_ADDRESS]: takes }: Fields): NewUser {
  return { name, email, proof: { password }, takesAddress: takes !== undefined }
}

/** Begins a session, and shows the unsent form or redirects to `next`. */
export async function arrive(
  entering: Entering,
  arrival: Arrival,
  { next, unsent }: Destination,
): Promise<FastifyReply> {
  if (!unsent) return enter(entering, arrival, next)
  return sendConfirmation(entering.reply, unsent, await startSession(entering, arrival), 200)
}

interface NewAccountProps {
  readonly values: Fields
  /** The address of the account, where it is known. */
  readonly recipient?: string | null
}

function NewAccountFields({ values, recipient = null }: NewAccountProps) {
  return (
    <>
      <Field name="name" label="Your name" value={values.name} required maxLength={100} autocomplete="name" />
      <Field
        name="email"
        label="E-mail"
        type="email"
        value={recipient ?? values.email}
        readOnly={recipient !== null}
        required
        autocomplete="username"
      />
      <PasswordField />
    </>
  )
}

function PasswordField() {
  return <NewPassword name="password" label="Password" more="You can add a passkey afterwards, which is safer." />
}

interface SetUpProps {
  readonly token: string
  readonly link: LinkOf<'setup'>
  readonly values: Fields
  readonly oidcName: string | undefined
  readonly problem: string | undefined
}

function SetUp({ token, link, values, oidcName, problem }: SetUpProps) {
  return (
    <PlainPage title="Set up Claimcheck" problem={problem}>
      <p>
        You are the first person here. You become the owner of all present workspaces, and of each one that is made on
        the command line later.
      </p>
      <PostForm action={paths.setup(token)}>
        <input type="hidden" name="token" value={token} />
        <NewAccountFields values={values} />
        {link.hasWorkspace ? null : (
          <Field
            name="workspace"
            label="Workspace"
            value={values.workspace}
            required
            maxLength={64}
            help="A workspace owns keys, connections and claims. Name it after your team or company."
          />
        )}
        <button type="submit">Set up</button>
        <OidcEntry name={oidcName} purpose="setup" />
      </PostForm>
    </PlainPage>
  )
}

interface JoinProps {
  readonly token: string
  readonly link: LinkOf<'invitation'>
  readonly values: Fields
  readonly session: ConsoleSession | undefined
  readonly oidcName: string | undefined
  readonly problem: string | undefined
}

function Join({ token, link, values, session, oidcName, problem }: JoinProps) {
  const action = paths.invitation(token)
  return (
    <PlainPage title={`Join ${visibleName(link.workspaceName)}`} problem={problem} csrf={session?.csrf}>
      <p>
        You are invited to the workspace{' '}
        <strong>
          <Name of={link.workspaceName} />
        </strong>{' '}
        as {ROLE_WORDS[link.role]}.
      </p>
      {session ? (
        <PostForm action={action}>
          <button type="submit">
            Join as <Name of={session.user.name} />
          </button>
        </PostForm>
      ) : (
        <>
          <PostForm action={action}>
            <input type="hidden" name="token" value={token} />
            <NewAccountFields values={values} recipient={link.recipient} />
            {link.isHeld ? <TakesAddress isTicked={values[TAKES_ADDRESS] !== undefined} /> : null}
            <button type="submit">Join</button>
            <OidcEntry name={oidcName} purpose="join" />
          </PostForm>
          <p>
            If you have an account, <a href={signInPath(action)}>sign in</a> first: you come back to this page.
          </p>
        </>
      )}
    </PlainPage>
  )
}

/** Who reads the mails of an address is asked before an account that has it, and may be theirs, loses it. */
function TakesAddress({ isTicked }: { readonly isTicked: boolean }) {
  return (
    <fieldset>
      <legend>An account has this address, and never confirmed it</legend>
      <p class="help">If it is yours, sign in to it, and open this link again: joining confirms the address.</p>
      <Tick field={TAKES_ADDRESS} value="on" isTicked={isTicked}>
        It is not mine: it loses the address, and I get it
      </Tick>
    </fieldset>
  )
}

interface ResetProps {
  readonly token: string
  /** Of the account. */
  readonly email: string
  /** Undefined when signed out. */
  readonly csrf: string | undefined
  readonly ways: WaysIn
  readonly kept: Kept
  readonly hasSecondStep: boolean
  readonly problem: string | undefined
}

function Reset({ token, email, csrf, ways, kept, hasSecondStep, problem }: ResetProps) {
  return (
    <PlainPage title="Choose a new password" problem={problem} csrf={csrf}>
      <p>
        For the account <strong>{email}</strong>. All its sessions end, and so do its connected applications, the open
        links to a new password, and the open invitations that it made.
      </p>
      <PostForm action={paths.reset(token)}>
        <PasswordField />
        <KeptWaysIn ways={ways} kept={kept} />
        <button type="submit">Save the password</button>
      </PostForm>
      {hasSecondStep ? (
        <p class="help">
          Your second step stays: you are asked for a code next. If you have lost it, ask the operator of this service
          for another link (<code>claimcheck user reset EMAIL --without-second-step</code>).
        </p>
      ) : null}
    </PlainPage>
  )
}
