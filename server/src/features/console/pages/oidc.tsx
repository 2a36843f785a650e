/** Signing in through the OpenID provider, making an account with it, and linking it to an account. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../base/errors.ts'
import { HttpError } from '../../../http/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths, pathsIn, returnPath } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { HeldAddress, type NewUser } from '../../people/new-accounts.ts'
import type { ReturnedPerson, SignInPurpose } from '../../people/oidc-sign-in.ts'
import { checkWorkspaceName } from '../../workspaces/workspaces.ts'
import { limitAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { type Forms, guarded, leadAway, refusalOf, withNotice } from '../form-page.tsx'
import { PlainPage } from '../page.tsx'
import { formOf } from '../request-fields.ts'
import { actingOf, enter, optionalSessionOf } from '../session.ts'
import { ticketCookie } from '../ticket-cookie.ts'
import { askToConfirm, HELD, TAKES_ADDRESS } from './address.tsx'

export function oidcRoutes(app: App, services: ConsoleDependencies): void {
  const { oidcSignIn, counters, config, ownAddress } = services
  if (!oidcSignIn) return
  const countAttempt = limitAttempts(counters, config.signInLimit)
  // Returns are counted apart: a person who may begin may come back. A refused answer stays in the audit trail, and anyone can send one.
  const countReturn = limitAttempts(counters, config.signInLimit, 'outside_return')
  const cookie = ticketCookie('outside', config.publicUrl)
  const { name } = oidcSignIn

  const callbackUrl = () => ownAddress.url() + paths.oidcCallback

  const begins = guarded(services, { freshSignIn: (request) => formOf(request).purpose === 'link', countAttempt })
  app.post(paths.oidc, begins, async (request, reply) => {
    const purpose = await readPurpose(services, request)
    const { url, ticket } = await oidcSignIn.begin(purpose, callbackUrl())
    cookie.give(reply, ticket)
    return leadAway(reply, url, name)
  })

  app.get(paths.oidcCallback, async (request, reply) => {
    await countReturn(request, reply)
    const arrivedAt = new URL(callbackUrl())
    arrivedAt.search = new URL(request.url, arrivedAt).search
    const ticket = cookie.take(request, reply)
    try {
      const returned = await oidcSignIn.finish(ticket, arrivedAt)
      return await arrive(services, request, reply, returned)
    } catch (error) {
      // A link of another site to this address is no sign-in.
      if (ticket !== undefined) await recordRefusal(services, request)
      const page = (
        <PlainPage title={`Not signed in with ${name}`} problem={refusalOf(error)}>
          <p>
            <a href={paths.home}>Go to the console</a>
          </p>
        </PlainPage>
      )
      return sendPage(reply, page, 422)
    }
  })
}

/** Records a refused sign-in without an account: the person who came back from the provider is not known here. */
function recordRefusal({ auditTrail, oidcSignIn }: ConsoleDependencies, request: FastifyRequest): Promise<void> {
  const details = { method: 'outside', provider: oidcSignIn!.name }
  return auditTrail.record({ event: 'sign_in.failed', by: actingOf(request), details })
}

/**
 * Reads the purpose of a sign-in.
 * @throws ServiceError `bad_request`, `not_found`, before the person goes to the provider for nothing
 */
async function readPurpose({ accounts }: ConsoleDependencies, request: FastifyRequest): Promise<SignInPurpose> {
  const { purpose: kind, token = '', workspace = '', next } = formOf(request)
  const session = optionalSessionOf(request)
  if (kind === 'sign_in') return { kind, next: returnPath(next) }
  if (kind === 'link' && session) return { kind, userId: session.user.id }
  const link = await accounts.link(token)
  if (kind === 'join' && link?.kind === 'invitation') {
    return { kind, token, takesAddress: formOf(request)[TAKES_ADDRESS] !== undefined }
  }
  if (kind !== 'setup' || link?.kind !== 'setup') throw new ServiceError('not_found', 'this link cannot be used')
  if (!link.hasWorkspace) checkWorkspaceName(workspace.trim())
  return { kind, token, workspace: workspace.trim() }
}

async function arrive(
  services: ConsoleDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { purpose, identity, ...person }: ReturnedPerson,
): Promise<FastifyReply> {
  const { accounts, identities } = services
  const { name } = services.oidcSignIn!
  const newUser: NewUser = { ...person, proof: { identity } }
  const begins = purpose.kind === 'setup' || purpose.kind === 'join'
  if (begins && person.email === '') {
    const problem = `${name} did not send your e-mail address: make the account with a password, and link ${name} afterwards`
    throw new ServiceError('bad_request', problem)
  }
  const entering = { services, request, reply }
  switch (purpose.kind) {
    case 'sign_in': {
      const user = await identities.signIn(identity)
      if (user) return enter(entering, { user, method: 'outside' }, purpose.next)
      await recordRefusal(services, request)
      return sendPage(reply, <Unknown name={name} />, 403)
    }
    case 'setup': {
      const { user } = await accounts.setUp(purpose.token, newUser, purpose.workspace, actingOf(request))
      await askToConfirm(services, user, actingOf(request))
      return enter(entering, { user, method: 'outside' }, paths.home)
    }
    case 'join': {
      const { token, takesAddress } = purpose
      const joining = accounts.join(token, { ...newUser, takesAddress }, actingOf(request))
      const joined = await joining.catch((error: unknown) => {
        if (error instanceof HeldAddress) return undefined
        throw error
      })
      if (!joined) return reply.redirect(`${paths.invitation(token)}?${HELD}=on`, 303)
      const { user, workspaceId } = joined
      await askToConfirm(services, user, actingOf(request))
      return enter(entering, { user, method: 'outside' }, pathsIn(workspaceId).claims)
    }
    case 'link': {
      // Only the person who began may come back.
      const session = optionalSessionOf(request)
      if (session?.user.id !== purpose.userId)
        throw new HttpError(403, 'you are signed in with another account now: sign in again and link it there')
      await identities.add(session.user, identity, actingOf(request))
      return reply.redirect(withNotice(paths.account, 'sign-in-linked'), 303)
    }
  }
}

/** The form of the account page that unlinks the provider. */
export function linkForms({ identities, oidcSignIn }: ConsoleDependencies): Forms {
  if (!oidcSignIn) return {}
  return {
    [paths.unlink]: {
      freshSignIn: true,
      save: ({ user, by }) => identities.remove(user.id, oidcSignIn.issuer, by),
      done: 'sign-in-unlinked',
    },
  }
}

function Unknown({ name }: { name: string }) {
  return (
    <PlainPage title="No account is linked">
      <p>
        No account here is linked to your sign-in at {name}. If you have an account, sign in another way, and link{' '}
        {name} on the Account page. If not, ask an owner of a workspace for an invitation.
      </p>
      <p>
        <a href={paths.signIn}>Sign in another way</a>
      </p>
    </PlainPage>
  )
}
