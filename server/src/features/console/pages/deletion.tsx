/** Deleting a workspace: says what ends and what stays, and asks for its name. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import { ServiceError } from '../../../base/errors.ts'
import { composed } from '../../../base/names.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { publicPaths } from '../../../web/paths.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly } from '../fresh-sign-in.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { Actions, Field, PostForm } from '../parts/form.tsx'
import { saveForm } from '../refusal.ts'
import { formOf } from '../request-fields.ts'
import { actingOf, ownersOnly, viewerOf, workspaceOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

export function deletionRoutes(app: App, services: ConsoleDependencies): void {
  const { workspaces } = services
  const guarded = { ...KEEPS_ALL, preHandler: [ownersOnly, freshSignInOnly(services)] }

  app.get('/delete', guarded, async (request, reply) => sendPage(reply, <Delete viewer={viewerOf(request)} />))

  app.post('/delete', guarded, async (request, reply) => {
    const { id, name } = workspaceOf(request)
    return saveForm(reply, {
      work: async () => {
        if (composed(formOf(request).name ?? '') !== composed(name)) {
          throw new ServiceError('bad_request', `nothing is deleted: type ${visibleName(name)} to delete the workspace`)
        }
        await workspaces.delete(id, actingOf(request))
      },
      next: paths.home,
      refused: (problem) => <Delete viewer={viewerOf(request)} problem={problem} />,
    })
  })
}

function Delete({ viewer, problem }: { readonly viewer: Viewer; readonly problem?: string }) {
  const { id, name } = viewer.workspace!
  return (
    <ConsolePage title={`Delete ${visibleName(name)}?`} viewer={viewer} section="members" problem={problem}>
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
