/** The applications that a person has allowed. */
import { formatInstant } from '@claimcheck/core/rules'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { type Column, Empty, Table } from '../../../web/parts/table.tsx'
import { Time } from '../../../web/parts/values.tsx'
import type { Application } from '../../oauth/applications.ts'
import { scopeWords } from '../../oauth/scopes.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage } from '../form-page.tsx'
import { ConsolePage } from '../page.tsx'
import { ButtonForm } from '../parts/form.tsx'
import { Machines, machineForms, machineRoutes, machinesIn } from './machines.tsx'

export function applicationRoutes(app: App, services: ConsoleDependencies): void {
  const { applications } = services

  addPage(app, services, paths.applications, {
    show: async ({ user, workspaces, refused }) => {
      const [list, machines] = await Promise.all([applications.list(user.id), machinesIn(workspaces, services)])
      return (
        <ConsolePage title="Connected applications" section="account">
          {list.length === 0 ? (
            <Empty heading="No applications yet">
              <p>Applications that you allow to act for you are listed here. You can stop them here.</p>
            </Empty>
          ) : (
            <Table stacks label="Connected applications" columns={COLUMNS} rows={list} />
          )}
          <Machines machines={machines} refused={refused} />
        </ConsolePage>
      )
    },
    forms: {
      ...machineForms(services),
      [`${paths.applications}/:grant/revoke`]: {
        freshSignIn: true,
        save: ({ user, params, by }) => applications.revoke(user.id, params.grant, by),
        done: 'application-revoked',
      },
    },
  })
  machineRoutes(app, services)
}

const COLUMNS: readonly Column<Application>[] = [
  [
    'Application',
    ({ clientName, clientId }) => (
      <>
        {clientName ?? clientId}
        {clientName === undefined && <small> (no longer registered)</small>}
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
      <ButtonForm
        action={`${paths.applications}/${encodeURIComponent(grantId)}/revoke`}
        class="inline"
        look="danger quiet"
        label={`Stop ${clientName ?? clientId}, allowed ${formatInstant(since)}`}
      >
        Stop
      </ButtonForm>
    ),
  ],
]
