/** The cookie that marks a browser as one that has signed in to an account, and login throttling by the source of attempts. */
import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/instance.ts'
import { networkOf } from '../../http/network.ts'
import type { Attempt } from '../people/login-throttle.ts'
import type { User } from '../people/sessions.ts'
import type { ConsoleDependencies } from './dependencies.ts'
import { cookieName, cookieOptions, optionalSessionOf } from './session.ts'

/** The lifetime of the cookie; browsers keep none for longer. */
const LASTS_SECONDS = 400 * 24 * 60 * 60

const nameOf = (publicUrl: string | undefined) => cookieName(publicUrl, '-known')

/** Marks the browser of each signed-in request as known. Needs the sessions, so it is registered after them. */
export function rememberBrowsers(app: App, { knownBrowsers, config: { publicUrl } }: ConsoleDependencies): void {
  const name = nameOf(publicUrl)
  app.addHook('preHandler', (request, reply, done) => {
    const session = optionalSessionOf(request)
    const kept = session && knownBrowsers.add(request.cookies[name], session.user)
    if (kept !== undefined) reply.setCookie(name, kept, { ...cookieOptions(publicUrl), maxAge: LASTS_SECONDS })
    done()
  })
}

const NO_LIMIT: Attempt = { succeeded: async () => {} }

/** The secret at which an attempt guesses. Each kind is counted by itself. */
export type Attempted =
  /** A guess at the password of the account with this e-mail address, if there is one. */
  | { readonly passwordOf: string }
  /** A guess at the second step, after a right password. */
  | { readonly codeOf: Pick<User, 'id' | 'generation'> }

/**
 * Counts an attempt as failed until `succeeded` is called.
 * @throws ServiceError `too_many`; StorageError `unavailable`
 */
export async function beginAttempt(
  { loginThrottle, knownBrowsers, config }: ConsoleDependencies,
  request: FastifyRequest,
  attempted: Attempted,
): Promise<Attempt> {
  if (config.signInLimit === 0) return NO_LIMIT
  const kept = request.cookies[nameOf(config.publicUrl)]
  const network = networkOf(request.ip)
  if ('codeOf' in attempted) {
    const browser = knownBrowsers.idFor(kept, attempted.codeOf)
    return loginThrottle.begin(`code of ${attempted.codeOf.id}`, { network, browser })
  }
  const email = attempted.passwordOf.trim().toLowerCase()
  return loginThrottle.begin(`password of ${email}`, { network, browser: await knownBrowsers.idForEmail(kept, email) })
}
