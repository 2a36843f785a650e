/** The routes of connections: list, connect, test, rename, replace credentials, disconnect. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { ServiceError } from '../../../base/errors.ts'
import { propertiesOf } from '../../../base/schema-properties.ts'
import type { App } from '../../../http/instance.ts'
import type { HostedConnectionType } from '../../../plugins/hosted.ts'
import { paths } from '../../../web/console-paths.ts'
import { sendPage } from '../../../web/document.tsx'
import { sentence } from '../../../web/words.tsx'
import type { NotConnected } from '../../workspaces/connection-trial.ts'
import type { ConnectionSummary } from '../../workspaces/connections.ts'
import { addressInReceipts } from '../../workspaces/sources.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { type FormValues, problemsByField, readSchemaForm, startingValues } from '../parts/schema-form.tsx'
import { kindOf, secretsIn } from '../parts/schema-properties.ts'
import { refusalOf } from '../refusal.ts'
import { formOf, queryOf } from '../request-fields.ts'
import { actingOf, isOwner, ownersOnly, sessionOf, viewerOf, workspaceOf } from '../session.ts'
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
  const { connections, members, registry, sources, now } = services

  function requireType(provider: string): HostedConnectionType {
    const type = registry.connectionType(provider)
    if (!type) throw new ServiceError('not_found', 'there is no provider of this name')
    return type
  }

  async function requireConnection(request: FastifyRequest, id: string): Promise<ConnectionSummary> {
    const connection = (await connections.list(workspaceOf(request).id)).find((one) => one.id === id)
    if (!connection) throw new ServiceError('not_found', 'there is no such connection')
    return connection
  }

  app.get('/connections', async (request, reply) => {
    const listed = await connections.list(workspaceOf(request).id)
    const page = (
      <Connections
        viewer={viewerOf(request)}
        isOwner={isOwner(request)}
        connections={listed}
        names={await members.namesOf(listed.map(({ connectedBy }) => connectedBy))}
        registry={registry}
        addresses={await addressesOf(listed)}
        now={now()}
        done={queryOf(request).done}
      />
    )
    return sendPage(reply, page)
  })

  async function addressesOf(listed: readonly ConnectionSummary[]) {
    const address = async (one: ConnectionSummary) => {
      const shown = await addressInReceipts(one, registry.connectionType(one.provider), sources)
      return [one.id, shown] as const
    }
    return new Map(await Promise.all(listed.map(address)))
  }

  function connectForm(request: FastifyRequest, type: HostedConnectionType, values: FormValues, outcome: Outcome) {
    const listed = sources.listed(type.provider)
    return <ConnectForm viewer={viewerOf(request)} type={type} listed={listed} values={values} outcome={outcome} />
  }

  app.get<ProviderPath>('/connections/new/:provider', { preHandler: ownersOnly }, async (request, reply) => {
    const type = requireType(request.params.provider)
    const values = startingValues(type.options, PREFIX)
    return sendPage(reply, connectForm(request, type, values, {}))
  })

  /** The options that are not secret. */
  const keepsOptions: KeepsField = (name, request) => {
    const type = registry.connectionType((request.params as ProviderPath['Params']).provider)
    const open = type ? propertiesOf(type.options).filter(([, property]) => kindOf(property) !== 'secret') : []
    return [NAME, INSIST, PUBLISH, TRY].includes(name) || open.some(([key]) => name === PREFIX + key)
  }
  const connecting = { preHandler: ownersOnly, config: { keepsField: keepsOptions } }

  app.post<ProviderPath>('/connections/new/:provider', connecting, async (request, reply) => {
    const type = requireType(request.params.provider)
    const form = formOf(request)
    const workspaceId = workspaceOf(request).id
    const options = readSchemaForm(type.options, form, PREFIX)
    const by = {
      userId: sessionOf(request).user.id,
      insists: form[INSIST] !== undefined,
      address: form[PUBLISH] === undefined ? ('withheld' as const) : ('published' as const),
      name: form[NAME] ?? '',
      target: form[TRY] ?? '',
    }
    const connected = await outcomeOf(connections.connect(workspaceId, type.provider, options, by, actingOf(request)))
    if ('id' in connected) return sendKept(request, reply, 'connected', connected)
    return sendPage(reply, connectForm(request, type, form, connected), 422)
  })

  app.get<ConnectionPath>(
    '/connections/:connection/credentials',
    { preHandler: ownersOnly },
    async (request, reply) => {
      const connection = await requireConnection(request, request.params.connection)
      const type = requireType(connection.provider)
      const page = (
        <ReplaceForm
          viewer={viewerOf(request)}
          connection={connection}
          type={type}
          values={{ [TRY]: connection.trialTarget ?? '' }}
          outcome={{}}
        />
      )
      return sendPage(reply, page)
    },
  )

  app.post<ConnectionPath>(
    '/connections/:connection/credentials',
    { preHandler: ownersOnly },
    async (request, reply) => {
      const connection = await requireConnection(request, request.params.connection)
      const type = requireType(connection.provider)
      const form = formOf(request)
      const workspaceId = workspaceOf(request).id
      const secrets = readSchemaForm(secretsIn(type), form, PREFIX)
      const by = { workspaceId, insists: form[INSIST] !== undefined, target: form[TRY] ?? '' }
      const replaced = await outcomeOf(connections.replaceSecrets(connection.id, secrets, by, actingOf(request)))
      if ('connection' in replaced) {
        return sendKept(request, reply, 'replaced', replaced.connection)
      }
      const viewer = viewerOf(request)
      const page = <ReplaceForm viewer={viewer} connection={connection} type={type} values={form} outcome={replaced} />
      return sendPage(reply, page, 422)
    },
  )

  app.post<ConnectionPath>('/connections/:connection/test', { preHandler: ownersOnly }, async (request, reply) => {
    const { connection: id } = request.params
    const workspaceId = workspaceOf(request).id
    const { state } = await connections.test(id, { workspaceId, target: formOf(request)[TRY] }, actingOf(request))
    return reply.redirect(`${paths.connections(workspaceId)}?done=connection-${state ?? 'failed'}`, 303)
  })

  app.get<ConnectionPath>('/connections/:connection/name', { preHandler: ownersOnly }, async (request, reply) => {
    const connection = await requireConnection(request, request.params.connection)
    return sendPage(reply, <RenameForm viewer={viewerOf(request)} connection={connection} />)
  })

  const renaming = { preHandler: ownersOnly, config: { keepsField: (name: string) => name === NAME } }

  app.post<ConnectionPath>('/connections/:connection/name', renaming, async (request, reply) => {
    const connection = await requireConnection(request, request.params.connection)
    const workspaceId = workspaceOf(request).id
    const name = formOf(request)[NAME] ?? ''
    try {
      await connections.rename(connection.id, name, workspaceId, actingOf(request))
    } catch (error) {
      const shown = { viewer: viewerOf(request), connection, name, problem: sentence(refusalOf(error)) }
      return sendPage(reply, <RenameForm {...shown} />, 422)
    }
    return reply.redirect(`${paths.connections(workspaceId)}?done=connection-renamed`, 303)
  })

  app.get<ConnectionPath>('/connections/:connection/disconnect', { preHandler: ownersOnly }, async (request, reply) => {
    const connection = await requireConnection(request, request.params.connection)
    const type = registry.connectionType(connection.provider)
    return sendPage(reply, <Disconnect viewer={viewerOf(request)} connection={connection} type={type} />)
  })

  app.post<ConnectionPath>(
    '/connections/:connection/disconnect',
    { preHandler: ownersOnly },
    async (request, reply) => {
      const workspaceId = workspaceOf(request).id
      await connections.remove(request.params.connection, workspaceId, actingOf(request))
      return reply.redirect(`${paths.connections(workspaceId)}?done=disconnected`, 303)
    },
  )
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

function sendKept(
  request: FastifyRequest,
  reply: FastifyReply,
  done: 'connected' | 'replaced',
  { state, notes }: ConnectionSummary,
): FastifyReply {
  const warned = notes.length > 0 ? `${done}-warned` : done
  const code = state === 'works' ? warned : `${done}-${state ?? 'unread'}`
  return reply.redirect(`${paths.connections(workspaceOf(request).id)}?done=${code}`, 303)
}
