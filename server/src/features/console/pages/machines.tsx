/** The OAuth clients of machines: owners make them, see them and revoke them. */

import { visibleName } from '@claimcheck/core/words/plain-text'
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
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, type Forms, FRESH_SIGN_IN, type Refused, requireFound } from '../form-page.tsx'
import { ConsolePage, useViewer, type ViewedWorkspace } from '../page.tsx'
import { AskForm, Field, PostForm, Select } from '../parts/form.tsx'

/** A machine with the name of its workspace. */
interface ListedMachine extends Machine {
  readonly workspaceName: string
}

/** Lists the machines of those of the workspaces that this person owns. */
export async function machinesIn(
  workspaces: readonly ViewedWorkspace[],
  { machines }: ConsoleDependencies,
): Promise<readonly ListedMachine[]> {
  const lists = ownedAmong(workspaces).map(async ({ id, name: workspaceName }) =>
    (await machines.list(id)).map((machine) => ({ ...machine, workspaceName })),
  )
  return (await Promise.all(lists)).flat()
}

/** The form of the applications page that makes a machine. */
export function machineForms({ machines, oauth }: ConsoleDependencies): Forms {
  return {
    [paths.machines]: {
      ...FRESH_SIGN_IN,
      answer: async ({ workspaces, form, by }) => {
        const workspace = ownedAmong(workspaces).find(({ id }) => id === form.workspace)
        if (!workspace) throw new HttpError(403, 'only owners of the workspace may do this: ask one of them')
        const scopes = SCOPES.filter((scope) => form[fieldOf(scope)] !== undefined)
        const made = await machines.create(workspace.id, form.name ?? '', scopes, by)
        return { page: <MadeMachine made={made} issuer={oauth.issuer()} />, status: 201 }
      },
    },
  }
}

export function machineRoutes(app: App, services: ConsoleDependencies): void {
  // Browsers that reload the page of a new machine ask for this.
  app.get(paths.machines, async (_request, reply) => reply.redirect(paths.applications, 303))

  addPage(app, services, `${paths.machines}/:machine/revoke`, {
    load: async ({ workspaces, params }) => {
      const listed = await machinesIn(workspaces, services)
      return requireFound(
        listed.find(({ id }) => id === params.machine),
        'there is no such machine',
      )
    },
    show: ({ loaded: machine }) => <RevokeMachine machine={machine} />,
    form: {
      ...FRESH_SIGN_IN,
      save: ({ loaded: { id, workspaceId }, by }) => services.machines.revoke(id, workspaceId, by),
      done: 'machine-revoked',
      leadsTo: paths.applications,
    },
  })
}

/** Picks the workspaces in which this person may make machines: those that they own, and signed in for as they ask. */
function ownedAmong(workspaces: readonly ViewedWorkspace[]): readonly ViewedWorkspace[] {
  return workspaces.filter(({ isOwner, isOpen }) => isOwner && isOpen)
}

function fieldOf(scope: Scope): string {
  return `scope:${scope}`
}

/** The part of the applications page about machines. People who own no workspace do not see it. */
export function Machines({ machines, refused }: { machines: readonly ListedMachine[]; refused: Refused | undefined }) {
  const { values = {}, problem } = refused ?? {}
  const owned = ownedAmong(useViewer().workspaces)
  if (owned.length === 0) return null
  return (
    <>
      <h2 id="machines">Machines</h2>
      <p>
        A machine gets tokens for a workspace with its own id and secret, without a person. Give it a key instead this
        if it calls this API: a token is for other servers, which ask Claimcheck what it permits.
      </p>
      {machines.length > 0 && <Table stacks label="Machines" columns={COLUMNS} rows={machines} />}
      <h3>New machine</h3>
      <PostForm action={paths.machines}>
        <Field
          name="name"
          label="Name"
          value={values.name}
          problem={problem && sentence(`no machine was made: ${problem}`)}
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

function MachineState({ revokedAt }: Pick<Machine, 'revokedAt'>) {
  if (revokedAt === null) return 'active'
  return (
    <span class="none">
      revoked <Time at={revokedAt} />
    </span>
  )
}

function MadeMachine({ made, issuer }: { made: NewMachine; issuer: string }) {
  const { clientId, clientSecret } = made
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

function RevokeMachine({ machine }: { machine: ListedMachine }) {
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
