/** The applications that a person has allowed. */
import { formatInstant } from '@claimcheck/core/rules'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { type Column, Empty, Table } from '../../../web/parts/table.tsx'
import { Time } from '../../../web/parts/values.tsx'
import type { Application } from '../../oauth/applications.ts'
import { scopeWords } from '../../oauth/scopes.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { ConsolePage, type Viewer } from '../page.tsx'
import { PostForm } from '../parts/form.tsx'
import { type Fields, queryOf } from '../request-fields.ts'
import { actingOf, sessionOf, viewerOf } from '../session.ts'
import { type ListedMachine, Machines, machineRoutes, machinesOf } from './machines.tsx'

export function applicationRoutes(app: App, services: ConsoleDependencies): void {
  const { applications, machines } = services

  async function shown(request: FastifyRequest): Promise<ApplicationsProps> {
    const viewer = viewerOf(request)
    const [list, ofMachines] = await Promise.all([
      applications.list(sessionOf(request).user.id),
      machinesOf(viewer, machines),
    ])
    return { viewer, list, machines: ofMachines }
  }

  app.get(paths.applications, async (request, reply) => {
    const { done } = queryOf(request)
    return sendPage(reply, <Applications {...(await shown(request))} done={done} />)
  })

  machineRoutes(app, services, async (request, reply, values, problem) =>
    sendPage(reply, <Applications {...(await shown(request))} values={values} problem={problem} />, 422),
  )

  app.post<{ Params: { grant: string } }>(`${paths.applications}/:grant/revoke`, async (request, reply) => {
    await applications.revoke(sessionOf(request).user.id, request.params.grant, actingOf(request))
    return reply.redirect(`${paths.applications}?done=application-revoked`, 303)
  })
}

interface ApplicationsProps {
  readonly viewer: Viewer
  readonly list: readonly Application[]
  readonly machines: readonly ListedMachine[]
  readonly done?: string | undefined
  /** What was typed into the form for a new machine. */
  readonly values?: Fields
  readonly problem?: string
}

function Applications({ viewer, list, machines, done, values = {}, problem }: ApplicationsProps) {
  return (
    <ConsolePage title="Connected applications" viewer={viewer} section="account" done={done}>
      {list.length === 0 ? (
        <Empty heading="No applications yet">
          <p>Applications that you allow to act for you are listed here. You can stop them here.</p>
        </Empty>
      ) : (
        <Table stacks label="Connected applications" columns={COLUMNS} rows={list} />
      )}
      <Machines viewer={viewer} machines={machines} values={values} problem={problem} />
    </ConsolePage>
  )
}

const COLUMNS: readonly Column<Application>[] = [
  [
    'Application',
    ({ clientName, clientId }) => (
      <>
        {clientName ?? clientId}
        {clientName === undefined ? <small> (no longer registered)</small> : null}
      </>
    ),
  ],
  ['Workspace', ({ workspaceName }) => workspaceName],
  [
    'It may',
    ({ scopes }) =>
      scopes.map((scope) => (
        <>
          <code title={scopeWords(scope)}>{scope}</code>{' '}
        </>
      )),
  ],
  ['For', ({ audiences }) => audiences.map((audience) => <code>{audience}</code>)],
  ['Since', ({ since }) => <Time at={since} />],
  [
    'Action',
    ({ grantId, clientName, clientId, since }) => (
      <PostForm action={`${paths.applications}/${encodeURIComponent(grantId)}/revoke`} class="inline">
        <button
          type="submit"
          class="danger quiet"
          aria-label={`Stop ${clientName ?? clientId}, allowed ${formatInstant(since)}`}
        >
          Stop
        </button>
      </PostForm>
    ),
  ],
]
