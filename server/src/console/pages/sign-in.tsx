/** Set-up, invitations, signing in with a password, and choosing a new password with a link. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/instance.ts'
import { type Link, type NewUser, unusableLink } from '../../people/accounts.ts'
import { sendPage } from '../../web/document.tsx'
import { createAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { PlainPage } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'
import { NewPassword } from '../parts/new-password.tsx'
import { OidcEntry, OidcSignIn, PasskeySignIn } from '../parts/sign-in-methods.tsx'
import { paths, returnPath, signInPath } from '../paths.ts'
import { refusalOf } from '../refusal.ts'
import { formOf, queryOf } from '../request-fields.ts'
import {
  type ConsoleSession,
  type Entering,
  enter as enterSession,
  optionalSessionOf,
  signOut,
  startSession,
} from '../session.ts'
import { CarriedForm, carriedForm, ResendForm, sendConfirmation, type UnsentForm, UnsentValues } from '../unsent.tsx'
import { ROLE_WORDS } from '../words.ts'
import { ForgottenHelp } from './forgotten.tsx'

type SignInServices = Pick<
  ConsoleDependencies,
  'accounts' | 'sessions' | 'counters' | 'config' | 'oidcSignIn' | 'outbox'
>

type Token = { Params: { token: string } }

export function signInRoutes(app: App, services: SignInServices): void {
  const { accounts, sessions, counters, config, oidcSignIn } = services
  const oidcName = oidcSignIn?.name
  const attempts = createAttempts(counters, config.signInLimit)

  function enter(request: FastifyRequest, reply: FastifyReply, userId: string, next: string) {
    return enterSession({ request, reply, sessions, config }, userId, next)
  }

  async function requireLink<K extends Link['kind']>(token: string, kind: K): Promise<Extract<Link, { kind: K }>> {
    const link = await accounts.link(token)
    if (link?.kind === kind) return link as Extract<Link, { kind: K }>
    throw unusableLink()
  }

  app.get(paths.signIn, async (request, reply) => {
    const { next, done } = queryOf(request)
    if (optionalSessionOf(request)) return reply.redirect(returnPath(next), 303)
    return sendSignIn(reply, services, { next: returnPath(next), done })
  })

  app.post(paths.signIn, async (request, reply) => {
    const values = formOf(request)
    const { email = '', password = '', next } = values
    await attempts.count(request, reply, email)
    const user = await accounts.byPassword(email, password)
    const unsent = carriedForm(values)
    if (user) return arrive({ request, reply, sessions, config }, user.id, { next: returnPath(next), unsent })
    const problem = 'the e-mail address or the password is not right'
    return sendSignIn(reply, services, { next: returnPath(next), email, problem, unsent })
  })

  app.post(paths.signOut, async (request, reply) => {
    const session = optionalSessionOf(request)
    if (session) await sessions.end(session.user.id, session.session.id)
    signOut(reply, config.publicUrl)
    return reply.redirect(`${paths.signIn}?done=signed-out`, 303)
  })

  app.get<Token>('/console/setup/:token', async (request, reply) => {
    const link = await requireLink(request.params.token, 'setup')
    return sendPage(reply, <SetUp token={request.params.token} link={link} values={{}} oidcName={oidcName} />)
  })

  app.post<Token>('/console/setup/:token', async (request, reply) => {
    const { token } = request.params
    const values = formOf(request)
    await attempts.count(request, reply)
    const link = await requireLink(token, 'setup')
    try {
      const { userId } = await accounts.setUp(token, newUserOf(values), values.workspace?.trim() ?? '')
      return enter(request, reply, userId, paths.home)
    } catch (error) {
      const problem = refusalOf(error)
      const page = <SetUp token={token} link={link} values={values} oidcName={oidcName} problem={problem} />
      return sendPage(reply, page, 422)
    }
  })

  app.get<Token>('/console/join/:token', async (request, reply) => {
    const { token } = request.params
    const link = await requireLink(token, 'invitation')
    const session = optionalSessionOf(request)
    return sendPage(reply, <Join token={token} link={link} values={{}} session={session} oidcName={oidcName} />)
  })

  app.post<Token>('/console/join/:token', async (request, reply) => {
    const { token } = request.params
    const values = formOf(request)
    const session = optionalSessionOf(request)
    await attempts.count(request, reply)
    const link = await requireLink(token, 'invitation')
    try {
      const newUser = session ? { userId: session.user.id } : newUserOf(values)
      const { userId, workspaceId } = await accounts.join(token, newUser)
      const next = paths.claims(workspaceId)
      return session ? reply.redirect(next, 303) : enter(request, reply, userId, next)
    } catch (error) {
      const problem = refusalOf(error)
      const page = <Join {...{ token, link, values, session, oidcName, problem }} />
      return sendPage(reply, page, 422)
    }
  })

  app.get<Token>('/console/reset/:token', async (request, reply) => {
    const { token } = request.params
    const link = await requireLink(token, 'reset')
    return sendPage(reply, <Reset token={token} link={link} csrf={optionalSessionOf(request)?.csrf} />)
  })

  app.post<Token>('/console/reset/:token', async (request, reply) => {
    const { token } = request.params
    await attempts.count(request, reply)
    const link = await requireLink(token, 'reset')
    try {
      const { userId } = await accounts.reset(token, formOf(request).password ?? '')
      // An attacker who had the account may have added a way to sign in: this page lists all of them.
      return enter(request, reply, userId, `${paths.account}?done=password-reset`)
    } catch (error) {
      const problem = refusalOf(error)
      return sendPage(
        reply,
        <Reset token={token} link={link} csrf={optionalSessionOf(request)?.csrf} problem={problem} />,
        422,
      )
    }
  })
}

type Values = Readonly<Record<string, string | undefined>>

function newUserOf({ name = '', email = '', password = '' }: Values): NewUser {
  return { name, email, proof: { password } }
}

interface Destination {
  /** One of our own paths. */
  readonly next: string
  /** Shown in place of `next`. */
  readonly unsent?: UnsentForm | undefined
}

/** Begins a session, and shows the unsent form or redirects to `next`. */
export async function arrive(entering: Entering, userId: string, { next, unsent }: Destination): Promise<FastifyReply> {
  if (!unsent) return enterSession(entering, userId, next)
  return sendConfirmation(entering.reply, unsent, await startSession(entering, userId), 200)
}

interface SignInProps extends Destination {
  readonly email?: string
  readonly problem?: string
  readonly done?: string | undefined
}

/** The page with all ways to sign in; with a problem, as the answer to a form. */
export function sendSignIn(
  reply: FastifyReply,
  { oidcSignIn, outbox }: Pick<SignInServices, 'oidcSignIn' | 'outbox'>,
  { status, ...props }: SignInProps & { readonly status?: number },
): FastifyReply {
  const page = <SignIn {...props} oidcName={oidcSignIn?.name} sendsMail={outbox.isOn} />
  return sendPage(reply, page, status ?? (props.problem === undefined ? 200 : 422))
}

type SignInPageProps = SignInProps & { readonly oidcName: string | undefined; readonly sendsMail: boolean }

function SignIn({ next, unsent, email, problem, done, oidcName, sendsMail }: SignInPageProps) {
  return (
    <PlainPage
      title={unsent ? 'Sign in to send your form' : 'Sign in'}
      problem={problem}
      done={done}
      scripts={['passkeys']}
    >
      {unsent ? <UnsentValues unsent={unsent} /> : null}
      <PostForm action={paths.signIn}>
        <input type="hidden" name="next" value={next} />
        <CarriedForm unsent={unsent} />
        <Field name="email" label="E-mail" type="email" value={email} required autocomplete="username" />
        <Field name="password" label="Password" type="password" required autocomplete="current-password" />
        <button type="submit">Sign in</button>
      </PostForm>
      <PasskeySignIn next={next}>
        <CarriedForm unsent={unsent} />
      </PasskeySignIn>
      {oidcName === undefined ? null : <OidcSignIn name={oidcName} next={next} inNewTab={unsent !== undefined} />}
      {unsent ? (
        <>
          <p>If you have signed in in another tab, send your form from here:</p>
          <ResendForm unsent={unsent} label="Send it again" />
        </>
      ) : null}
      <ForgottenHelp sendsMail={sendsMail} />
    </PlainPage>
  )
}

function NewAccountFields({ values }: { readonly values: Values }) {
  return (
    <>
      <Field name="name" label="Your name" value={values.name} required maxLength={100} autocomplete="name" />
      <Field name="email" label="E-mail" type="email" value={values.email} required autocomplete="username" />
      <PasswordField />
    </>
  )
}

function PasswordField() {
  return <NewPassword name="password" label="Password" more="You can add a passkey afterwards, which is safer." />
}

interface SetUpProps {
  readonly token: string
  readonly link: Extract<Link, { kind: 'setup' }>
  readonly values: Values
  readonly oidcName: string | undefined
  readonly problem?: string
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
  readonly link: Extract<Link, { kind: 'invitation' }>
  readonly values: Values
  readonly session: ConsoleSession | undefined
  readonly oidcName: string | undefined
  readonly problem?: string
}

function Join({ token, link, values, session, oidcName, problem }: JoinProps) {
  const action = paths.invitation(token)
  return (
    <PlainPage title={`Join ${link.workspaceName}`} problem={problem}>
      <p>
        You are invited to the workspace <strong>{link.workspaceName}</strong> as {ROLE_WORDS[link.role]}.
      </p>
      {session ? (
        <PostForm action={action} csrf={session.csrf}>
          <button type="submit">Join as {session.user.name}</button>
        </PostForm>
      ) : (
        <>
          <PostForm action={action}>
            <input type="hidden" name="token" value={token} />
            <NewAccountFields values={values} />
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

interface ResetProps {
  readonly token: string
  readonly link: Extract<Link, { kind: 'reset' }>
  /** Undefined when signed out. */
  readonly csrf: string | undefined
  readonly problem?: string
}

function Reset({ token, link, csrf, problem }: ResetProps) {
  return (
    <PlainPage title="Choose a new password" problem={problem}>
      <p>
        For the account <strong>{link.email}</strong>. All its sessions end.
      </p>
      <PostForm action={paths.reset(token)} csrf={csrf}>
        <PasswordField />
        <button type="submit">Save the password</button>
      </PostForm>
    </PlainPage>
  )
}
