/** The start page, and making a workspace. */
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { sentence } from '../../../web/words.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { Field, PostForm } from '../parts/form.tsx'
import { refusalOf } from '../refusal.ts'
import { formOf } from '../request-fields.ts'
import { actingOf, sessionOf, viewerOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

export function homeRoutes(app: App, { members }: ConsoleDependencies): void {
  app.get(paths.home, async (request, reply) => {
    const [first] = viewerOf(request).workspaces
    return reply.redirect(first ? paths.claims(first.id) : paths.newWorkspace, 302)
  })

  app.get(paths.newWorkspace, async (request, reply) => sendPage(reply, <NewWorkspace viewer={viewerOf(request)} />))

  app.post(paths.newWorkspace, KEEPS_ALL, async (request, reply) => {
    const name = formOf(request).name?.trim() ?? ''
    try {
      const { id } = await members.createWorkspace(sessionOf(request).user.id, name, actingOf(request))
      return reply.redirect(paths.claims(id), 303)
    } catch (error) {
      const page = <NewWorkspace viewer={viewerOf(request)} name={name} problem={refusalOf(error)} />
      return sendPage(reply, page, 422)
    }
  })
}

function NewWorkspace({ viewer, name, problem }: { viewer: Viewer; name?: string; problem?: string }) {
  return (
    <ConsolePage title="New workspace" viewer={viewer} section="account">
      <p>A workspace owns keys, connections and claims. Only its members see them.</p>
      <PostForm action={paths.newWorkspace}>
        <Field
          name="name"
          label="Name"
          value={name}
          problem={problem && sentence(problem)}
          required
          maxLength={64}
          help="Letters, digits, spaces, . - _"
        />
        <button type="submit">Create the workspace</button>
      </PostForm>
    </ConsolePage>
  )
}
