/** The routes of connections: list, connect, test, rename, replace credentials, disconnect. */

import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../../base/errors.ts'
import { propertiesOf } from '../../../base/schema-properties.ts'
import type { App } from '../../../http/instance.ts'
import type { HostedConnectionType } from '../../../plugins/hosted.ts'
import { paths } from '../../../web/console-paths.ts'
import { sentence } from '../../../web/words.tsx'
import type { NotConnected } from '../../workspaces/connection-trial.ts'
import type { ConnectionSummary } from '../../workspaces/connections.ts'
import { addressInReceipts } from '../../workspaces/sources.ts'
import { saveForm, showPage } from '../answers.tsx'
import type { ConsoleDependencies } from '../dependencies.ts'
import { ownersNow } from '../fresh-sign-in.ts'
import { problemsByField, readSchemaForm, startingValues } from '../parts/schema-form.tsx'
import { kindOf, secretsIn } from '../parts/schema-properties.ts'
import { type Fields, formOf } from '../request-fields.ts'
import { actingOf, ownersOnly, sessionOf, workspaceOf } from '../session.ts'
import type { KeepsField } from '../unsent.tsx'
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
import { Connections, Disconnect } from './connections/list.tsx'
import { TRY } from './connections/trial-field.tsx'

type ConnectionPath = { Params: { connection: string } }
type ProviderPath = { Params: { provider: string } }

export function connectionRoutes(app: App, services: ConsoleDependencies): void {
  listRoutes(app, services)
  connectRoutes(app, services)
  credentialRoutes(app, services)
  changeRoutes(app, services)
}

const forOwners = { preHandler: ownersOnly }
const tries = { ...forOwners, config: { cost: 'trial' } } as const

function requireType({ registry }: ConsoleDependencies, provider: string): HostedConnectionType {
  const type = registry.connectionType(provider)
  if (!type) throw new ServiceError('not_found', 'there is no provider of this name')
  return type
}

async function requireConnection(
  { connections }: ConsoleDependencies,
  request: FastifyRequest<ConnectionPath>,
): Promise<ConnectionSummary> {
  const listed = await connections.list(workspaceOf(request).id)
  const connection = listed.find(({ id }) => id === request.params.connection)
  if (!connection) throw new ServiceError('not_found', 'there is no such connection')
  return connection
}

function doneAt(request: FastifyRequest, done: string): string {
  return `${paths.connections(workspaceOf(request).id)}?done=${done}`
}

function listRoutes(app: App, { connections, members, registry, sources }: ConsoleDependencies): void {
  async function addressesOf(listed: readonly ConnectionSummary[]) {
    const address = async (one: ConnectionSummary) => {
      const by = registry.offeredBy(one.provider)
      const shown = await addressInReceipts(one, registry.connectionType(one.provider), by, sources)
      return [one.id, shown] as const
    }
    return new Map(await Promise.all(listed.map(address)))
  }

  app.get('/connections', async (request, reply) => {
    const listed = await connections.list(workspaceOf(request).id)
    const page = (
      <Connections
        connections={listed}
        names={await members.namesOf(listed.map(({ connectedBy }) => connectedBy))}
        registry={registry}
        addresses={await addressesOf(listed)}
        overlaps={await connections.overlaps(workspaceOf(request).id)}
      />
    )
    return showPage(request, reply, page)
  })
}

function connectRoutes(app: App, services: ConsoleDependencies): void {
  const { connections, registry, sources } = services
  // Opening the form asks first: its secrets are not kept over a sign-in.
  const guarded = ownersNow(services)

  function connectForm(type: HostedConnectionType, values: Fields, outcome: Outcome) {
    const by = registry.offeredBy(type.provider)
    const listed = by ? sources.listed(type.provider, by) : []
    return <ConnectForm type={type} listed={listed} values={values} outcome={outcome} />
  }

  app.get<ProviderPath>('/connections/new/:provider', guarded, async (request, reply) => {
    const type = requireType(services, request.params.provider)
    return showPage(request, reply, connectForm(type, startingValues(type.options, PREFIX), {}))
  })

  /** The options that are not secret. */
  const keepsField: KeepsField = (name, request) => {
    const type = registry.connectionType((request.params as ProviderPath['Params']).provider)
    const open = type ? propertiesOf(type.options).filter(([, property]) => kindOf(property) !== 'secret') : []
    return [NAME, INSIST, PUBLISH, TRY].includes(name) || open.some(([key]) => name === PREFIX + key)
  }

  app.post<ProviderPath>(
    '/connections/new/:provider',
    { ...guarded, config: { keepsField, cost: 'trial' } },
    async (request, reply) => {
      const type = requireType(services, request.params.provider)
      const form = formOf(request)
      const options = readSchemaForm(type.options, form, PREFIX)
      const by = {
        userId: sessionOf(request).user.id,
        insists: form[INSIST] !== undefined,
        address: form[PUBLISH] === undefined ? ('withheld' as const) : ('published' as const),
        name: form[NAME] ?? '',
        target: form[TRY] ?? '',
      }
      const connecting = connections.connect(workspaceOf(request).id, type.provider, options, by, actingOf(request))
      const connected = await outcomeOf(connecting)
      if ('id' in connected) {
        const overlaps = (await connections.overlaps(workspaceOf(request).id)).get(connected.id) ?? []
        const isAmbiguous = overlaps.some(({ isOnePlace }) => !isOnePlace)
        const done = isAmbiguous ? 'connected-ambiguous' : doneOf('connected', connected)
        return reply.redirect(doneAt(request, done), 303)
      }
      return showPage(request, reply, connectForm(type, form, connected), 422)
    },
  )
}

function credentialRoutes(app: App, services: ConsoleDependencies): void {
  const { connections } = services
  const guarded = ownersNow(services)

  app.get<ConnectionPath>('/connections/:connection/credentials', guarded, async (request, reply) => {
    const connection = await requireConnection(services, request)
    const type = requireType(services, connection.provider)
    const values = { [TRY]: connection.trialTarget ?? '' }
    return showPage(request, reply, <ReplaceForm connection={connection} type={type} values={values} outcome={{}} />)
  })

  app.post<ConnectionPath>(
    '/connections/:connection/credentials',
    { ...guarded, config: { cost: 'trial' } },
    async (request, reply) => {
      const connection = await requireConnection(services, request)
      const type = requireType(services, connection.provider)
      const values = formOf(request)
      const secrets = readSchemaForm(secretsIn(type), values, PREFIX)
      const { id: workspaceId } = workspaceOf(request)
      const by = { workspaceId, insists: values[INSIST] !== undefined, target: values[TRY] ?? '' }
      const replaced = await outcomeOf(connections.replaceSecrets(connection.id, secrets, by, actingOf(request)))
      if ('connection' in replaced) return reply.redirect(doneAt(request, doneOf('replaced', replaced.connection)), 303)
      const page = <ReplaceForm connection={connection} type={type} values={values} outcome={replaced} />
      return showPage(request, reply, page, 422)
    },
  )

  app.post<ConnectionPath>('/connections/:connection/test', tries, async (request, reply) => {
    const about = { workspaceId: workspaceOf(request).id, target: formOf(request)[TRY] }
    const { state, failure } = await connections.test(request.params.connection, about, actingOf(request))
    const done = failure === 'forbidden' ? 'hidden' : (state ?? 'failed')
    return reply.redirect(doneAt(request, `connection-${done}`), 303)
  })
}

function changeRoutes(app: App, services: ConsoleDependencies): void {
  const { connections, registry } = services

  app.get<ConnectionPath>('/connections/:connection/name', forOwners, async (request, reply) => {
    const connection = await requireConnection(services, request)
    return showPage(request, reply, <RenameForm connection={connection} />)
  })

  const renaming = { ...forOwners, config: { keepsField: (name: string) => name === NAME } }

  app.post<ConnectionPath>('/connections/:connection/name', renaming, async (request, reply) => {
    const connection = await requireConnection(services, request)
    const name = formOf(request)[NAME] ?? ''
    return saveForm(request, reply, {
      work: () => connections.rename(connection.id, name, workspaceOf(request).id, actingOf(request)),
      next: doneAt(request, 'connection-renamed'),
      refused: (problem) => <RenameForm connection={connection} name={name} problem={sentence(problem)} />,
    })
  })

  app.get<ConnectionPath>('/connections/:connection/disconnect', forOwners, async (request, reply) => {
    const connection = await requireConnection(services, request)
    const type = registry.connectionType(connection.provider)
    return showPage(request, reply, <Disconnect connection={connection} type={type} />)
  })

  app.post<ConnectionPath>('/connections/:connection/disconnect', forOwners, async (request, reply) => {
    await connections.remove(request.params.connection, workspaceOf(request).id, actingOf(request))
    return reply.redirect(doneAt(request, 'disconnected'), 303)
  })
}

/** What was saved, or why the form is shown again. */
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
