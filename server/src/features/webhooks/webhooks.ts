/** Webhooks of workspaces: owners say which events are sent where, and see what became of them. */
import { parseUrl } from '@claimcheck/core/plugin'
import { ACTION_PATTERN, type Instant, VERDICTS } from '@claimcheck/core/rules'
import { type Acting, BY_SERVICE, byCommand } from '../../base/actor.ts'
import type { AuditEvent } from '../../base/audit-events.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import type { Secrets } from '../../base/secrets.ts'
import type { OwnAddress } from '../../config/address.ts'
import { idProblem } from '../../names/names.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { AuditDetails } from '../../storage/audit-chain.ts'
import { EVENT_TYPES } from '../../storage/events.ts'
import { webhookContext } from '../../storage/sealed-contexts.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import {
  type DeliveryFilter,
  type DeliveryRow,
  NO_FILTERS,
  type OffReason,
  type WebhookFilters,
  type WebhookFormat,
  type WebhookTargetRow,
} from '../../storage/webhooks.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { requireRoom } from '../workspaces/possession-limits.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import type { OpenTarget } from './kind.ts'
import { isAlert } from './kinds.ts'
import { newSecret } from './message.ts'
import { apiOf, type ReportSettings, readGrant } from './report-grants.ts'
import { createSend, type Try } from './sender.ts'

/** A webhook without its URL and secrets. */
export type WebhookTarget = Omit<WebhookTargetRow, 'sealedUrl' | 'sealedSecret' | 'sealedFormer'>

/** The settings that an owner gives a webhook. */
export interface WebhookSettings {
  readonly format: WebhookFormat
  readonly url: string
  /** The lists of `WebhookFilters`, as they were typed. */
  readonly filters: { readonly [List in keyof WebhookFilters]: readonly string[] }
}

export interface NewWebhook {
  readonly target: WebhookTarget
  /** The secret, which is shown once. */
  readonly secret: string
}

const LONGEST_URL = 2000
const LONGEST_AGENT = 256
const MOST_ENTRIES = 50
const LONGEST_OVERLAP_MS = 7 * 24 * 60 * 60_000

interface WebhookParts {
  readonly storage: Storage
  readonly secrets: Pick<Secrets, 'seal' | 'open'>
  readonly webhookOutbound: Pick<Outbound, 'post' | 'request' | 'addressesOf'>
  readonly ownAddress: Pick<OwnAddress, 'origin' | 'url'>
  readonly now: () => Instant
  readonly config?: LimitsConfig
}

export type Webhooks = ReturnType<typeof createWebhooks>

export function createWebhooks(parts: WebhookParts) {
  const { storage, webhookOutbound: outbound, ownAddress, now } = parts
  const { limits } = parts.config ?? { limits: DEFAULT_LIMITS }
  const { read } = storage
  const { reported } = read.webhooks
  const { send, whoReports } = createSend({ outbound, ownAddress, now, reported })
  let changed: () => void = () => {}

  // Reads `parts.secrets` here and not above, because opening the secrets creates the key file.
  const seal = (text: string, id: string, column: Parameters<typeof webhookContext>[1]) =>
    parts.secrets.seal(text, webhookContext(id, column))
  const open = (sealed: string, id: string, column: Parameters<typeof webhookContext>[1]) =>
    parts.secrets.open(sealed, webhookContext(id, column))

  /** Reads a URL, and finds out whether it may be called. @throws ServiceError `bad_request` */
  async function readUrl(text: string): Promise<URL> {
    const url = text.length <= LONGEST_URL ? parseUrl(text.trim()) : undefined
    if (!url || !/^https?:$/.test(url.protocol) || url.username + url.password + url.hash !== '')
      throw new ServiceError('bad_request', 'the address is not valid: write one such as https://example.com/hooks')
    await outbound.addressesOf(url.origin).catch((cause) => {
      const detail = `${url.origin} cannot be called: the address must be https, and of a public host that is known`
      throw new ServiceError('bad_request', `${detail}; the operator can allow others in webhooks.allow_private`, {
        cause,
      })
    })
    return url
  }

  /** @throws ServiceError `bad_request` */
  async function readFilters(workspaceId: string, filters: WebhookSettings['filters'], before?: WebhookFilters) {
    const connections = await read.connections.active([workspaceId])
    const known = new Set([...connections.map(({ id }) => id), ...(before?.connections ?? [])])
    const rules: Readonly<Record<keyof WebhookFilters, (entry: string) => boolean>> = {
      types: (type) => (EVENT_TYPES as readonly string[]).includes(type),
      verdicts: (verdict) => (VERDICTS as readonly string[]).includes(verdict),
      actions: (action) => new RegExp(ACTION_PATTERN).test(action),
      agents: (agent) => agent.length > 0 && agent.length <= LONGEST_AGENT && idProblem(agent) === undefined,
      connections: (id) => known.has(id),
    }
    const lists = Object.entries(rules).map(([name, isValid]) => {
      const list = [...new Set(filters[name as keyof WebhookFilters])]
      if (list.length > MOST_ENTRIES)
        throw new ServiceError('bad_request', `of ${name} a webhook names at most ${MOST_ENTRIES}`)
      const wrong = list.find((entry) => !isValid(entry))
      if (wrong !== undefined)
        throw new ServiceError('bad_request', `${JSON.stringify(wrong.slice(0, 100))} is none of the ${name}`)
      return [name, list] as const
    })
    return Object.fromEntries(lists) as unknown as WebhookFilters
  }

  /** Inserts a target that gets the events from now on. @throws ServiceError `conflict`, `not_found` */
  async function insert(
    tx: Writes,
    given: Pick<WebhookTargetRow, 'id' | 'workspaceId' | 'format' | 'origin' | 'filters' | 'report'>,
    { href, secret }: { readonly href: string; readonly secret: string },
    by: Acting,
  ): Promise<WebhookTargetRow> {
    const { id, workspaceId } = given
    const at = now()
    await requireWorkspace(tx, workspaceId)
    requireRoom(limits, 'webhook', (await tx.webhooks.targets(workspaceId)).length + 1, by)
    const row: WebhookTargetRow = {
      ...given,
      ...{ state: 'on', offReason: null, stateAt: at },
      ...{ sealedUrl: seal(href, id, 'url'), sealedSecret: seal(secret, id, 'secret') },
      ...{ sealedFormer: null, formerUntil: null, quietUntil: null, lastDeliveredAt: null },
      reached: (await tx.events.last([workspaceId])).get(workspaceId) ?? 0,
      createdBy: by.actor.kind === 'user' ? by.actor.id : null,
      createdAt: at,
    }
    await tx.webhooks.insertTarget(row)
    return row
  }

  async function require(id: string, workspaceId?: string): Promise<WebhookTargetRow> {
    return requireIn(await read.webhooks.target(id), workspaceId)
  }

  function record(tx: Writes, event: AuditEvent, row: WebhookTargetRow, by: Acting, details: AuditDetails = {}): void {
    const { id, workspaceId, origin } = row
    tx.audit.record({ event, at: now(), by, workspaceId, subject: id, details: { origin, ...details } })
  }

  /** Changes a locked webhook. @throws ServiceError `not_found` */
  async function change(
    id: string,
    workspaceId: string | undefined,
    work: (tx: Writes, row: WebhookTargetRow) => Promise<WebhookTargetRow>,
  ): Promise<WebhookTarget> {
    const target = await storage.write(async (tx) => {
      const row = await work(tx, requireIn((await tx.webhooks.lock([id]))[0], workspaceId))
      await tx.webhooks.changeTarget(row)
      return toTarget(row)
    })
    changed()
    return target
  }

  /**
   * Opens a target for sending.
   * @throws SecretError
   */
  function openTarget(row: WebhookTargetRow): OpenTarget {
    const { id, workspaceId, format, sealedUrl, sealedSecret, sealedFormer, formerUntil } = row
    const secrets = [open(sealedSecret!, id, 'secret')]
    const url = open(sealedUrl!, id, 'url')
    if (row.report) return { workspaceId, format, url, secrets, report: { ...row.report, targetId: id } }
    if (sealedFormer !== null && formerUntil! > now()) secrets.push(open(sealedFormer, id, 'former'))
    return { workspaceId, format, url, secrets }
  }

  return {
    openTarget,
    send,
    /** Lists webhooks, oldest first. */
    list: async (workspaceId?: string): Promise<readonly WebhookTarget[]> =>
      (await read.webhooks.targets(workspaceId)).map(toTarget),
    /** Counts the deliveries that wait at each of these webhooks, if any do. */
    waitingAt: (targets: readonly WebhookTarget[]) => read.webhooks.waitingAt(targets.map(({ id }) => id)),
    /** Returns a webhook with its URL, which its owners alone may see. @throws ServiceError `not_found`; `bad_request` for reports */
    async get(id: string, workspaceId: string): Promise<WebhookTarget & { readonly url: string }> {
      const row = await require(id, workspaceId)
      refuseReport(row)
      return { ...toTarget(row), url: open(row.sealedUrl!, id, 'url') }
    },
    /**
     * Adds a webhook, which gets the events from now on.
     * @throws ServiceError `bad_request`, `conflict`, `not_found`
     */
    async add(workspaceId: string, { format, url, filters }: WebhookSettings, by = byCommand()): Promise<NewWebhook> {
      const [{ href, origin }, readFilter] = [await readUrl(url), await readFilters(workspaceId, filters)]
      const secret = newSecret()
      const given = { id: newId('wht_', now()), workspaceId, format, origin, filters: readFilter, report: null }
      const row = await storage.write(async (tx) => {
        const row = await insert(tx, given, { href, secret }, by)
        record(tx, 'webhook.added', row, by, { format, ...shownFilters(readFilter) })
        return row
      })
      changed()
      return { target: toTarget(row), secret }
    },
    /**
     * Adds a target that reports on commits: on what was claimed through one connection, at the host of that connection. The connection leaves
     * out from then on what this target reports.
     * @throws ServiceError `bad_request`, `conflict`, `not_found`
     */
    async addReport(workspaceId: string, settings: ReportSettings, by = byCommand()): Promise<WebhookTarget> {
      const { format } = settings
      const connection = await read.connections.activeById(settings.connection)
      if (connection?.workspaceId !== workspaceId)
        throw new ServiceError('bad_request', 'name the connection whose claims are reported')
      const href = apiOf(format, connection)
      const { origin } = await readUrl(href)
      const { credential, ...grant } = readGrant(settings)
      const reporter = await whoReports(format, { url: href, credential, report: grant })
      const report = { ...grant, reporter }
      const filters = { ...NO_FILTERS, types: ['claim.decided' as const], connections: [connection.id] }
      const given = { id: newId('wht_', now()), workspaceId, format, origin, filters, report }
      const row = await storage.write(async (tx) => {
        const locked = await tx.connections.lock(connection.id)
        if (!locked) throw new ServiceError('bad_request', 'the connection was removed')
        const row = await insert(tx, given, { href, secret: credential }, by)
        const { reporters } = locked.options
        const known = Array.isArray(reporters) ? reporters : []
        if (!known.includes(reporter))
          await tx.connections.changeOptions(locked.id, { ...locked.options, reporters: [...known, reporter] })
        const details = { repositories: report.repositories.join(' '), connection: connection.id, reporter }
        record(tx, 'webhook.added', row, by, { format, ...details })
        return row
      })
      changed()
      return toTarget(row)
    },
    /**
     * Changes where events are sent, and which. What waits does not go from a program to people or back: a chat would hear of each claim at once.
     * @throws ServiceError `bad_request`, `not_found`
     */
    async change(id: string, settings: WebhookSettings, workspaceId?: string, by = byCommand()) {
      const before = await require(id, workspaceId)
      refuseReport(before)
      const { format } = settings
      const { href, origin } = await readUrl(settings.url)
      const filters = await readFilters(before.workspaceId, settings.filters, before.filters)
      return change(id, workspaceId, async (tx, row) => {
        if (isAlert(format) !== isAlert(row.format) && (await tx.webhooks.waitingAt([id])).has(id))
          throw new ServiceError(
            'bad_request',
            'messages wait in the other format: add a new webhook, and remove this one',
          )
        const isMoved = open(row.sealedUrl!, id, 'url') !== href
        // The wait was for the former address.
        const moved = isMoved ? { sealedUrl: seal(href, id, 'url'), quietUntil: null } : {}
        if (isMoved) await tx.webhooks.sendWaiting(id, now())
        const next = { ...row, format, origin, filters, ...moved }
        record(tx, 'webhook.changed', next, by, { format, moved: isMoved, ...shownFilters(filters) })
        return next
      })
    },
    /**
     * Replaces the secret. Deliveries are signed by the former one, too, for the time of the overlap.
     * @throws ServiceError `bad_request`, `not_found`
     */
    async rotate(id: string, overlapMs: number, workspaceId?: string, by = byCommand()): Promise<NewWebhook> {
      if (overlapMs > LONGEST_OVERLAP_MS)
        throw new ServiceError('bad_request', 'the former secret goes on for at most 7 days')
      refuseReport(await require(id, workspaceId))
      const secret = newSecret()
      const target = await change(id, workspaceId, async (tx, row) => {
        const formerUntil = overlapMs > 0 ? now() + overlapMs : null
        const sealedFormer = formerUntil === null ? null : seal(open(row.sealedSecret!, id, 'secret'), id, 'former')
        record(tx, 'webhook.rotated', row, by, { overlap_ms: overlapMs })
        return { ...row, sealedSecret: seal(secret, id, 'secret'), sealedFormer, formerUntil }
      })
      return { target, secret }
    },
    /** Switches a webhook off: events wait from then on. @throws ServiceError `not_found` */
    switchOff: (id: string, workspaceId?: string, by = byCommand()) =>
      change(id, workspaceId, async (tx, row) => (row.state === 'on' ? switchedOff(tx, row, 'owner', now(), by) : row)),
    /** Switches a webhook on: it goes on where it stopped, as far as events are still stored. @throws ServiceError `not_found` */
    switchOn: (id: string, workspaceId?: string, by = byCommand()) =>
      change(id, workspaceId, async (tx, row) => {
        if (row.state === 'on') return row
        await tx.webhooks.sendWaiting(id, now())
        record(tx, 'webhook.switched_on', row, by)
        return { ...row, state: 'on', offReason: null, stateAt: now(), quietUntil: null }
      }),
    /** Removes a webhook with its URL and secrets. @throws ServiceError `not_found` */
    async remove(id: string, workspaceId?: string, by = byCommand()): Promise<void> {
      await storage.write(async (tx) => {
        const row = requireIn((await tx.webhooks.lock([id]))[0], workspaceId)
        await tx.webhooks.removeTargets([id], now())
        record(tx, 'webhook.removed', row, by)
      })
    },
    /** Sends a test message now, once, and tells what became of it. @throws ServiceError `not_found` */
    async test(id: string, workspaceId: string, by: Acting): Promise<Try> {
      const row = await require(id, workspaceId)
      const tried = await send(openTarget(row), { id: newId('msg_', now()), event: undefined, more: 0 })
      const { status, fault } = tried
      await storage.write(async (tx) => record(tx, 'webhook.tested', row, by, { status, fault }))
      return tried
    },
    /** Lists deliveries, newest event first. */
    deliveries: (workspaceId: string, filter: DeliveryFilter) => read.webhooks.deliveries(workspaceId, filter),
    delivery: (workspaceId: string, id: string) => read.webhooks.delivery(workspaceId, id),
    /**
     * Has a delivery sent again, with the same id, whatever became of it.
     * @throws ServiceError `not_found`, also where its event is no longer stored; `bad_request` where its webhook is switched off or removed
     */
    async sendAgain(workspaceId: string, id: string): Promise<DeliveryRow> {
      const delivery = await storage.write(async (tx) => {
        const found = await tx.webhooks.delivery(workspaceId, id)
        if (!found) throw new ServiceError('not_found', 'there is no such delivery')
        const [target] = await tx.webhooks.lock([found.targetId])
        if (target?.state !== 'on') {
          const problem = target ? 'its webhook is switched off: switch it on first' : 'its webhook is removed'
          throw new ServiceError('bad_request', `the delivery is not sent: ${problem}`)
        }
        const [event] = await tx.webhooks.events([{ workspaceId, number: found.eventNumber }])
        if (!event) throw new ServiceError('not_found', 'the event of the delivery is no longer stored')
        await tx.webhooks.sendAgain(id, now())
        return (await tx.webhooks.delivery(workspaceId, id))!
      })
      changed()
      return delivery
    },
    /**
     * Registers a listener.
     * @param listener called after a change on this host by which something may have to be sent
     */
    onChanged(listener: () => void): void {
      changed = listener
    },
  }
}

/** Makes the row of a target that is switched off, and records it. */
export function switchedOff(
  tx: Pick<Writes, 'audit'>,
  row: WebhookTargetRow,
  offReason: OffReason,
  at: Instant,
  by: Acting = BY_SERVICE,
): WebhookTargetRow {
  const { id, workspaceId, origin } = row
  const details = { origin, reason: offReason }
  tx.audit.record({ event: 'webhook.switched_off', at, by, workspaceId, subject: id, details })
  return { ...row, state: 'off', offReason, stateAt: at }
}

/** Refuses to change what reports on commits. @throws ServiceError `bad_request` */
function refuseReport({ report }: WebhookTargetRow): void {
  if (report) throw new ServiceError('bad_request', 'reports are not changed: remove them, and set them up anew')
}

/** @throws ServiceError `not_found`, also for a webhook of another workspace */
function requireIn(row: WebhookTargetRow | undefined, workspaceId: string | undefined): WebhookTargetRow {
  if (row && (workspaceId === undefined || row.workspaceId === workspaceId)) return row
  throw new ServiceError('not_found', 'there is no such webhook')
}

function toTarget({ sealedUrl: _, sealedSecret: _secret, sealedFormer: _former, ...rest }: WebhookTargetRow) {
  return rest
}

/** Writes the lists that restrict something, for the audit trail. */
function shownFilters(filters: WebhookFilters): AuditDetails {
  const restricting = Object.entries(filters).filter(([, list]) => list.length > 0)
  return Object.fromEntries(restricting.map(([name, list]) => [name, list.join(' ')]))
}
