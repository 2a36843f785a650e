/** Deleting a workspace: says what ends and what stays, and asks for its name. */
import { visibleName } from '@claimcheck/core/words/plain-text'
import { ServiceError } from '../../../base/errors.ts'
import type { App } from '../../../http/instance.ts'
import { composed } from '../../../names/names.ts'
import { paths } from '../../../web/console-paths.ts'
import { publicPaths } from '../../../web/paths.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, FRESH_SIGN_IN } from '../form-page.tsx'
import { ConsolePage } from '../page.tsx'
import { Actions, Field, PostForm } from '../parts/form.tsx'

export function deletionRoutes(app: App, services: ConsoleDependencies): void {
  addPage(app, services, '/delete', {
    owners: true,
    freshSignIn: true,
    show: ({ workspace: { name, at }, refused }) => (
      <ConsolePage title={`Delete ${visibleName(name)}?`} section="members" problem={refused?.problem}>
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
        <PostForm action={at.deleteWorkspace}>
          <Field
            name="name"
            label="Name of the workspace"
            required
            autocomplete="off"
            help={`Type ${visibleName(name)} to delete the workspace.`}
          />
          <Actions submit="Delete the workspace" danger cancel="Keep it" href={at.members} />
        </PostForm>
      </ConsolePage>
    ),
    form: {
      ...FRESH_SIGN_IN,
      save: async ({ workspace: { id, name }, form, by }) => {
        if (composed(form.name ?? '') !== composed(name))
          throw new ServiceError('bad_request', `nothing is deleted: type ${visibleName(name)} to delete the workspace`)
        await services.workspaces.delete(id, by)
      },
      leadsTo: paths.home,
    },
  })
}
