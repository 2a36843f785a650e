/** Closing one's account: says what is deleted and what stays, and asks for the e-mail address. */
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths, pathsIn } from '../../../web/console-paths.ts'
import { Name } from '../../../web/parts/values.tsx'
import type { OwnedAlone } from '../../people/account-deletion.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, FRESH_SIGN_IN } from '../form-page.tsx'
import { ConsolePage } from '../page.tsx'
import { Actions, Field, PostForm } from '../parts/form.tsx'
import { deleteSessionCookie } from '../session.ts'

export function closingRoutes(app: App, services: ConsoleDependencies): void {
  const { accountDeletion, config } = services

  addPage(app, services, paths.closeAccount, {
    freshSignIn: true,
    show: async ({ user, refused }) => {
      const alone = await accountDeletion.ownedAlone(user.id)
      const shared = alone.filter(({ hasOthers }) => hasOthers)
      const problem = refused?.problem ?? (shared.length > 0 ? 'this is not possible now' : undefined)
      return (
        <ConsolePage title="Close your account?" section="account" problem={problem}>
          {shared.length > 0 ? <NotYet shared={shared} /> : <Closing alone={alone} email={user.email} />}
        </ConsolePage>
      )
    },
    form: {
      ...FRESH_SIGN_IN,
      save: async ({ user, form, by, reply }) => {
        if (form.email?.trim().toLowerCase() !== user.email)
          throw new ServiceError('bad_request', `nothing is closed: type ${user.email} to close the account`)
        await accountDeletion.close(user, by)
        deleteSessionCookie(reply, config.publicUrl)
      },
      done: 'account-closed',
      leadsTo: paths.signIn,
    },
  })
}

function Closing({ alone, email }: { alone: readonly OwnedAlone[]; email: string }) {
  return (
    <>
      <p>
        Your name, your e-mail address, your password, passkeys and sessions are deleted at once, and you are a member
        of no workspace any more. This cannot be undone. Claims, receipts and what you made for workspaces stay, by a
        “closed account”. API keys that you made go on working: their workspaces own them.
      </p>
      {alone.length > 0 && (
        <p class="notice warning">
          You are the only member of {alone.map(({ name }) => name).join(', ')}. It is deleted with your account: its
          keys are revoked, and its connections and their credentials are deleted.
        </p>
      )}
      <PostForm action={paths.closeAccount}>
        <Field
          name="email"
          label="Your e-mail address"
          required
          autocomplete="off"
          help={`Type ${email} to close the account.`}
        />
        <Actions submit="Close my account" danger cancel="Keep it" href={paths.account} />
      </PostForm>
    </>
  )
}

/** Names the workspaces of others that would have no owner: the account cannot be closed yet. */
function NotYet({ shared }: { shared: readonly OwnedAlone[] }) {
  return (
    <>
      <p>
        You are the only owner of these workspaces, and other people are members of them. Make one of them an owner, or
        delete the workspace, and close the account then:
      </p>
      <ul>
        {shared.map(({ id, name }) => (
          <li>
            <a href={pathsIn(id).members}>
              The members of <Name of={name} />
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}
