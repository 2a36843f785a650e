/** Converts webhooks and their deliveries to the form of the API. */
import type * as wire from '@claimcheck/core/api'
import { formatInstant } from '@claimcheck/core/rules'
import { ServiceError } from '../../base/errors.ts'
import { defined } from '../../base/pick.ts'
import type { DeliveryFilter, DeliveryRow } from '../../storage/webhooks.ts'
import type { WebhookTarget } from './webhooks.ts'

export function toWebhookList(targets: readonly WebhookTarget[]): wire.WebhookList {
  return {
    webhooks: targets.map(({ id, format, origin, filters, state, offReason, createdAt }) => ({
      id,
      format,
      origin,
      filters: {
        types: [...filters.types],
        verdicts: [...filters.verdicts],
        actions: [...filters.actions],
        agents: [...filters.agents],
        connections: [...filters.connections],
      },
      state: state === 'on' ? 'on' : 'off',
      off_reason: offReason,
      created_at: formatInstant(createdAt),
    })),
  }
}

export function toWebhookDelivery(row: DeliveryRow): wire.WebhookDelivery {
  const { id, targetId, eventNumber, type, subject, state, attempts, dueAt, triedAt, status, durationMs } = row
  return {
    id,
    webhook: targetId,
    event: String(eventNumber),
    type,
    subject,
    state,
    attempts,
    next_try_at: state === 'waiting' ? formatInstant(dueAt) : null,
    last_try: triedAt === null ? null : { at: formatInstant(triedAt), status, duration_ms: durationMs ?? 0 },
    fault: row.fault,
    created_at: formatInstant(row.createdAt),
  }
}

/** Reads the filter of a list, for one row more than its page has. @throws ServiceError `bad_request` for a wrong cursor */
export function fromDeliveryQuery({ limit, cursor, webhook, state }: wire.WebhookDeliveryQuery): DeliveryFilter {
  const after = cursor === undefined ? undefined : parseCursor(cursor)
  return { limit: limit + 1, ...defined({ after, targetId: webhook, state }) }
}

/** Makes a page of the rows that `fromDeliveryQuery` asked for. */
export function toDeliveryList(rows: readonly DeliveryRow[], { limit }: DeliveryFilter): wire.WebhookDeliveryList {
  const shown = rows.slice(0, limit - 1)
  const last = rows.length === limit ? shown.at(-1) : undefined
  return { deliveries: shown.map(toWebhookDelivery), next_cursor: last ? writeCursor(last) : null }
}

type Position = NonNullable<DeliveryFilter['after']>

/** Writes the position at which a page ended as one text, which clients must not interpret. */
function writeCursor({ eventNumber, targetId }: Position): string {
  return Buffer.from(JSON.stringify([eventNumber, targetId])).toString('base64url')
}

function parseCursor(cursor: string): Position {
  try {
    const [eventNumber, targetId] = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    if (Number.isSafeInteger(eventNumber) && /^wht_[0-9A-Z]{26}$/.test(targetId)) return { eventNumber, targetId }
  } catch {
    // A damaged cursor gets the error below.
  }
  throw new ServiceError('bad_request', 'cursor is not valid: use next_cursor of an earlier answer')
}
