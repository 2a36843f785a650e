/** The start page, and making a workspace. */
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sentence } from '../../../web/words.tsx'
import { answerForm, showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { ConsolePage } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'
import { formOf } from '../request-fields.ts'
import { actingOf, sessionOf, viewerOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

export function homeRoutes(app: App, { members }: ConsoleDependencies): void {
  app.get(paths.home, async (request, reply) => {
    const [first] = viewerOf(request).workspaces
    return reply.redirect(first ? paths.claims(first.id) : paths.newWorkspace, 302)
  })

  app.get(paths.newWorkspace, async (request, reply) => showPage(request, reply, <NewWorkspace />))

  app.post(paths.newWorkspace, KEEPS_ALL, async (request, reply) => {
    const name = formOf(request).name?.trim() ?? ''
    return answerForm(request, reply, {
      work: async () => {
        const { id } = await members.createWorkspace(sessionOf(request).user.id, name, actingOf(request))
        return paths.claims(id)
      },
      refused: (problem) => <NewWorkspace name={name} problem={sentence(problem)} />,
    })
  })
}

function NewWorkspace({ name, problem }: { readonly name?: string; readonly problem?: string }) {
  return (
    <ConsolePage title="New workspace" section="account">
      <p>A workspace owns keys, connections and claims. Only its members see them.</p>
      <PostForm action={paths.newWorkspace}>
        <Field
          name="name"
          label="Name"
          value={name}
          problem={problem}
          required
          maxLength={64}
          help="Letters, digits, spaces, . - _"
        />
        <button type="submit">Create the workspace</button>
      </PostForm>
    </ConsolePage>
  )
}
