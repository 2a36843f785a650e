/** Confirming the address of an account: by a link that is mailed to it, in a session of the account. */
import type { Acting } from '../../../base/actor.ts'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { addressLink } from '../../mail/messages.ts'
import type { User } from '../../people/sessions.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, type Forms } from '../form-page.tsx'
import { ConsolePage } from '../page.tsx'
import { Actions, PostForm } from '../parts/form.tsx'

/** The field with which a person takes an address from an account that never confirmed it. */
export const TAKES_ADDRESS = 'takes_address'
/** The member of an invitation page's query that shows the field `TAKES_ADDRESS`. */
export const HELD = 'held'

/** The form of the account page that mails the link. */
export function addressForms(services: ConsoleDependencies): Forms {
  if (!services.outbox.isOn) return {}
  return {
    [paths.accountAddress]: {
      freshSignIn: 'sends a mail to the person',
      save: ({ user, by }) => sendAddressLink(services, user, by),
      done: 'address-asked',
    },
  }
}

/**
 * Adds the routes that confirm an address, which need a session. A person who only gets the mail cannot confirm, and so cannot enter the account by
 * it.
 */
export function addressRoutes(app: App, services: ConsoleDependencies): void {
  const { addressConfirmation, outbox } = services
  if (!outbox.isOn) return

  addPage(app, services, `${paths.accountAddress}/:token`, {
    show: ({ user, params }) => (
      <ConsolePage title="Confirm your address?" section="account">
        <p>
          Your account gets mails at <strong>{user.email}</strong> from then on: notices, and links to a new password.
        </p>
        <PostForm action={paths.confirmAddress(params.token)}>
          <Actions submit="Confirm the address" href={paths.account} />
        </PostForm>
      </ConsolePage>
    ),
    form: {
      freshSignIn: 'the link is the proof',
      showsRefusal: false,
      save: ({ user, params, by }) => addressConfirmation.confirm(user, params.token, by),
      done: 'address-confirmed',
      leadsTo: paths.account,
    },
  })
}

/** Mails a new account the link that confirms its address. If the address got enough mails, the person asks again on their page. */
export async function askToConfirm(services: ConsoleDependencies, user: User, by: Acting): Promise<void> {
  if (!services.outbox.isOn || user.isConfirmed) return
  try {
    await sendAddressLink(services, user, by)
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'too_many')) throw error
  }
}

function sendAddressLink(
  { addressConfirmation, outbox, ownAddress }: ConsoleDependencies,
  user: User,
  by: Acting,
): Promise<void> {
  const link = (token: string) => ownAddress.url() + paths.confirmAddress(token)
  return addressConfirmation.ask(
    user,
    (tx, { id: about, token }) =>
      outbox.addLink(tx, { recipient: user.email, message: addressLink(link(token)), about }),
    by,
  )
}
