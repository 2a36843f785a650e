/** The pages for signing in, for confirming it once more, and for the code after a password. */

import type { FastifyReply } from 'fastify'
import { paths } from '../../web/console-paths.ts'
import { sendPage } from '../../web/document.tsx'
import type { ConsoleDependencies } from './dependencies.ts'
import { PlainPage } from './page.tsx'
import { Field, PostForm } from './parts/form.tsx'
import { OidcSignIn, PasskeySignIn } from './parts/sign-in-methods.tsx'
import type { ConsoleSession } from './session.ts'
import { CarriedForm, ResendForm, type UnsentForm, UnsentValues } from './unsent.tsx'

/** The page to which a sign-in leads. */
export interface Destination {
  /** The path to lead to, one of our own. */
  readonly next: string
  /** The form to show instead of leading to `next`. */
  readonly unsent?: UnsentForm
}

export interface SignInProps extends Destination {
  /** The session of this browser, if the person in it is asked once more. */
  readonly session?: ConsoleSession
  readonly email?: string
  readonly problem?: string
  readonly done?: string
}

/** Sends the page with all ways to sign in; with a problem, as the answer to a form. */
export function sendSignIn(
  reply: FastifyReply,
  { oidcSignIn, outbox }: ConsoleDependencies,
  { status, ...props }: SignInProps & { readonly status?: number },
): FastifyReply {
  const Page = props.session ? Confirm : SignIn
  const page = <Page {...props} oidcName={oidcSignIn?.name} sendsMail={outbox.isOn} />
  return sendPage(reply, page, status ?? (props.problem === undefined ? 200 : 422))
}

interface SignInPageProps extends SignInProps {
  readonly oidcName: string | undefined
  readonly sendsMail: boolean
}

function SignIn(props: SignInPageProps) {
  const { unsent, email, problem, done, sendsMail } = props
  return (
    <PlainPage
      title={unsent ? 'Sign in to send your form' : 'Sign in'}
      problem={problem}
      done={done}
      scripts={['passkeys']}
    >
      {unsent && <UnsentValues unsent={unsent} />}
      <PostForm action={paths.signIn}>
        <LeadsOn {...props} />
        <Field name="email" label="E-mail" type="email" value={email} required autocomplete="username" />
        <Field name="password" label="Password" type="password" required autocomplete="current-password" />
        <button type="submit">Sign in</button>
      </PostForm>
      <OtherWays {...props} />
      {sendsMail ? (
        <p class="help">
          <a href={paths.forgotten}>Forgotten your password?</a>
        </p>
      ) : (
        <p class="help">
          Forgotten your password? Ask the operator of this service for a link to a new one (
          <code>claimcheck user reset EMAIL</code>).
        </p>
      )}
    </PlainPage>
  )
}

/** Asks a signed-in person once more. The new session replaces the one that they have. */
function Confirm(props: SignInPageProps) {
  const { session, unsent, problem } = props
  const { user, csrf } = session!
  return (
    <PlainPage title="Confirm that it is you" problem={problem} csrf={csrf} scripts={['passkeys']}>
      <p>
        This changes who can get in or what is trusted, so it needs a sign-in of the last ten minutes. Sign in again as{' '}
        <strong>{user.email}</strong>: you go on where you were.
      </p>
      {unsent && <UnsentValues unsent={unsent} />}
      {user.hasPassword && (
        <PostForm action={paths.signIn}>
          <LeadsOn {...props} />
          <input type="hidden" name="email" value={user.email} autocomplete="username" />
          <Field name="password" label="Password" type="password" required autocomplete="current-password" />
          <button type="submit">Go on</button>
        </PostForm>
      )}
      <OtherWays {...props} />
      <p>
        <a href={paths.account}>Cancel</a>
      </p>
    </PlainPage>
  )
}

function OtherWays({ next, unsent, oidcName }: SignInPageProps) {
  return (
    <>
      <PasskeySignIn>
        <LeadsOn next={next} unsent={unsent} />
      </PasskeySignIn>
      {oidcName !== undefined && <OidcSignIn name={oidcName} next={next} inNewTab={unsent !== undefined} />}
      {unsent && (
        <>
          <p>If you have signed in in another tab, send your form from here:</p>
          <ResendForm unsent={unsent} label="Send it again" />
        </>
      )}
    </>
  )
}

/** The hidden fields that lead on after a sign-in. */
function LeadsOn({ next, unsent }: Destination) {
  return (
    <>
      <input type="hidden" name="next" value={next} />
      <CarriedForm unsent={unsent} />
    </>
  )
}

interface CodeProps extends Destination {
  /** The token of the session that this browser has. */
  readonly csrf: string | undefined
  readonly problem?: string
  /** The time to wait, for a code that was not compared because of it. */
  readonly retryAfterMs?: number
}

/** Asks for a code of the authenticator app, after a right password. */
export function sendCode(reply: FastifyReply, props: CodeProps): FastifyReply {
  const { csrf, problem, retryAfterMs } = props
  const page = (
    <PlainPage title="Your second step" problem={problem} csrf={csrf}>
      <p>Your password is right. Now type the code that your authenticator app shows for Claimcheck.</p>
      <PostForm action={paths.signInCode}>
        <LeadsOn {...props} />
        <Field
          name="code"
          label="Code"
          required
          maxLength={40}
          autocomplete="one-time-code"
          spellcheck={false}
          help="Six digits, or one of your recovery codes."
        />
        <button type="submit">Sign in</button>
      </PostForm>
      <p class="help">
        Lost both? Sign in with a passkey, or ask the operator of this service to switch your second step off (
        <code>claimcheck user reset EMAIL --without-second-step</code>).
      </p>
    </PlainPage>
  )
  if (retryAfterMs !== undefined) reply.header('retry-after', Math.ceil(retryAfterMs / 1000))
  const refused = retryAfterMs === undefined ? 422 : 429
  return sendPage(reply, page, problem === undefined ? 200 : refused)
}
