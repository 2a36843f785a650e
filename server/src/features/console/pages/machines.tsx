/** The OAuth clients of machines: owners make them, see them and revoke them. */

import type { Instant } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import type { FastifyRequest } from 'fastify'
import type { VNode } from 'preact'
import { ServiceError } from '../../../base/errors.ts'
import { HttpError } from '../../../http/errors.ts'
import type { App } from '../../../http/instance.ts'
import { paths } from '../../../web/console-paths.ts'
import { Facts } from '../../../web/parts/facts.tsx'
import { type Column, ROW_HEAD, Table } from '../../../web/parts/table.tsx'
import { Code, Codes, Name, Time } from '../../../web/parts/values.tsx'
import { sentence } from '../../../web/words.tsx'
import { MACHINE_SECRET_PREFIX, type Machine, type NewMachine } from '../../oauth/machines.ts'
import { OAUTH_PATHS } from '../../oauth/paths.ts'
import { SCOPES, type Scope, scopeWords } from '../../oauth/scopes.ts'
import { answerForm, showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { freshSignInOnly } from '../fresh-sign-in.ts'
import { ConsolePage, useViewer, type ViewedWorkspace, type Viewer } from '../page.tsx'
import { AskForm, Field, PostForm, Select } from '../parts/form.tsx'
import { type Fields, formOf } from '../request-fields.ts'
import { actingOf, viewerOf } from '../session.ts'
import { KEEPS_ALL } from '../unsent.tsx'

type MachinePath = { Params: { machine: string } }

/** A machine with the workspace that it belongs to. */
export interface ListedMachine extends Machine {
  readonly workspaceName: string
}

/** The machines of the workspaces that this person owns. */
export async function machinesOf(
  { workspaces }: Viewer,
  machines: ConsoleDependencies['machines'],
): Promise<readonly ListedMachine[]> {
  const lists = ownedBy(workspaces).map(async ({ id, name: workspaceName }) => {
    return (await machines.list(id)).map((machine) => ({ ...machine, workspaceName }))
  })
  return (await Promise.all(lists)).flat()
}

/** What was typed into the form for a new machine, and why it was refused. */
export interface MachineForm {
  readonly values?: Fields
  readonly problem?: string
}

type PageWithForm = (request: FastifyRequest, form: MachineForm) => Promise<VNode>

export function machineRoutes(app: App, services: ConsoleDependencies, pageWithForm: PageWithForm): void {
  const { machines, oauth } = services

  async function requireMachine(request: FastifyRequest, id: string): Promise<ListedMachine> {
    const machine = (await machinesOf(viewerOf(request), machines)).find((one) => one.id === id)
    if (!machine) throw new ServiceError('not_found', 'there is no such machine')
    return machine
  }

  const fresh = { ...KEEPS_ALL, preHandler: freshSignInOnly(services) }

  app.post(paths.machines, fresh, async (request, reply) => {
    const values = formOf(request)
    const workspace = ownedBy(viewerOf(request).workspaces).find(({ id }) => id === values.workspace)
    if (!workspace) throw new HttpError(403, 'only owners of the workspace may do this: ask one of them')
    return answerForm(request, reply, {
      work: async () => {
        const scopes = SCOPES.filter((scope) => values[fieldOf(scope)] !== undefined)
        const made = await machines.create(workspace.id, values.name ?? '', scopes, actingOf(request))
        return { page: <MadeMachine made={made} issuer={oauth.issuer()} />, status: 201 }
      },
      refused: (problem) => pageWithForm(request, { values, problem: sentence(`no machine was made: ${problem}`) }),
    })
  })

  // A reload of the page of a new machine asks for this.
  app.get(paths.machines, async (_request, reply) => reply.redirect(paths.applications, 303))

  app.get<MachinePath>(`${paths.machines}/:machine/revoke`, async (request, reply) => {
    const machine = await requireMachine(request, request.params.machine)
    return showPage(request, reply, <RevokeMachine machine={machine} />)
  })

  app.post<MachinePath>(`${paths.machines}/:machine/revoke`, fresh, async (request, reply) => {
    const { id, workspaceId } = await requireMachine(request, request.params.machine)
    await machines.revoke(id, workspaceId, actingOf(request))
    return reply.redirect(`${paths.applications}?done=machine-revoked`, 303)
  })
}

/** Those in which the person can do something as they signed in. */
function ownedBy(workspaces: readonly ViewedWorkspace[]): readonly ViewedWorkspace[] {
  return workspaces.filter(({ isOwner, isOpen }) => isOwner && isOpen)
}

function fieldOf(scope: Scope): string {
  return `scope:${scope}`
}

interface MachinesProps extends MachineForm {
  readonly machines: readonly ListedMachine[]
}

/** A part of the applications page. Nothing for people who own no workspace. */
export function Machines({ machines, values = {}, problem }: MachinesProps) {
  const owned = ownedBy(useViewer().workspaces)
  if (owned.length === 0) return null
  return (
    <>
      <h2 id="machines">Machines</h2>
      <p>
        A machine gets tokens for a workspace with its own id and secret, without a person. Give it a key instead this
        if it calls this API: a token is for other servers, which ask Claimcheck what it permits.
      </p>
      {machines.length === 0 ? null : <Table stacks label="Machines" columns={COLUMNS} rows={machines} />}
      <h3>New machine</h3>
      <PostForm action={paths.machines}>
        <Field
          name="name"
          label="Name"
          value={values.name}
          problem={problem}
          help="Which program on which machine will use it."
          autocomplete="off"
          required
        />
        <Select
          name="workspace"
          label="Workspace"
          options={owned.map(({ id, name }) => [id, name])}
          value={values.workspace}
        />
        <fieldset>
          <legend>It may</legend>
          {SCOPES.map((scope) => (
            <label>
              <input type="checkbox" name={fieldOf(scope)} value="on" checked={values[fieldOf(scope)] !== undefined} />{' '}
              {scopeWords(scope)} <code>{scope}</code>
            </label>
          ))}
        </fieldset>
        <button type="submit">Make a machine</button>
      </PostForm>
    </>
  )
}

const COLUMNS: readonly Column<ListedMachine>[] = [
  [
    'Machine',
    ({ id, name }) => (
      <>
        <Name of={name} /> <code>{id}</code>
      </>
    ),
    ROW_HEAD,
  ],
  ['Workspace', ({ workspaceName }) => workspaceName],
  ['It may', ({ scopes }) => <Codes values={scopes} />],
  ['State', ({ revokedAt }) => <MachineState revokedAt={revokedAt} />],
  ['Last token', ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" />],
  [
    'Action',
    ({ id, name, revokedAt }) =>
      revokedAt === null ? (
        <a href={paths.revokeMachine(id)} aria-label={`Revoke ${visibleName(name)}`}>
          Revoke
        </a>
      ) : null,
  ],
]

function MachineState({ revokedAt }: { readonly revokedAt: Instant | null }) {
  if (revokedAt === null) return <>active</>
  return (
    <span class="none">
      revoked <Time at={revokedAt} />
    </span>
  )
}

interface MadeMachineProps {
  readonly made: NewMachine
  readonly issuer: string
}

function MadeMachine({ made: { clientId, clientSecret }, issuer }: MadeMachineProps) {
  const command = `curl -s '${issuer}${OAUTH_PATHS.token}' -u '${clientId}:${clientSecret}' -d grant_type=client_credentials`
  return (
    <ConsolePage title="Your new machine" section="account">
      <p class="notice warning">
        <strong>Copy this secret now: it is not shown again.</strong> Only its hash is stored.
      </p>
      <Code text={clientId} label="the client id" />
      <Code text={clientSecret} label="the client secret" />
      <h2>Get a token</h2>
      <p>Paste this into a shell. The token lasts 15 minutes; then the machine asks for another.</p>
      <Code text={command} label="the command" />
      <p>
        <a class="button" href={paths.applications}>
          I have copied the secret
        </a>
      </p>
    </ConsolePage>
  )
}

function RevokeMachine({ machine }: { readonly machine: ListedMachine }) {
  const { id, name, workspaceName, scopes, lastFour, lastUsedAt, revokedAt } = machine
  const isRevoked = revokedAt !== null
  return (
    <ConsolePage title={isRevoked ? 'This machine is revoked' : 'Revoke this machine?'} section="account">
      <Facts
        rows={[
          ['Name', <Name of={name} />],
          ['Client id', <code>{id}</code>],
          ['Secret', <code>{`${MACHINE_SECRET_PREFIX}…${lastFour}`}</code>],
          ['Workspace', workspaceName],
          ['It may', <Codes values={scopes} />],
          ['Last token', <Time at={lastUsedAt} none="never" />],
          ['State', <MachineState revokedAt={revokedAt} />],
        ]}
      />
      {isRevoked ? (
        <p>
          It gets no tokens. <a href={paths.applications}>Back to the applications</a>
        </p>
      ) : (
        <>
          <p>It gets no more tokens, and those that it has end at once. This cannot be undone.</p>
          <AskForm
            action={paths.revokeMachine(id)}
            submit="Revoke the machine"
            danger
            cancel="Keep it"
            href={paths.applications}
          />
        </>
      )}
    </ConsolePage>
  )
}
