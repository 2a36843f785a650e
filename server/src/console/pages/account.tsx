/** The account page: name, ways to sign in, and sessions. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../http/instance.ts'
import { sendPage } from '../../web/document.tsx'
import { sentence } from '../../web/words.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { beginGuess, type GuessServices } from '../known-browser.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'
import { NewPassword } from '../parts/new-password.tsx'
import { paths } from '../paths.ts'
import { refusalOf } from '../refusal.ts'
import { passkeyPlace } from '../relying-party.ts'
import { formOf, queryOf } from '../request-fields.ts'
import { sessionOf, viewerOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'
import { Oidc, type OidcProps, Passkeys, type PasskeysProps, Sessions, type SessionsProps } from './account-parts.tsx'

type AccountServices = GuessServices &
  Pick<ConsoleDependencies, 'accounts' | 'sessions' | 'passkeys' | 'identities' | 'oidcSignIn' | 'now'>

export function accountRoutes(app: App, services: AccountServices): void {
  const { accounts, sessions } = services

  app.get(paths.account, async (request, reply) =>
    sendAccount(request, reply, services, { done: queryOf(request).done }),
  )

  app.post(paths.accountName, KEEPS_ALL, async (request, reply) => {
    const { name = '' } = formOf(request)
    const rename = () => accounts.rename(sessionOf(request).user.id, name)
    return changeAccount(request, reply, services, { work: rename, done: 'name-changed', name })
  })

  app.post(paths.accountPassword, async (request, reply) => {
    const { user, session } = sessionOf(request)
    const { current = '', next = '' } = formOf(request)
    const guess = user.hasPassword ? await beginGuess(services, request, user.email) : undefined
    const change = async () => {
      await accounts.changePassword(user.id, { current, next, sessionId: session.id })
      await guess?.succeeded()
    }
    return changeAccount(request, reply, services, { work: change, done: 'password-changed' })
  })

  app.post(paths.endSession, async (request, reply) => {
    // A session that has ended already is no problem.
    await sessions.end(sessionOf(request).user.id, formOf(request).id ?? '')
    return reply.redirect(`${paths.account}?done=session-ended`, 303)
  })

  app.post(paths.endOtherSessions, async (request, reply) => {
    const { user, session } = sessionOf(request)
    await sessions.endOthers(user.id, session.id)
    return reply.redirect(`${paths.account}?done=sessions-ended`, 303)
  })
}

type ShownServices = Omit<AccountServices, 'accounts' | keyof GuessServices> & Pick<AccountServices, 'config'>

interface Change {
  readonly work: () => Promise<void>
  /** The code of the notice on success. */
  readonly done: string
  /** The name that was typed. */
  readonly name?: string
}

/** Runs `work`, and shows the account again, with a problem where there was one. */
export async function changeAccount(
  request: FastifyRequest,
  reply: FastifyReply,
  services: ShownServices,
  { work, done, ...given }: Change,
): Promise<FastifyReply> {
  try {
    await work()
  } catch (error) {
    return sendAccount(request, reply, services, { problem: refusalOf(error), ...given })
  }
  return reply.redirect(`${paths.account}?done=${done}`, 303)
}

interface Shown extends Pick<Change, 'name'> {
  readonly problem?: string
  readonly done?: string | undefined
}

/** The account page; with a problem, as the answer to a form. */
async function sendAccount(
  request: FastifyRequest,
  reply: FastifyReply,
  { sessions, passkeys, identities, oidcSignIn, config, now }: ShownServices,
  shown: Shown,
): Promise<FastifyReply> {
  const { user, session } = sessionOf(request)
  const linked = await identities.list(user.id)
  const props: AccountProps = {
    ...shown,
    viewer: viewerOf(request),
    now: now(),
    sessions: await sessions.list(user.id),
    sessionId: session.id,
    passkeys: await passkeys.list(user.id),
    place: passkeyPlace(request, config.publicUrl),
    provider: oidcSignIn?.name,
    isLinked: linked.some(({ issuer }) => issuer === oidcSignIn?.issuer),
  }
  return sendPage(reply, <Account {...props} />, shown.problem === undefined ? 200 : 422)
}

type AccountProps = Shown &
  Omit<SessionsProps, 'csrf'> &
  Omit<PasskeysProps, 'csrf'> &
  Omit<OidcProps, 'csrf'> & { readonly viewer: Viewer }

function Account({ viewer, name, problem, done, ...props }: AccountProps) {
  const { user, csrf } = viewer
  // What is wrong with the name stands at its field.
  const notice = name === undefined ? { problem, done } : {}
  return (
    <ConsolePage title="Account" viewer={viewer} section="account" {...notice} scripts={['passkeys']}>
      <p>
        You sign in as <strong>{user.email}</strong>. Applications that may act for you are under{' '}
        <a href={paths.applications}>Connected applications</a>.
      </p>
      <div class="columns">
        <div>
          <h2>Name</h2>
          <PostForm action={paths.accountName} csrf={csrf}>
            <Field
              name="name"
              label="Your name"
              value={name ?? user.name}
              problem={name === undefined ? undefined : problem && sentence(problem)}
              required
              maxLength={100}
              autocomplete="name"
            />
            <button type="submit">Change the name</button>
          </PostForm>
          <Passkeys {...props} csrf={csrf} />
          <Oidc {...props} csrf={csrf} />
        </div>
        <div>
          <Password viewer={viewer} />
        </div>
      </div>
      <Sessions {...props} csrf={csrf} />
    </ConsolePage>
  )
}

function Password({ viewer: { user, csrf } }: { readonly viewer: Viewer }) {
  return (
    <>
      <h2>Password</h2>
      <PostForm action={paths.accountPassword} csrf={csrf}>
        {/* Password managers store the password under it. */}
        <input type="hidden" name="email" value={user.email} autocomplete="username" />
        {user.hasPassword ? (
          <Field name="current" label="Current password" type="password" required autocomplete="current-password" />
        ) : (
          <p>You have no password yet.</p>
        )}
        <NewPassword name="next" label="New password" more="All your other sessions end." />
        <button type="submit">{user.hasPassword ? 'Change the password' : 'Choose a password'}</button>
      </PostForm>
    </>
  )
}
