/** The applications that a person has allowed. */
import { formatInstant } from '@claimcheck/core/rules'
import type { FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { type Column, Empty, Table } from '../../../web/parts/table.tsx'
import { Time } from '../../../web/parts/values.tsx'
import type { Application } from '../../oauth/applications.ts'
import { scopeWords } from '../../oauth/scopes.ts'
import { showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly } from '../fresh-sign-in.ts'
import { ConsolePage } from '../page.tsx'
import { PostForm } from '../parts/form.tsx'
import { actingOf, sessionOf, viewerOf } from '../session.ts'
import { type MachineForm, Machines, machineRoutes, machinesOf } from './machines.tsx'

export function applicationRoutes(app: App, services: ConsoleDependencies): void {
  const { applications, machines } = services

  async function page(request: FastifyRequest, form: MachineForm = {}): Promise<VNode> {
    const [list, ofMachines] = await Promise.all([
      applications.list(sessionOf(request).user.id),
      machinesOf(viewerOf(request), machines),
    ])
    return (
      <ConsolePage title="Connected applications" section="account">
        {list.length === 0 ? (
          <Empty heading="No applications yet">
            <p>Applications that you allow to act for you are listed here. You can stop them here.</p>
          </Empty>
        ) : (
          <Table stacks label="Connected applications" columns={COLUMNS} rows={list} />
        )}
        <Machines machines={ofMachines} {...form} />
      </ConsolePage>
    )
  }

  app.get(paths.applications, async (request, reply) => showPage(request, reply, await page(request)))

  machineRoutes(app, services, page)

  const fresh = { preHandler: freshSignInOnly(services) }
  app.post<{ Params: { grant: string } }>(`${paths.applications}/:grant/revoke`, fresh, async (request, reply) => {
    await applications.revoke(sessionOf(request).user.id, request.params.grant, actingOf(request))
    return reply.redirect(`${paths.applications}?done=application-revoked`, 303)
  })
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
