/** Deleting a workspace: says what ends and what stays, and asks for its name. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import { ServiceError } from '../../../base/errors.ts'
import { composed } from '../../../base/names.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { publicPaths } from '../../../web/paths.ts'
import { saveForm, showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { ownersNow } from '../fresh-sign-in.ts'
import { ConsolePage, useWorkspace } from '../page.tsx'
import { Actions, Field, PostForm } from '../parts/form.tsx'
import { formOf } from '../request-fields.ts'
import { actingOf, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

export function deletionRoutes(app: App, services: ConsoleDependencies): void {
  const { workspaces } = services
  const guarded = { ...KEEPS_ALL, ...ownersNow(services) }

  app.get('/delete', guarded, async (request, reply) => showPage(request, reply, <Delete />))

  app.post('/delete', guarded, async (request, reply) => {
    const { id, name } = workspaceOf(request)
    return saveForm(request, reply, {
      work: async () => {
        if (composed(formOf(request).name ?? '') !== composed(name)) {
          throw new ServiceError('bad_request', `nothing is deleted: type ${visibleName(name)} to delete the workspace`)
        }
        await workspaces.delete(id, actingOf(request))
      },
      next: paths.home,
      refused: (problem) => <Delete problem={problem} />,
    })
  })
}

function Delete({ problem }: { readonly problem?: string }) {
  const { id, name } = useWorkspace()
  return (
    <ConsolePage title={`Delete ${visibleName(name)}?`} section="members" problem={problem}>
      <p>This cannot be undone.</p>
      <ul>
        <li>Every API key is revoked, and no application gets in any more.</li>
        <li>Every connection ends, and its credentials are deleted.</li>
        <li>All memberships and open invitations end. The name is free for another workspace.</li>
        <li>
          Claims that wait are still decided. Where a claim needs a connection, its receipt says{' '}
          <code>unverifiable</code>.
        </li>
        <li>
          Receipts stay: they are in the <a href={publicPaths.log}>public log</a>, and everyone who has one can still
          check it.
        </li>
      </ul>
      <PostForm action={paths.deleteWorkspace(id)}>
        <Field
          name="name"
          label="Name of the workspace"
          required
          autocomplete="off"
          help={`Type ${visibleName(name)} to delete the workspace.`}
        />
        <Actions submit="Delete the workspace" danger cancel="Keep it" href={paths.members(id)} />
      </PostForm>
    </ConsolePage>
  )
}
