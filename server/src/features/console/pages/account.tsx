/** The account page: name, ways to sign in, and sessions. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sentence } from '../../../web/words.tsx'
import type { Kept } from '../../people/new-passwords.ts'
import { saveForm, showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly, isFresh } from '../fresh-sign-in.ts'
import { beginAttempt } from '../known-browser.ts'
import { ConsolePage, useViewer } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'
import { allKept, KeptWaysIn, keptIn, type WaysIn, waysInOf } from '../parts/kept-ways-in.tsx'
import { NewPassword } from '../parts/new-password.tsx'
import { passkeyPlace } from '../relying-party.ts'
import { formOf } from '../request-fields.ts'
import { actingOf, sessionOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'
import {
  Allowance,
  ConfirmFirst,
  Oidc,
  Passkeys,
  SecondStepState,
  Sessions,
  UnconfirmedAddress,
} from './account-parts.tsx'

export function accountRoutes(app: App, services: ConsoleDependencies): void {
  const { accounts, sessions } = services

  app.get(paths.account, async (request, reply) => showPage(request, reply, await accountPage(request, services)))

  app.post(paths.accountName, KEEPS_ALL, async (request, reply) => {
    const { name = '' } = formOf(request)
    const rename = () => accounts.rename(sessionOf(request).user.id, name, actingOf(request))
    return changeAccount(request, reply, services, { work: rename, done: 'name-changed', name })
  })

  // Replacing a password takes the current one.
  const isFirst = (request: FastifyRequest) => !sessionOf(request).user.hasPassword
  const fresh = { config: { cost: 'password' }, preHandler: freshSignInOnly(services, isFirst) } as const

  app.post(paths.accountPassword, fresh, async (request, reply) => {
    const { user, session } = sessionOf(request)
    const { current = '', next = '' } = formOf(request)
    const guess = user.hasPassword ? await beginAttempt(services, request, { passwordOf: user.email }) : undefined
    const kept = keptIn(request)
    const change = async () => {
      const change = { current, next, keep: kept, sessionId: session.id }
      await accounts.passwords.changePassword(user, change, actingOf(request))
      await guess?.succeeded()
    }
    return changeAccount(request, reply, services, { work: change, done: 'password-changed', kept })
  })

  app.post(paths.endSession, { preHandler: freshSignInOnly(services) }, async (request, reply) => {
    // A session that has ended already is no problem.
    await sessions.end(sessionOf(request).user.id, formOf(request).id ?? '', actingOf(request))
    return reply.redirect(`${paths.account}?done=session-ended`, 303)
  })

  app.post(paths.endOtherSessions, { preHandler: freshSignInOnly(services) }, async (request, reply) => {
    const { user, session } = sessionOf(request)
    await sessions.endOthers(user.id, session.id, actingOf(request))
    return reply.redirect(`${paths.account}?done=sessions-ended`, 303)
  })
}

interface Change {
  readonly work: () => Promise<void>
  /** The code of the notice on success. */
  readonly done: string
  /** The name that was typed. */
  readonly name?: string
  /** What was ticked to stay with a new password. */
  readonly kept?: Kept
}

/** Runs `work`, and shows the account again, with a problem where there was one. */
export async function changeAccount(
  request: FastifyRequest,
  reply: FastifyReply,
  services: ConsoleDependencies,
  { work, done, ...given }: Change,
): Promise<FastifyReply> {
  return saveForm(request, reply, {
    work,
    next: `${paths.account}?done=${done}`,
    refused: (problem) => accountPage(request, services, { problem, ...given }),
  })
}

interface Shown extends Pick<Change, 'name' | 'kept'> {
  readonly problem?: string
}

async function accountPage(
  request: FastifyRequest,
  services: ConsoleDependencies,
  { name, kept, problem }: Shown = {},
): Promise<VNode> {
  const { user, session } = sessionOf(request)
  const { allowances, sessions, secondSteps, oidcSignIn, config, outbox } = services
  const ways = await waysInOf(services, user.id)
  const fresh = isFresh(request, services.now)
  const isLinked = ways.identities.some(({ issuer }) => issuer === oidcSignIn?.issuer)
  // A problem of the name is shown at its field.
  const atTop = name === undefined ? problem : undefined
  const atName = name === undefined ? undefined : problem && sentence(problem)
  return (
    <ConsolePage title="Account" section="account" problem={atTop} scripts={['passkeys']}>
      <p>
        You sign in as <strong>{user.email}</strong>. Applications that may act for you are under{' '}
        <a href={paths.applications}>Connected applications</a>, and what happened on your account under{' '}
        <a href={paths.accountEvents}>Events</a>.
      </p>
      {outbox.isOn && !user.isConfirmed ? <UnconfirmedAddress email={user.email} /> : null}
      <div class="columns">
        <div>
          <h2>Name</h2>
          <PostForm action={paths.accountName}>
            <Field
              name="name"
              label="Your name"
              value={name ?? user.name}
              problem={atName}
              required
              maxLength={100}
              autocomplete="name"
            />
            <button type="submit">Change the name</button>
          </PostForm>
          <Passkeys passkeys={ways.passkeys} place={passkeyPlace(request, config.publicUrl)} isFresh={fresh} />
          {oidcSignIn ? <Oidc provider={oidcSignIn.name} isLinked={isLinked} isFresh={fresh} /> : null}
        </div>
        <div>
          <Password ways={ways} kept={kept ?? allKept(ways)} isFresh={fresh} />
          {user.hasPassword ? <SecondStepState secondStep={await secondSteps.find(user.id)} /> : null}
        </div>
      </div>
      <Allowance email={user.email} {...(await allowances.sharing(user))} />
      <Sessions sessions={await sessions.list(user.id)} sessionId={session.id} sessionEnds={config.sessionEnds} />
      <h2>Closing the account</h2>
      <p>
        <a class="button danger quiet" href={paths.closeAccount}>
          Close the account
        </a>
      </p>
    </ConsolePage>
  )
}

interface PasswordProps {
  readonly ways: WaysIn
  readonly kept: Kept
  readonly isFresh: boolean
}

function Password({ ways, kept, isFresh }: PasswordProps) {
  const { user } = useViewer()
  if (!user.hasPassword && !isFresh) {
    return (
      <>
        <h2>Password</h2>
        <p>You have no password yet.</p>
        <ConfirmFirst>To choose one</ConfirmFirst>
      </>
    )
  }
  return (
    <>
      <h2>Password</h2>
      <PostForm action={paths.accountPassword}>
        {/* Password managers store the password under it. */}
        <input type="hidden" name="email" value={user.email} autocomplete="username" />
        {user.hasPassword ? (
          <Field name="current" label="Current password" type="password" required autocomplete="current-password" />
        ) : (
          <p>You have no password yet.</p>
        )}
        <NewPassword
          name="next"
          label="New password"
          more="All your other sessions end, and all connected applications."
        />
        <KeptWaysIn ways={ways} kept={kept} />
        <button type="submit">{user.hasPassword ? 'Change the password' : 'Choose a password'}</button>
      </PostForm>
    </>
  )
}
