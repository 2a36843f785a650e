/** Pages for errors. People who are signed in keep the way to everything else; each page says what to do. */
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { prepareRefusal } from '../../http/errors.ts'
import type { App } from '../../http/instance.ts'
import { paths, signInPath, workspaceIn } from '../../web/console-paths.ts'
import { renderedOnce, sendHtml, sendPage } from '../../web/document.tsx'
import { pageHeaders } from '../../web/headers.ts'
import { Name } from '../../web/parts/values.tsx'
import { publicPaths } from '../../web/paths.ts'
import type { MemberService } from '../people/members.ts'
import { ConsolePage, PlainPage, useViewer, type Viewer, Viewing } from './page.tsx'
import { optionalSessionOf, viewedWorkspaces } from './session.ts'

/**
 * Answers errors with pages.
 * @param members finds the viewer's workspaces; undefined for pages without sessions
 */
export function answerErrorsWithPages(pages: App, members?: Pick<MemberService, 'workspacesOf'>): void {
  pages.setErrorHandler<FastifyError>(async (error, request, reply) => {
    const { status, detail } = prepareRefusal(error, request, reply)
    // A request that is refused at the gate reaches no hook of these pages.
    reply.headers(pageHeaders())
    // Once a service fails, it is asked for nothing more.
    const viewer = members && status < 500 ? await viewerOf(request, members) : undefined
    if (!viewer) return sendHtml(reply, plainPage(status, detail), status)
    const page = (
      <Viewing.Provider value={viewer}>
        <ConsolePage title={titleOf(status)} problem={detail}>
          <Next status={status} />
        </ConsolePage>
      </Viewing.Provider>
    )
    return sendPage(reply, page, status)
  })
}

/** The error page for strangers, rendered once: they ask for it as often as they like. */
const plainPage = renderedOnce((status: number, detail: string) => (
  <PlainPage title={titleOf(status)} problem={detail}>
    {status === 404 && <p>Check the address. Links for joining work once, and for some days only.</p>}
    <ul>
      <li>
        <a href={signInPath(paths.home)}>Sign in</a>
      </li>
      <li>
        <a href={publicPaths.docs}>Read the documentation</a>
      </li>
      <li>
        <a href={publicPaths.log}>See the public log</a>
      </li>
    </ul>
  </PlainPage>
))

/** Answers a form without a page, and does not find out who sent it. */
export async function answerUnknown(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return sendHtml(reply, plainPage(404, 'there is no such page'), 404)
}

function titleOf(status: number): string {
  return TITLES[status] ?? 'Something went wrong'
}

const TITLES: Readonly<Record<number, string>> = {
  403: 'Not allowed',
  404: 'Page not found',
  410: 'Erased',
  429: 'Too many attempts',
  503: 'Not available now',
}

/** Finds the viewer of an error page: in the workspace of its address for a member of it, else in their first one; undefined without a session. */
async function viewerOf(
  request: FastifyRequest,
  members: Pick<MemberService, 'workspacesOf'>,
): Promise<Viewer | undefined> {
  const session = optionalSessionOf(request)
  if (!session) return undefined
  const workspaces = await viewedWorkspaces(members, session)
  const wanted = workspaceIn(request.url)
  const workspace = workspaces.find(({ id }) => id === wanted) ?? workspaces[0]
  return { user: session.user, csrf: session.csrf, now: Date.now(), workspaces, workspace }
}

function Next({ status }: { status: number }) {
  const { workspace } = useViewer()
  if (!workspace) {
    return (
      <p>
        <a href={paths.home}>Go to the console</a>
      </p>
    )
  }
  return (
    <>
      {status === 404 && (
        <p>
          Check the address. What it names may be gone, or belong to another workspace: choose one in the menu at the
          top. You see only workspaces of which you are a member.
        </p>
      )}
      {status === 403 && (
        <p>
          <a href={workspace.at.members}>
            See who the owners of <Name of={workspace.name} /> are
          </a>
        </p>
      )}
      <p>
        <a href={workspace.at.claims}>
          Go to the claims of <Name of={workspace.name} />
        </a>
      </p>
    </>
  )
}
