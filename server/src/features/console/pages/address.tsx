/** Confirming the address of an account: by a link that is mailed to it, in a session of the account. */
import type { Acting } from '../../../base/actor.ts'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { addressLink } from '../../mail/messages.ts'
import type { MailedLink } from '../../people/links.ts'
import type { User } from '../../people/sessions.ts'
import { showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { ConsolePage } from '../page.tsx'
import { Actions, PostForm } from '../parts/form.tsx'
import { actingOf, sessionOf } from '../session.ts'
import { changeAccount } from './account.tsx'

/** The field with which a person takes an address from an account that never confirmed it. */
export const TAKES_ADDRESS = 'takes_address'
/** In the query of an invitation's page: the field is shown. */
export const HELD = 'held'

type Token = { Params: { token: string } }

/** Needs a session. A person who only gets the mail cannot confirm, and so cannot enter the account by it. */
export function addressRoutes(app: App, services: ConsoleDependencies): void {
  const { addressConfirmation, outbox } = services
  if (!outbox.isOn) return

  app.post(paths.accountAddress, async (request, reply) => {
    const ask = () => sendAddressLink(services, sessionOf(request).user, actingOf(request))
    return changeAccount(request, reply, services, { work: ask, done: 'address-asked' })
  })

  app.get<Token>(`${paths.accountAddress}/:token`, async (request, reply) => {
    const { email } = sessionOf(request).user
    return showPage(
      request,
      reply,
      <ConsolePage title="Confirm your address?" section="account">
        <p>
          Your account gets mails at <strong>{email}</strong> from then on: notices, and links to a new password.
        </p>
        <PostForm action={paths.confirmAddress(request.params.token)}>
          <Actions submit="Confirm the address" href={paths.account} />
        </PostForm>
      </ConsolePage>,
    )
  })

  app.post<Token>(`${paths.accountAddress}/:token`, async (request, reply) => {
    await addressConfirmation.confirm(sessionOf(request).user, request.params.token, actingOf(request))
    return reply.redirect(`${paths.account}?done=address-confirmed`, 303)
  })
}

/** For a new account. Where the address got enough mails, the person asks again on their page. */
export async function askToConfirm(services: ConsoleDependencies, user: User, by: Acting): Promise<void> {
  if (!services.outbox.isOn || user.isConfirmed) return
  try {
    await sendAddressLink(services, user, by)
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'too_many')) throw error
  }
}

async function sendAddressLink(
  { addressConfirmation, outbox, ownAddress }: ConsoleDependencies,
  user: User,
  by: Acting,
): Promise<void> {
  const mail: MailedLink['mail'] = (tx, { id: about, token }) => {
    const message = addressLink(ownAddress.url() + paths.confirmAddress(token))
    return outbox.addLink(tx, { recipient: user.email, message, about })
  }
  await addressConfirmation.ask(user, mail, by)
}
