/** Over to the outside provider and back: signing in, beginning an account by a link, and linking to one's own. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import { HttpError } from '../../http/errors.ts'
import type { App } from '../../http/instance.ts'
import type { NewUser } from '../../people/accounts.ts'
import type { Returned, SignInPurpose } from '../../people/oidc-sign-in.ts'
import { checkWorkspaceName } from '../../workspaces/workspaces.ts'
import { createAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { PlainPage, sendPage } from '../page.tsx'
import { paths, returnPath } from '../paths.ts'
import { refusalOf } from '../refusal.ts'
import { formOf } from '../request-fields.ts'
import { enter, optionalSessionOf, originOf, sessionOf } from '../session.ts'
import { ticketCookie } from '../ticket-cookie.ts'
import { changeAccount } from './account.tsx'

type OidcServices = Pick<
  ConsoleDependencies,
  'accounts' | 'identities' | 'sessions' | 'oidcSignIn' | 'counters' | 'config'
>

export function oidcRoutes(app: App, services: OidcServices): void {
  const { accounts, identities, sessions, oidcSignIn, counters, config } = services
  if (!oidcSignIn) return
  const attempts = createAttempts(counters, config.signInLimit)
  const cookie = ticketCookie('outside', config.publicUrl)
  const { name } = oidcSignIn

  function callbackUrl(request: FastifyRequest): string {
    return (config.publicUrl ?? originOf(request, undefined)) + paths.oidcCallback
  }

  app.post(paths.oidc, async (request, reply) => {
    await attempts.count(request, reply)
    const purpose = await readPurpose(request)
    const { url, ticket } = await oidcSignIn.begin(purpose, callbackUrl(request))
    cookie.give(reply, ticket)
    // No redirect: where forms lead is ours alone, by the policy that each page carries. Browsers go on by themselves.
    reply.header('refresh', `0;url=${url}`)
    return sendPage(reply, <GoOn name={name} url={url} />)
  })

  app.get(paths.oidcCallback, async (request, reply) => {
    const arrivedAt = new URL(callbackUrl(request))
    arrivedAt.search = new URL(request.url, arrivedAt).search
    try {
      const returned = await oidcSignIn.finish(cookie.take(request, reply), arrivedAt)
      return await arrive(request, reply, returned)
    } catch (error) {
      return sendPage(reply, <NotIn name={name} problem={refusalOf(error)} />, 422)
    }
  })

  /** @throws ServiceError `bad_request` for what could not be done afterwards, either */
  async function readPurpose(request: FastifyRequest): Promise<SignInPurpose> {
    const { purpose: kind, token = '', workspace = '', next } = formOf(request)
    const session = optionalSessionOf(request)
    if (kind === 'sign_in') return { kind, next: returnPath(next) }
    if (kind === 'link' && session) return { kind, userId: session.user.id }
    const link = await accounts.link(token)
    if (kind === 'join' && link?.kind === 'invitation') return { kind, token }
    if (kind !== 'setup' || link?.kind !== 'setup') throw new ServiceError('not_found', 'this link cannot be used')
    if (!link.hasWorkspace) checkWorkspaceName(workspace.trim())
    return { kind, token, workspace: workspace.trim() }
  }

  async function arrive(request: FastifyRequest, reply: FastifyReply, { purpose, identity, ...person }: Returned) {
    const newUser: NewUser = { ...person, proof: { identity } }
    const begins = purpose.kind === 'setup' || purpose.kind === 'join'
    if (begins && person.email === '') {
      const problem = `${name} does not tell your e-mail address: begin with a password, and link ${name} afterwards`
      throw new ServiceError('bad_request', problem)
    }
    const entering = { request, reply, sessions, config }
    switch (purpose.kind) {
      case 'sign_in': {
        const user = await identities.find(identity)
        return user ? enter(entering, user.id, purpose.next) : sendPage(reply, <Unknown name={name} />, 403)
      }
      case 'setup': {
        const { userId } = await accounts.setUp(purpose.token, newUser, purpose.workspace)
        return enter(entering, userId, paths.home)
      }
      case 'join': {
        const { userId, workspaceId } = await accounts.join(purpose.token, newUser)
        return enter(entering, userId, paths.claims(workspaceId))
      }
      case 'link': {
        // Whoever began it has to be the one who came back.
        if (optionalSessionOf(request)?.user.id !== purpose.userId)
          throw new HttpError(403, 'you are signed in as somebody else now')
        await identities.add(purpose.userId, identity)
        return reply.redirect(`${paths.account}?done=sign-in-linked`, 303)
      }
    }
  }
}

/** For those who are signed in. */
export function linkRoutes(app: App, services: ConsoleDependencies): void {
  const { identities, oidcSignIn } = services
  if (!oidcSignIn) return

  app.post(paths.unlink, async (request, reply) => {
    const unlink = () => identities.remove(sessionOf(request).user.id, oidcSignIn.issuer)
    return changeAccount(request, reply, services, { work: unlink, done: 'sign-in-unlinked' })
  })
}

function GoOn({ name, url }: { readonly name: string; readonly url: string }) {
  return (
    <PlainPage title={`On to ${name}`}>
      <p>
        <a href={url}>Continue to {name}</a> if nothing happens.
      </p>
    </PlainPage>
  )
}

function NotIn({ name, problem }: { readonly name: string; readonly problem: string }) {
  return (
    <PlainPage title={`Not signed in with ${name}`} problem={problem}>
      <p>
        <a href={paths.home}>To the console</a>
      </p>
    </PlainPage>
  )
}

function Unknown({ name }: { readonly name: string }) {
  return (
    <PlainPage title="No account here">
      <p>
        {name} says who you are, and no account here is linked to that. Ask an owner of a workspace for an invitation,
        and open its link; or, if you have an account, sign in another way and link {name} on the account’s page.
      </p>
      <p>
        <a href={paths.signIn}>Sign in another way</a>
      </p>
    </PlainPage>
  )
}
