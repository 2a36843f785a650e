/** The page for a forgotten password, where the service sends mail: it asks for an address, and answers the same whether that has an account. */
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { limitAttempts } from '../attempts.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage } from '../form-page.tsx'
import { PlainPage } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'

export function forgottenRoutes(app: App, services: ConsoleDependencies): void {
  const { outbox, counters, config } = services
  if (!outbox.isOn) return

  addPage(app, services, paths.forgotten, {
    show: ({ csrf }) => (
      <PlainPage title="A new password" csrf={csrf}>
        <p>Type the e-mail address of your account. If it has one, you get a mail with a link to a new password.</p>
        <PostForm action={paths.forgotten}>
          <Field name="email" label="E-mail" type="email" required autocomplete="username" />
          <button type="submit">Send the link</button>
        </PostForm>
        <p>
          <a href={paths.signIn}>Back to signing in</a>
        </p>
      </PlainPage>
    ),
    form: {
      freshSignIn: 'sends a mail to the person',
      countAttempt: limitAttempts(counters, config.signInLimit),
      answer: async ({ form }) => {
        await outbox.askReset(form.email ?? '')
        return (
          <PlainPage title="Look into your mail">
            <p>
              If there is an account with this address, a link to a new password is on its way to it. The link works
              once, for an hour. Asking again within 15 minutes sends nothing more.
            </p>
            <p>
              No mail? Look among unwanted mail, and check that you typed the address that you sign in with.{' '}
              <a href={paths.signIn}>Back to signing in</a>
            </p>
          </PlainPage>
        )
      },
    },
  })
}
