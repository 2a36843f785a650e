/** The start page, and the form that makes a workspace. */
import type { App } from '../../../http/instance.ts'
import { paths, pathsIn } from '../../../web/console-paths.ts'
import { sentence } from '../../../web/words.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage } from '../form-page.tsx'
import { ConsolePage } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'
import { viewerOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

export function homeRoutes(app: App, services: ConsoleDependencies): void {
  app.get(paths.home, async (request, reply) => {
    const [first] = viewerOf(request)!.workspaces
    return reply.redirect(first ? first.at.claims : paths.newWorkspace, 302)
  })

  addPage(app, services, paths.newWorkspace, {
    show: ({ refused }) => (
      <ConsolePage title="New workspace" section="account">
        <p>A workspace owns keys, connections and claims. Only its members see them.</p>
        <PostForm action={paths.newWorkspace}>
          <Field
            name="name"
            label="Name"
            value={refused?.values.name?.trim()}
            problem={refused && sentence(refused.problem)}
            required
            maxLength={64}
            help="Letters, digits, spaces, . - _"
          />
          <button type="submit">Create the workspace</button>
        </PostForm>
      </ConsolePage>
    ),
    form: {
      freshSignIn: 'an empty workspace trusts nothing yet',
      keepsField: KEEPS_ALL,
      answer: async ({ form, user, by }) => {
        const { id } = await services.members.createWorkspace(user.id, form.name?.trim() ?? '', by)
        return pathsIn(id).claims
      },
    },
  })
}
