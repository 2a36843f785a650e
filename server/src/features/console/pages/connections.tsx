/** The pages of connections: list, connect, test, rename, replace credentials, disconnect. */
import { ServiceError } from '../../../base/errors.ts'
import { propertiesOf } from '../../../base/schema-properties.ts'
import type { App } from '../../../http/instance.ts'
import type { HostedConnectionType } from '../../../plugins/hosted.ts'
import { sentence } from '../../../web/words.tsx'
import type { NotConnected } from '../../workspaces/connection-trial.ts'
import type { ConnectionSummary } from '../../workspaces/connections.ts'
import { addressInReceipts } from '../../workspaces/sources.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, requireFound, type Visit, withNotice } from '../form-page.tsx'
import { problemsByField, readSchemaForm, startingValues } from '../parts/schema-form.tsx'
import { kindOf, secretsIn } from '../parts/schema-properties.ts'
import type { Fields } from '../request-fields.ts'
import {
  ConnectForm,
  INSIST,
  NAME,
  type Outcome,
  PREFIX,
  PUBLISH,
  RenameForm,
  ReplaceForm,
} from './connections/connect-form.tsx'
import { HintsPage, NewHintsPage } from './connections/hints.tsx'
import { Connections, Disconnect } from './connections/list.tsx'
import { TRY } from './connections/trial-field.tsx'

export function connectionRoutes(app: App, services: ConsoleDependencies): void {
  const { connections, members, registry, sources } = services

  async function addressOf(one: ConnectionSummary) {
    const by = registry.offeredBy(one.provider)
    return [one.id, await addressInReceipts(one, registry.connectionType(one.provider), by, sources)] as const
  }

  addPage(app, services, '/connections', {
    show: async ({ workspace, query }) => {
      const listed = await connections.list(workspace.id)
      return (
        <Connections
          connections={listed}
          names={await members.namesOf(listed.map(({ connectedBy }) => connectedBy))}
          registry={registry}
          addresses={new Map(await Promise.all(listed.map(addressOf)))}
          overlaps={await connections.overlaps(workspace.id)}
          search={(query.q ?? '').trim().slice(0, 100)}
        />
      )
    },
    forms: {
      '/connections/:connection/test': {
        owners: true,
        freshSignIn: 'uses what is connected',
        cost: 'trial',
        answer: async ({ workspace, params, form, by }) => {
          const about = { workspaceId: workspace.id, target: form[TRY] }
          const { state, failure } = await connections.test(params.connection, about, by)
          const done = failure === 'forbidden' ? 'hidden' : (state ?? 'failed')
          return withNotice(workspace.at.connections, `connection-${done}`)
        },
      },
    },
  })
  connectPage(app, services)
  changePages(app, services)
}

function connectPage(app: App, services: ConsoleDependencies): void {
  const { connections, registry, sources } = services

  function connectForm(type: HostedConnectionType, values: Fields, outcome: Outcome) {
    const by = registry.offeredBy(type.provider)
    const listed = by ? sources.listed(type.provider, by) : []
    return <ConnectForm type={type} listed={listed} values={values} outcome={outcome} />
  }

  addPage(app, services, '/connections/new/:provider', {
    owners: true,
    // Secrets are not kept over a sign-in, so opening the form asks for one first.
    freshSignIn: true,
    load: ({ params }) => requireType(services, params.provider),
    show: ({ loaded: type }) => connectForm(type, startingValues(type.options, PREFIX), {}),
    form: {
      freshSignIn: true,
      showsRefusal: false,
      /** Tells which options a form keeps over a sign-in: those that are not secret. */
      keepsField: (name, { params }) => {
        const type = registry.connectionType((params as { provider: string }).provider)
        const open = type ? propertiesOf(type.options).filter(([, property]) => kindOf(property) !== 'secret') : []
        return [NAME, INSIST, PUBLISH, TRY].includes(name) || open.some(([key]) => name === PREFIX + key)
      },
      cost: 'trial',
      answer: async ({ loaded: type, workspace, user, form, by }) => {
        const options = readSchemaForm(type.options, form, PREFIX)
        const connector = {
          userId: user.id,
          insists: form[INSIST] !== undefined,
          address: form[PUBLISH] === undefined ? ('withheld' as const) : ('published' as const),
          name: form[NAME] ?? '',
          target: form[TRY] ?? '',
        }
        const connected = await outcomeOf(connections.connect(workspace.id, type.provider, options, connector, by))
        if (!('id' in connected)) return { page: connectForm(type, form, connected), status: 422 }
        const overlaps = (await connections.overlaps(workspace.id)).get(connected.id) ?? []
        const isAmbiguous = overlaps.some(({ isOnePlace }) => !isOnePlace)
        const done = isAmbiguous ? 'connected-ambiguous' : doneOf('connected', connected)
        return withNotice(workspace.at.connections, done)
      },
    },
  })
}

/** The pages that change one connection: its credentials, its name, and its end. */
function changePages(app: App, services: ConsoleDependencies): void {
  const { connections, registry } = services

  async function load({ workspace, params }: Visit): Promise<ConnectionSummary> {
    const listed = await connections.list(workspace.id)
    return requireFound(
      listed.find(({ id }) => id === params.connection),
      'there is no such connection',
    )
  }

  addPage(app, services, '/connections/:connection/credentials', {
    owners: true,
    freshSignIn: true,
    load: async (visit) => {
      const connection = await load(visit)
      return { connection, type: requireType(services, connection.provider) }
    },
    show: ({ loaded }) => (
      <ReplaceForm {...loaded} values={{ [TRY]: loaded.connection.trialTarget ?? '' }} outcome={{}} />
    ),
    form: {
      freshSignIn: true,
      showsRefusal: false,
      cost: 'trial',
      answer: async ({ loaded, workspace, form, by }) => {
        const secrets = readSchemaForm(secretsIn(loaded.type), form, PREFIX)
        const trial = { workspaceId: workspace.id, insists: form[INSIST] !== undefined, target: form[TRY] ?? '' }
        const replaced = await outcomeOf(connections.replaceSecrets(loaded.connection.id, secrets, trial, by))
        if ('connection' in replaced)
          return withNotice(workspace.at.connections, doneOf('replaced', replaced.connection))
        return { page: <ReplaceForm {...loaded} values={form} outcome={replaced} />, status: 422 }
      },
    },
  })

  hintsPage(app, services, load)

  addPage(app, services, '/connections/:connection/name', {
    owners: true,
    load,
    show: ({ loaded, refused }) => <RenameForm connection={loaded} refused={refused} />,
    form: {
      freshSignIn: 'changes words alone',
      keepsField: (name) => name === NAME,
      save: ({ loaded, workspace, form, by }) => connections.rename(loaded.id, form[NAME] ?? '', workspace.id, by),
      done: 'connection-renamed',
      leadsTo: (at) => at.connections,
    },
  })

  addPage(app, services, '/connections/:connection/disconnect', {
    owners: true,
    load,
    show: ({ loaded }) => <Disconnect connection={loaded} type={registry.connectionType(loaded.provider)} />,
    form: {
      freshSignIn: 'ends access',
      save: ({ loaded, workspace, by }) => connections.remove(loaded.id, workspace.id, by),
      done: 'disconnected',
      leadsTo: (at) => at.connections,
    },
  })
}

/** The page of the address at which a connection's destination gives hints, which shows a new secret once. */
function hintsPage(app: App, services: ConsoleDependencies, load: (visit: Visit) => Promise<ConnectionSummary>): void {
  const { hintAddresses } = services

  addPage(app, services, '/connections/:connection/hints', {
    owners: true,
    load: async (visit) => {
      const connection = await load(visit)
      const type = requireType(services, connection.provider)
      requireFound(type.hints, 'the destination of this connection gives no hints')
      return { connection, type, address: await hintAddresses.of(connection.id) }
    },
    show: ({ loaded }) => <HintsPage {...loaded} />,
    form: {
      freshSignIn: true,
      keepsField: () => false,
      answer: async ({ loaded, workspace, by }) => {
        const made = await hintAddresses.give(loaded.connection.id, workspace.id, by)
        return { page: <NewHintsPage {...loaded} made={made} />, status: 201 }
      },
    },
    forms: {
      '/connections/:connection/hints/end': {
        freshSignIn: 'ends access',
        save: ({ loaded, workspace, by }) => hintAddresses.end(loaded.connection.id, workspace.id, by),
        done: 'hints-ended',
        leadsTo: (at) => at.connections,
      },
    },
  })
}

function requireType({ registry }: ConsoleDependencies, provider: string): HostedConnectionType {
  return requireFound(registry.connectionType(provider), 'there is no provider of this name')
}

/** Waits for a connection. Returns it, or the reasons to show the form again. */
async function outcomeOf<T extends object>(work: Promise<T | NotConnected>): Promise<T | Outcome> {
  try {
    const outcome = await work
    return 'isRefused' in outcome ? { failed: outcome } : outcome
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    if (error.code === 'bad_request') return { problems: { [NAME]: sentence(error.message) } }
    if (error.code !== 'invalid') throw error
    const tried = error.issues.find(({ loc }) => loc[0] === 'target')
    if (tried) return { problems: { [TRY]: sentence(tried.msg.replace('Value error, ', '')) } }
    return { problems: problemsByField(error.issues, ['options'], PREFIX) }
  }
}

function doneOf(done: 'connected' | 'replaced', { state, notes }: ConnectionSummary): string {
  const warned = notes.length > 0 ? `${done}-warned` : done
  return state === 'works' ? warned : `${done}-${state ?? 'unread'}`
}
