/** The pages of webhooks: where the events of the workspace are sent, and what became of each. Owners alone see them. */
import type { FastifyRequest } from 'fastify'
import { readDuration } from '../../../base/duration.ts'
import type { App } from '../../../http/instance.ts'
import {
  DELIVERY_STATES,
  type DeliveryState,
  REPORT_FORMATS,
  WEBHOOK_FORMATS,
  type WebhookFormat,
} from '../../../storage/webhooks.ts'
import { pathsIn } from '../../../web/console-paths.ts'
import { isAlert, usualFilters } from '../../webhooks/kinds.ts'
import type { ReportSettings } from '../../webhooks/report-grants.ts'
import type { WebhookSettings } from '../../webhooks/webhooks.ts'
import { fromDeliveryQuery, toDeliveryList } from '../../webhooks/wire.ts'
import type { ConsoleDependencies } from '../dependencies.ts'
import { addPage, FRESH_SIGN_IN, guarded, type Refused, requireFound, type Visit, withNotice } from '../form-page.tsx'
import type { ViewedWorkspace } from '../page.tsx'
import { type Fields, linesOf, listOf } from '../request-fields.ts'
import { NewWebhookSecret, RemoveWebhook, ReplaceSecret } from './webhooks/ask-pages.tsx'
import { ReportForm } from './webhooks/report-form.tsx'
import { WebhookForm } from './webhooks/webhook-form.tsx'
import { WebhookList } from './webhooks/webhook-list.tsx'
import { WebhookPage } from './webhooks/webhook-page.tsx'

const ROOT = '/developers/webhooks'
const ONE = `${ROOT}/:webhook`
const DELIVERIES_A_PAGE = 50

/** The guard of forms with the URL, which may hold a secret: opening them asks for a sign-in first, and the URL is not kept over one. */
const WITH_URL = { freshSignIn: true, keepsField: (name: string) => name !== 'url', cost: 'trial' } as const

export function webhookRoutes(app: App, services: ConsoleDependencies): void {
  if (!services.isActive('webhooks')) return
  const { webhooks } = services

  addPage(app, services, ROOT, {
    owners: true,
    show: async ({ workspace }) => {
      const listed = await webhooks.list(workspace.id)
      return <WebhookList webhooks={listed} waiting={await webhooks.waitingAt(listed)} />
    },
  })

  addPage(app, services, `${ROOT}/new`, {
    owners: true,
    freshSignIn: true,
    show: async ({ workspace, query, request, refused }) => {
      const format = formatIn(query.format)
      const usual = { format, url: '', filters: usualFilters(format) }
      const values = refused ? valuesOf(refused.values, request) : usual
      return (
        <WebhookForm
          values={values}
          connections={await connectionsOf(services, workspace)}
          problem={refused?.problem}
        />
      )
    },
    form: {
      ...WITH_URL,
      answer: async ({ workspace, form, request, by }) => {
        const settings = valuesOf(form, request)
        const made = await webhooks.add(workspace.id, settings, by)
        // A chat service checks no signature.
        if (isAlert(settings.format)) return withNotice(workspace.at.webhook(made.target.id), 'webhook-added')
        return { page: <NewWebhookSecret made={made} />, status: 201 }
      },
    },
  })

  reportPage(app, services)
  onePage(app, services)
  changePages(app, services)
}

/** Adds the page that sets up reports on commits. */
function reportPage(app: App, services: ConsoleDependencies): void {
  const { webhooks } = services
  addPage(app, services, `${ROOT}/new-report`, {
    owners: true,
    freshSignIn: true,
    show: async ({ workspace, refused }) => {
      const values = reportOf(refused?.values ?? {})
      const connections = await connectionsOf(services, workspace)
      return <ReportForm values={values} connections={connections} problem={refused?.problem} />
    },
    form: {
      freshSignIn: true,
      keepsField: (name) => name !== 'credential',
      cost: 'trial',
      answer: async ({ workspace, form, by }) => {
        const made = await webhooks.addReport(workspace.id, reportOf(form), by)
        return withNotice(workspace.at.webhook(made.id), 'report-added')
      },
    },
  })
}

function reportOf(form: Fields | Refused['values']): ReportSettings {
  return {
    format: REPORT_FORMATS.find((format) => format === form.format) ?? 'github',
    connection: form.connection ?? '',
    repositories: linesOf(form.repositories ?? ''),
    credential: form.credential ?? '',
    app: { id: form.app_id ?? '', installation: form.installation_id ?? '' },
    comments: form.comments === 'yes',
  }
}

/** Loads a webhook of the workspace. @throws ServiceError `not_found` */
async function load({ webhooks }: ConsoleDependencies, { workspace, params }: Visit) {
  const listed = await webhooks.list(workspace.id)
  return requireFound(
    listed.find(({ id }) => id === params.webhook),
    'there is no such webhook',
  )
}

/** Adds the page of one webhook with its deliveries, and the buttons on it. */
function onePage(app: App, services: ConsoleDependencies): void {
  const { webhooks } = services

  async function deliveriesOf({ workspace, query }: Visit, webhook: string) {
    const state = stateIn(query.state)
    const cursor = query.cursor ? { cursor: query.cursor } : {}
    const filter = fromDeliveryQuery({ limit: DELIVERIES_A_PAGE, webhook, ...(state && { state }), ...cursor })
    return { ...toDeliveryList(await webhooks.deliveries(workspace.id, filter), filter), state, isFirst: !query.cursor }
  }

  // Browsers that reload the outcome of a test ask for this.
  app.get<{ Params: { workspace: string; webhook: string } }>(
    `${ONE}/test`,
    guarded(services, { owners: true }),
    async ({ params }, reply) => reply.redirect(pathsIn(params.workspace).webhook(params.webhook), 303),
  )

  addPage(app, services, ONE, {
    owners: true,
    load: (visit) => load(services, visit),
    show: async (visit) => {
      const deliveries = await deliveriesOf(visit, visit.loaded.id)
      return <WebhookPage webhook={visit.loaded} deliveries={deliveries} problem={visit.refused?.problem} />
    },
    forms: {
      [`${ONE}/test`]: {
        freshSignIn: 'sends to what owners named',
        cost: 'trial',
        answer: async (visit) => {
          const { loaded, workspace, by } = visit
          const tested = await webhooks.test(loaded.id, workspace.id, by)
          return <WebhookPage webhook={loaded} deliveries={await deliveriesOf(visit, loaded.id)} tested={tested} />
        },
      },
      [`${ONE}/off`]: {
        freshSignIn: 'ends sending',
        answer: async ({ loaded, workspace, by }) => {
          await webhooks.switchOff(loaded.id, workspace.id, by)
          return withNotice(workspace.at.webhook(loaded.id), 'webhook-off')
        },
      },
      [`${ONE}/on`]: {
        ...FRESH_SIGN_IN,
        answer: async ({ loaded, workspace, by }) => {
          await webhooks.switchOn(loaded.id, workspace.id, by)
          return withNotice(workspace.at.webhook(loaded.id), 'webhook-on')
        },
      },
      [`${ONE}/resend`]: {
        freshSignIn: 'sends to what owners named',
        answer: async ({ loaded, workspace, form }) => {
          await webhooks.sendAgain(workspace.id, form.id ?? '')
          return withNotice(workspace.at.webhook(loaded.id), 'delivery-sent')
        },
      },
    },
  })
}

/** Adds the pages that change a webhook: its URL and events, its secret, and its end. */
function changePages(app: App, services: ConsoleDependencies): void {
  const { webhooks } = services

  addPage(app, services, `${ONE}/change`, {
    owners: true,
    freshSignIn: true,
    load: ({ workspace, params }) => webhooks.get(params.webhook, workspace.id),
    show: async ({ loaded, workspace, request, refused }) => {
      const values = refused ? valuesOf(refused.values, request) : loaded
      const connections = await connectionsOf(services, workspace, loaded.filters.connections)
      return <WebhookForm id={loaded.id} values={values} connections={connections} problem={refused?.problem} />
    },
    form: {
      ...WITH_URL,
      answer: async ({ loaded, workspace, form, request, by }) => {
        await webhooks.change(loaded.id, valuesOf(form, request), workspace.id, by)
        return withNotice(workspace.at.webhook(loaded.id), 'webhook-changed')
      },
    },
  })

  addPage(app, services, `${ONE}/secret`, {
    owners: true,
    load: (visit) => load(services, visit),
    show: ({ loaded, refused }) => <ReplaceSecret webhook={loaded} problem={refused?.problem} />,
    form: {
      ...FRESH_SIGN_IN,
      answer: async ({ loaded, workspace, form, by }) => {
        const made = await webhooks.rotate(loaded.id, readDuration(form.overlap ?? ''), workspace.id, by)
        return { page: <NewWebhookSecret made={made} />, status: 201 }
      },
    },
  })

  addPage(app, services, `${ONE}/remove`, {
    owners: true,
    load: (visit) => load(services, visit),
    show: ({ loaded }) => <RemoveWebhook webhook={loaded} />,
    form: {
      freshSignIn: 'ends sending',
      save: ({ loaded, workspace, by }) => webhooks.remove(loaded.id, workspace.id, by),
      done: 'webhook-removed',
      leadsTo: (at) => at.webhooks,
    },
  })
}

function valuesOf(form: Fields | Refused['values'], request: FastifyRequest): WebhookSettings {
  return {
    format: formatIn(form.format),
    url: form.url ?? '',
    filters: {
      types: listOf(request, 'types'),
      verdicts: listOf(request, 'verdicts'),
      actions: linesOf(form.actions ?? ''),
      agents: linesOf(form.agents ?? ''),
      connections: listOf(request, 'connections'),
    },
  }
}

function formatIn(text: string | undefined): WebhookFormat {
  return WEBHOOK_FORMATS.find((format) => format === text) ?? 'standard'
}

function stateIn(text: string | undefined): DeliveryState | undefined {
  return DELIVERY_STATES.find((state) => state === text)
}

/** Lists the connections that a webhook may name: the active ones, and those that it names already. */
async function connectionsOf(
  { connections }: ConsoleDependencies,
  { id }: ViewedWorkspace,
  named: readonly string[] = [],
) {
  const listed = (await connections.list(id)).map((one) => ({ id: one.id, name: one.name }))
  const removed = named.filter((one) => listed.every((other) => other.id !== one))
  return [...listed, ...removed.map((one) => ({ id: one, name: 'a removed connection' }))]
}
