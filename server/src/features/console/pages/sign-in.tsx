/** Pages of links and passwords: set-up, invitations, signing in with a password, and choosing a new password with a link. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import type { FastifyReply } from 'fastify'
import { byNobody } from '../../../base/actor.ts'
import type { App } from '../../../http/instance.ts'
import { paths, pathsIn, returnPath, signInPath } from '../../../web/console-paths.ts'
import { Name, Now } from '../../../web/parts/values.tsx'
import type { Link } from '../../people/accounts.ts'
import { unusableLink } from '../../people/links.ts'
import type { NewUser } from '../../people/new-accounts.ts'
import { limitAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, guarded, type Visit, withNotice } from '../form-page.tsx'
import { beginAttempt } from '../known-browser.ts'
import { PlainPage } from '../page.tsx'
import { Field, PostForm, Tick } from '../parts/form.tsx'
import { KeptWaysIn, keptIn, waysInOf } from '../parts/kept-ways-in.tsx'
import { NewPassword } from '../parts/new-password.tsx'
import { OidcEntry } from '../parts/sign-in-methods.tsx'
import { type Fields, formOf, queryOf } from '../request-fields.ts'
import {
  type Arrival,
  actingOf,
  type ConsoleSession,
  deleteSessionCookie,
  type Entering,
  enter,
  optionalSessionOf,
  startSession,
} from '../session.ts'
import { type Destination, sendCode, sendSignIn } from '../sign-in-page.tsx'
import { ticketCookie } from '../ticket-cookie.ts'
import { carriedForm, sendConfirmation } from '../unsent.tsx'
import { ROLE_WORDS } from '../words.ts'
import { askToConfirm, HELD, TAKES_ADDRESS } from './address.tsx'

/** Leads on after a right password: into the console, or to the second step. */
async function passPassword(
  entering: Entering & { readonly services: ConsoleDependencies },
  user: Arrival['user'],
  destination: Destination,
): Promise<FastifyReply> {
  const { services, request, reply } = entering
  const ticket = await services.secondSteps.ask(user)
  if (ticket === undefined) return arrive(entering, { user, method: 'password' }, destination)
  ticketCookie('code', services.config.publicUrl).give(reply, ticket)
  return sendCode(reply, { ...destination, csrf: optionalSessionOf(request)?.csrf })
}

export function signInRoutes(app: App, services: ConsoleDependencies): void {
  const { accounts, sessions, secondSteps, config } = services
  const cookie = ticketCookie('code', config.publicUrl)

  app.get(paths.signIn, async (request, reply) => {
    const { next, done } = queryOf(request)
    if (optionalSessionOf(request)) return reply.redirect(returnPath(next), 303)
    return sendSignIn(reply, services, { next: returnPath(next), done })
  })

  const hashes = guarded(services, { freshSignIn: 'is a sign-in', cost: 'password' })
  app.post(paths.signIn, hashes, async (request, reply) => {
    const values = formOf(request)
    const { email = '', password = '', next } = values
    const destination = { next: returnPath(next), unsent: carriedForm(values) }
    const guess = await beginAttempt(services, request, { passwordOf: email })
    const user = await accounts.byPassword(email, password, byNobody(request.ip))
    if (user) {
      await guess.succeeded()
      return passPassword({ services, request, reply }, user, destination)
    }
    const problem = 'the e-mail address or the password is not right'
    return sendSignIn(reply, services, { ...destination, email, problem, session: optionalSessionOf(request) })
  })

  app.post(paths.signOut, guarded(services, { freshSignIn: 'ends access' }), async (request, reply) => {
    const session = optionalSessionOf(request)
    if (session) await sessions.end(session.user.id, session.session.id, actingOf(request), 'signed out')
    deleteSessionCookie(reply, config.publicUrl)
    return reply.redirect(withNotice(paths.signIn, 'signed-out'), 303)
  })

  app.post(paths.signInCode, guarded(services, { freshSignIn: 'is a sign-in' }), async (request, reply) => {
    const values = formOf(request)
    const { code = '', next } = values
    const destination = { next: returnPath(next), unsent: carriedForm(values) }
    const begin = (user: Arrival['user']) => beginAttempt(services, request, { codeOf: user })
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

  linkRoutes(app, services)
}

type LinkOf<K extends Link['kind']> = Extract<Link, { kind: K }>

async function requireLink<K extends Link['kind']>(
  { accounts }: ConsoleDependencies,
  { params }: Visit,
  kind: K,
): Promise<LinkOf<K>> {
  const link = await accounts.link(params.token)
  if (link?.kind === kind) return link as LinkOf<K>
  throw unusableLink()
}

function linkRoutes(app: App, services: ConsoleDependencies): void {
  const { accounts, secondSteps, oidcSignIn, counters, config, now } = services
  /** The guard of the forms, which use the link up. */
  const linkForm = {
    freshSignIn: 'the link is the proof',
    cost: 'password',
    countAttempt: limitAttempts(counters, config.signInLimit),
  } as const

  addPage(app, services, '/console/setup/:token', {
    load: (visit) => requireLink(services, visit, 'setup'),
    show: ({ params, loaded: link, form, refused }) => (
      <PlainPage title="Set up Claimcheck" problem={refused?.problem}>
        <p>
          You are the first person here. You become the owner of all present workspaces, and of each one that is made on
          the command line later.
        </p>
        <PostForm action={paths.setup(params.token)}>
          <input type="hidden" name="token" value={params.token} />
          <NewAccountFields values={form} />
          {!link.hasWorkspace && (
            <Field
              name="workspace"
              label="Workspace"
              value={form.workspace}
              required
              maxLength={64}
              help="A workspace owns keys, connections and claims. Name it after your team or company."
            />
          )}
          <button type="submit">Set up</button>
          <OidcEntry name={oidcSignIn?.name} purpose="setup" />
        </PostForm>
      </PlainPage>
    ),
    form: {
      ...linkForm,
      answer: async ({ request, reply, params, form, by }) => {
        const { user } = await accounts.setUp(params.token, newUserOf(form), form.workspace?.trim() ?? '', by)
        await askToConfirm(services, user, by)
        return enter({ services, request, reply }, { user, method: 'password' }, paths.home)
      },
    },
  })

  addPage(app, services, '/console/join/:token', {
    load: (visit) => requireLink(services, visit, 'invitation'),
    show: ({ request, params, loaded: link, query, form, refused }) => (
      <Join
        token={params.token}
        link={{ ...link, isHeld: link.isHeld || query[HELD] !== undefined }}
        values={form}
        session={optionalSessionOf(request)}
        oidcName={oidcSignIn?.name}
        problem={refused?.problem}
      />
    ),
    form: {
      ...linkForm,
      answer: async ({ request, reply, params, loaded: link, form, by }) => {
        const session = optionalSessionOf(request)
        const newUser = session ? { user: session.user } : newUserOf({ ...form, email: link.recipient ?? form.email })
        const { user, workspaceId } = await accounts.join(params.token, newUser, by)
        const next = pathsIn(workspaceId).claims
        if (session) return next
        await askToConfirm(services, user, by)
        return enter({ services, request, reply }, { user, method: 'password' }, next)
      },
    },
  })

  addPage(app, services, '/console/reset/:token', {
    load: (visit) => requireLink(services, visit, 'reset'),
    show: async ({ request, params, loaded: { email, userId }, csrf, refused }) => (
      <Now.Provider value={now()}>
        <PlainPage title="Choose a new password" problem={refused?.problem} csrf={csrf}>
          <p>
            For the account <strong>{email}</strong>. All its sessions end, and so do its connected applications, the
            open links to a new password, and the open invitations that it made.
          </p>
          <PostForm action={paths.reset(params.token)}>
            <PasswordField />
            <KeptWaysIn ways={await waysInOf(services, userId)} kept={keptIn(request)} />
            <button type="submit">Save the password</button>
          </PostForm>
          {(await secondSteps.find(userId)) && (
            <p class="help">
              Your second step stays: you are asked for a code next. If you have lost it, ask the operator of this
              service for another link (<code>claimcheck user reset EMAIL --without-second-step</code>).
            </p>
          )}
        </PlainPage>
      </Now.Provider>
    ),
    form: {
      ...linkForm,
      answer: async ({ request, reply, params, form, by }) => {
        const user = await accounts.passwords.reset(params.token, form.password ?? '', keptIn(request), by)
        const next = withNotice(paths.account, 'password-reset')
        return passPassword({ services, request, reply }, user, { next })
      },
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

/**
 * The fields for a new account.
 * @param recipient the address of the account, where it is known
 */
function NewAccountFields({ values, recipient = null }: { values: Fields; recipient?: string | null }) {
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

function Join({
  token,
  link,
  values,
  session,
  oidcName,
  problem,
}: {
  token: string
  link: LinkOf<'invitation'>
  values: Fields
  session: ConsoleSession | undefined
  oidcName: string | undefined
  problem: string | undefined
}) {
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
            {link.isHeld && <TakesAddress isTicked={values[TAKES_ADDRESS] !== undefined} />}
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

/** Asks a person who reads the mails of an address before an account that has it, and may be theirs, loses it. */
function TakesAddress({ isTicked }: { isTicked: boolean }) {
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
