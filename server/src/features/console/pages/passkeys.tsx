/** Signing in with a passkey, and adding and removing passkeys. */
import { byNobody } from '../../../base/actor.ts'
import type { App } from '../../../http/instance.ts'
import { paths, returnPath } from '../../../web/console-paths.ts'
import { limitAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { type Forms, guarded, refusalOf } from '../form-page.tsx'
import { requireParty } from '../relying-party.ts'
import { formOf } from '../request-fields.ts'
import { optionalSessionOf, sessionOf } from '../session.ts'
import { sendSignIn } from '../sign-in-page.tsx'
import { ticketCookie } from '../ticket-cookie.ts'
import { carriedForm } from '../unsent.tsx'
import { arrive } from './sign-in.tsx'

export function passkeySignInRoutes(app: App, services: ConsoleDependencies): void {
  const { passkeys, counters, config } = services
  // A passkey cannot be guessed. The limit is on rows that strangers make the database keep. It is counted by itself: wrong passwords leave passkeys
  // alone.
  const countAttempt = limitAttempts(counters, config.signInLimit * 10, 'passkey')
  const cookie = ticketCookie('passkey', config.publicUrl)
  const signsIn = guarded(services, { freshSignIn: 'is a sign-in' })

  app.post(paths.passkeySignInOptions, signsIn, async (request, reply) => {
    await countAttempt(request, reply)
    const { options, ticket } = await passkeys.beginSignIn(requireParty(request, config.publicUrl))
    cookie.give(reply, ticket)
    return reply.send(options)
  })

  app.post(paths.passkeySignIn, signsIn, async (request, reply) => {
    const values = formOf(request)
    const { credential = '', next } = values
    const destination = { next: returnPath(next), unsent: carriedForm(values) }
    const party = requireParty(request, config.publicUrl)
    // Attempts are counted before they are examined, because refusals stay in the audit trail.
    await countAttempt(request, reply)
    const ticket = cookie.take(request, reply)
    try {
      const user = await passkeys.signIn({ party, ticket, credential }, byNobody(request.ip))
      return await arrive({ services, request, reply }, { user, method: 'passkey' }, destination)
    } catch (error) {
      const problem = refusalOf(error)
      return sendSignIn(reply, services, { ...destination, problem, session: optionalSessionOf(request) })
    }
  })
}

/** Adds the route with the options of WebAuthn for the script that adds a passkey. */
export function passkeyRoutes(app: App, services: ConsoleDependencies): void {
  const { passkeys, config } = services
  app.post(paths.passkeyOptions, guarded(services, { freshSignIn: true }), async (request, reply) => {
    const party = requireParty(request, config.publicUrl)
    const { options, ticket } = await passkeys.beginRegistration(sessionOf(request).user, party)
    ticketCookie('passkey', config.publicUrl).give(reply, ticket)
    return reply.send(options)
  })
}

/** The forms of the account page that add and remove a passkey. */
export function passkeyForms({ passkeys, config }: ConsoleDependencies): Forms {
  const cookie = ticketCookie('passkey', config.publicUrl)
  return {
    [paths.passkeys]: {
      freshSignIn: true,
      save: async ({ request, reply, user, form: { credential = '', passkey_name: name = '' }, by }) => {
        const party = requireParty(request, config.publicUrl)
        const ticket = cookie.take(request, reply)
        await passkeys.register(user, { party, ticket, credential, name }, by)
      },
      done: 'passkey-added',
    },
    [paths.removePasskey]: {
      freshSignIn: true,
      save: ({ user, form, by }) => passkeys.remove(user.id, form.id ?? '', by),
      done: 'passkey-removed',
    },
  }
}
