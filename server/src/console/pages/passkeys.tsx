/** Signing in with a passkey, and adding and removing one's own. */
import type { App } from '../../http/instance.ts'
import { createAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { paths, returnPath } from '../paths.ts'
import { refusalOf } from '../refusal.ts'
import { requireParty } from '../relying-party.ts'
import { enter, formOf, sessionOf } from '../session.ts'
import { ticketCookie } from '../ticket-cookie.ts'
import { changeAccount } from './account.tsx'
import { sendSignIn } from './sign-in.tsx'

type PasskeyRoutesParts = Pick<ConsoleDependencies, 'passkeys' | 'sessions' | 'counters' | 'config' | 'oidcSignIn'>

export function passkeySignInRoutes(app: App, parts: PasskeyRoutesParts): void {
  const { passkeys, sessions, counters, config } = parts
  const attempts = createAttempts(counters, config.signInLimit)
  const cookie = ticketCookie('passkey', config.publicUrl)

  app.post(paths.passkeySignInOptions, async (request, reply) => {
    await attempts.count(request, reply)
    const { options, ticket } = await passkeys.beginSignIn(requireParty(request, config.publicUrl))
    cookie.give(reply, ticket)
    return reply.send(options)
  })

  app.post(paths.passkeySignIn, async (request, reply) => {
    const { credential = '', next } = formOf(request)
    const party = requireParty(request, config.publicUrl)
    const ticket = cookie.take(request, reply)
    try {
      const user = await passkeys.signIn({ party, ticket, credential })
      return await enter({ request, reply, sessions, config }, user.id, returnPath(next))
    } catch (error) {
      const problem = refusalOf(error)
      // What is right was counted where it was begun.
      await attempts.count(request, reply)
      return sendSignIn(reply, parts, { next: returnPath(next), problem })
    }
  })
}

export function passkeyRoutes(app: App, parts: ConsoleDependencies): void {
  const { passkeys, config } = parts
  const cookie = ticketCookie('passkey', config.publicUrl)

  app.post(paths.passkeyOptions, async (request, reply) => {
    const party = requireParty(request, config.publicUrl)
    const { options, ticket } = await passkeys.beginRegistration(sessionOf(request).user, party)
    cookie.give(reply, ticket)
    return reply.send(options)
  })

  app.post(paths.passkeys, async (request, reply) => {
    const { credential = '', passkey_name: name = '' } = formOf(request)
    const party = requireParty(request, config.publicUrl)
    const ticket = cookie.take(request, reply)
    const register = () => passkeys.register(sessionOf(request).user, { party, ticket, credential, name })
    return changeAccount(request, reply, parts, { work: register, done: 'passkey-added' })
  })

  app.post(paths.removePasskey, async (request, reply) => {
    const remove = () => passkeys.remove(sessionOf(request).user.id, formOf(request).id ?? '')
    return changeAccount(request, reply, parts, { work: remove, done: 'passkey-removed' })
  })
}
