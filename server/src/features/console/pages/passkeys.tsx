/** Signing in with a passkey, and adding and removing passkeys. */
import { byNobody } from '../../../base/actor.ts'
import type { App } from '../../../http/instance.ts'
import { paths, returnPath } from '../../../web/console-paths.ts'
import { refusalOf } from '../answers.tsx'
import { limitAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly } from '../fresh-sign-in.ts'
import { requireParty } from '../relying-party.ts'
import { formOf } from '../request-fields.ts'
import { actingOf, optionalSessionOf, sessionOf } from '../session.ts'
import { sendSignIn } from '../sign-in-page.tsx'
import { ticketCookie } from '../ticket-cookie.ts'
import { carriedForm } from '../unsent.tsx'
import { changeAccount } from './account.tsx'
import { arrive } from './sign-in.tsx'

export function passkeySignInRoutes(app: App, services: ConsoleDependencies): void {
  const { passkeys, counters, config } = services
  // A passkey cannot be guessed. What is limited is what a stranger makes the database keep, by itself: wrong passwords leave passkeys alone.
  const countAttempt = limitAttempts(counters, config.signInLimit * 10, 'passkey')
  const cookie = ticketCookie('passkey', config.publicUrl)

  app.post(paths.passkeySignInOptions, async (request, reply) => {
    await countAttempt(request, reply)
    const { options, ticket } = await passkeys.beginSignIn(requireParty(request, config.publicUrl))
    cookie.give(reply, ticket)
    return reply.send(options)
  })

  app.post(paths.passkeySignIn, async (request, reply) => {
    const values = formOf(request)
    const { credential = '', next } = values
    const destination = { next: returnPath(next), unsent: carriedForm(values) }
    const party = requireParty(request, config.publicUrl)
    // Before it is looked at: what is refused stays in the audit trail.
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

export function passkeyRoutes(app: App, services: ConsoleDependencies): void {
  const { passkeys, config } = services
  const cookie = ticketCookie('passkey', config.publicUrl)
  const fresh = { preHandler: freshSignInOnly(services) }

  app.post(paths.passkeyOptions, fresh, async (request, reply) => {
    const party = requireParty(request, config.publicUrl)
    const { options, ticket } = await passkeys.beginRegistration(sessionOf(request).user, party)
    cookie.give(reply, ticket)
    return reply.send(options)
  })

  app.post(paths.passkeys, fresh, async (request, reply) => {
    const { credential = '', passkey_name: name = '' } = formOf(request)
    const party = requireParty(request, config.publicUrl)
    const ticket = cookie.take(request, reply)
    const register = () =>
      passkeys.register(sessionOf(request).user, { party, ticket, credential, name }, actingOf(request))
    return changeAccount(request, reply, services, { work: register, done: 'passkey-added' })
  })

  app.post(paths.removePasskey, fresh, async (request, reply) => {
    const remove = () => passkeys.remove(sessionOf(request).user.id, formOf(request).id ?? '', actingOf(request))
    return changeAccount(request, reply, services, { work: remove, done: 'passkey-removed' })
  })
}
