/** Closing one's account: says what goes and what stays, and asks for the e-mail address. */

import type { FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { Name } from '../../../web/parts/values.tsx'
import type { OwnedAlone } from '../../people/account-deletion.ts'
import { saveForm, showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly } from '../fresh-sign-in.ts'
import { ConsolePage, useViewer } from '../page.tsx'
import { Actions, Field, PostForm } from '../parts/form.tsx'
import { formOf } from '../request-fields.ts'
import { actingOf, sessionOf, signOut } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

export function closingRoutes(app: App, services: ConsoleDependencies): void {
  const { accountDeletion, config } = services
  const fresh = { ...KEEPS_ALL, preHandler: freshSignInOnly(services) }

  async function page(request: FastifyRequest, problem?: string): Promise<VNode> {
    const alone = await accountDeletion.ownedAlone(sessionOf(request).user.id)
    return <Close alone={alone} problem={problem} />
  }

  app.get(paths.closeAccount, fresh, async (request, reply) => showPage(request, reply, await page(request)))

  app.post(paths.closeAccount, fresh, async (request, reply) => {
    const { user } = sessionOf(request)
    return saveForm(request, reply, {
      work: async () => {
        if (formOf(request).email?.trim().toLowerCase() !== user.email) {
          throw new ServiceError('bad_request', `nothing is closed: type ${user.email} to close the account`)
        }
        await accountDeletion.close(user, actingOf(request))
        signOut(reply, config.publicUrl)
      },
      next: `${paths.signIn}?done=account-closed`,
      refused: (problem) => page(request, problem),
    })
  })
}

interface CloseProps {
  readonly alone: readonly OwnedAlone[]
  readonly problem: string | undefined
}

function Close({ alone, problem }: CloseProps) {
  const { user } = useViewer()
  const kept = alone.filter(({ hasOthers }) => hasOthers)
  if (kept.length > 0) return <NotYet kept={kept} problem={problem} />
  return (
    <ConsolePage title="Close your account?" section="account" problem={problem}>
      <p>
        Your name, your e-mail address, your password, passkeys and sessions are deleted at once, and you are a member
        of no workspace any more. This cannot be undone. Claims, receipts and what you made for workspaces stay, by a
        “closed account”. API keys that you made go on working: their workspaces own them.
      </p>
      {alone.length > 0 ? (
        <p class="notice warning">
          You are the only member of {names(alone)}. It is deleted with your account: its keys are revoked, and its
          connections and their credentials are deleted.
        </p>
      ) : null}
      <PostForm action={paths.closeAccount}>
        <Field
          name="email"
          label="Your e-mail address"
          required
          autocomplete="off"
          help={`Type ${user.email} to close the account.`}
        />
        <Actions submit="Close my account" danger cancel="Keep it" href={paths.account} />
      </PostForm>
    </ConsolePage>
  )
}

interface NotYetProps extends Omit<CloseProps, 'alone'> {
  readonly kept: readonly OwnedAlone[]
}

function NotYet({ kept, problem = 'this is not possible now' }: NotYetProps) {
  return (
    <ConsolePage title="Close your account?" section="account" problem={problem}>
      <p>
        You are the only owner of these workspaces, and other people are members of them. Make one of them an owner, or
        delete the workspace, and close the account then:
      </p>
      <ul>
        {kept.map(({ id, name }) => (
          <li>
            <a href={paths.members(id)}>
              The members of <Name of={name} />
            </a>
          </li>
        ))}
      </ul>
    </ConsolePage>
  )
}

function names(workspaces: readonly OwnedAlone[]): string {
  return workspaces.map(({ name }) => name).join(', ')
}
