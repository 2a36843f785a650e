/** The account page: name, ways to sign in, and sessions. */
import type { VNode } from 'preact'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sentence } from '../../../web/words.tsx'
import type { RemainingSignInMethods } from '../../people/new-passwords.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, type Refused, type Visit } from '../form-page.tsx'
import { beginAttempt } from '../known-browser.ts'
import { ConsolePage, useViewer } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'
import { allKept, KeptWaysIn, keptIn, type WaysIn, waysInOf } from '../parts/kept-ways-in.tsx'
import { NewPassword } from '../parts/new-password.tsx'
import { passkeyPlace } from '../relying-party.ts'
import { sessionOf } from '../session.ts'
import { isFresh } from '../sign-in-again.ts'
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
import { addressForms } from './address.tsx'
import { linkForms } from './oidc.tsx'
import { passkeyForms } from './passkeys.tsx'

export function accountRoutes(app: App, services: ConsoleDependencies): void {
  const { accounts, sessions } = services

  addPage(app, services, paths.account, {
    show: (visit) => accountPage(services, visit),
    forms: {
      [paths.accountName]: {
        freshSignIn: 'changes words alone',
        keepsField: KEEPS_ALL,
        save: ({ user, form, by }) => accounts.rename(user.id, form.name ?? '', by),
        done: 'name-changed',
      },
      [paths.accountPassword]: {
        // No fresh sign-in is needed to replace a password, which takes the current one.
        freshSignIn: (request) => !sessionOf(request).user.hasPassword,
        cost: 'password',
        save: async ({ request, user, session, form: { current = '', next = '' }, by }) => {
          const guess = user.hasPassword ? await beginAttempt(services, request, { passwordOf: user.email }) : undefined
          const change = { current, next, keep: keptIn(request), sessionId: session.id }
          await accounts.passwords.changePassword(user, change, by)
          await guess?.succeeded()
        },
        done: 'password-changed',
      },
      [paths.endSession]: {
        freshSignIn: true,
        // An ended session need not be ended.
        save: ({ user, form, by }) => sessions.end(user.id, form.id ?? '', by),
        done: 'session-ended',
      },
      [paths.endOtherSessions]: {
        freshSignIn: true,
        save: ({ user, session, by }) => sessions.endOthers(user.id, session.id, by),
        done: 'sessions-ended',
      },
      ...addressForms(services),
      ...passkeyForms(services),
      ...linkForms(services),
    },
  })
}

async function accountPage(
  services: ConsoleDependencies,
  { request, user, session, refused }: Visit & { readonly refused?: Refused },
): Promise<VNode> {
  const { allowances, sessions, secondSteps, oidcSignIn, config, outbox } = services
  const ways = await waysInOf(services, user.id)
  const fresh = isFresh(request, services.now)
  const isLinked = ways.identities.some(({ issuer }) => issuer === oidcSignIn?.issuer)
  // Problems of the name are shown at its field.
  const refusedName = refused?.form === paths.accountName ? refused : undefined
  const kept = refused?.form === paths.accountPassword ? keptIn(request) : allKept(ways)
  return (
    <ConsolePage
      title="Account"
      section="account"
      problem={refusedName ? undefined : refused?.problem}
      scripts={['passkeys']}
    >
      <p>
        You sign in as <strong>{user.email}</strong>. Applications that may act for you are under{' '}
        <a href={paths.applications}>Connected applications</a>, and what happened on your account under{' '}
        <a href={paths.accountEvents}>Events</a>.
      </p>
      {outbox.isOn && !user.isConfirmed && <UnconfirmedAddress email={user.email} />}
      <div class="columns">
        <div>
          <h2>Name</h2>
          <PostForm action={paths.accountName}>
            <Field
              name="name"
              label="Your name"
              value={refusedName ? (refusedName.values.name ?? '') : user.name}
              problem={refusedName && sentence(refusedName.problem)}
              required
              maxLength={100}
              autocomplete="name"
            />
            <button type="submit">Change the name</button>
          </PostForm>
          <Passkeys passkeys={ways.passkeys} place={passkeyPlace(request, config.publicUrl)} isFresh={fresh} />
          {oidcSignIn && <Oidc provider={oidcSignIn.name} isLinked={isLinked} isFresh={fresh} />}
        </div>
        <div>
          <h2>Password</h2>
          <Password ways={ways} kept={kept} isFresh={fresh} />
          {user.hasPassword && <SecondStepState secondStep={await secondSteps.find(user.id)} />}
        </div>
      </div>
      <Allowance email={user.email} {...(await allowances.sharing(user))} />
      <Sessions sessions={await sessions.list(user.id)} current={session.id} ends={config.sessionEnds} />
      <h2>Closing the account</h2>
      <p>
        <a class="button danger quiet" href={paths.closeAccount}>
          Close the account
        </a>
      </p>
    </ConsolePage>
  )
}

function Password({ ways, kept, isFresh }: { ways: WaysIn; kept: RemainingSignInMethods; isFresh: boolean }) {
  const { user } = useViewer()
  if (!user.hasPassword && !isFresh) {
    return (
      <>
        <p>You have no password yet.</p>
        <ConfirmFirst>To choose one</ConfirmFirst>
      </>
    )
  }
  return (
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
  )
}
