/** Events as people and programs see them: their content is read when they are shown. */
import type * as wire from '@claimcheck/core/api'
import { formatInstant } from '@claimcheck/core/rules'
import { toAnchor as toFinalAnchor } from '../../storage/anchor-row.ts'
import type { EventRow, EventType } from '../../storage/events.ts'
import type { Storage } from '../../storage/storage.ts'
import type { ClaimService, ClaimStatus } from '../claims/claims.ts'
import { toClaimStatus } from '../claims/wire.ts'
import { toAnchor } from '../log/wire.ts'
import type { ConnectionService } from '../workspaces/connections.ts'

interface EventsParts {
  readonly storage: Pick<Storage, 'read'>
  readonly claims: Pick<ClaimService, 'statuses'>
  readonly connections: Pick<ConnectionService, 'describe'>
}

/** Reads the data of one event; undefined where nothing is left of its subject. */
type Content = (row: EventRow) => wire.Event['data'] | undefined

export type Events = ReturnType<typeof createEvents>

export function createEvents({ storage: { read }, claims, connections }: EventsParts) {
  async function claimContent(ids: readonly string[]): Promise<Content> {
    const statuses = await claims.statuses(ids)
    return ({ subject }) => {
      const claim = statuses.get(subject)
      return claim && toClaimStatus(claim)
    }
  }

  async function connectionContent(ids: readonly string[]): Promise<Content> {
    const described = await connections.describe(ids)
    return ({ subject, detail }) => {
      const connection = described.get(subject)
      if (!connection) return undefined
      const { id, name, provider, expiresAt } = connection
      const expires_at = expiresAt === null ? null : formatInstant(expiresAt)
      return { connection_id: id, name, provider, failure: detail, expires_at }
    }
  }

  /** Reads what an event tells of an agent, which is named by one of its claims; undefined once that was erased. */
  async function agentContent(
    ids: readonly string[],
    details: (claim: ClaimStatus, detail: string) => object,
  ): Promise<Content> {
    const statuses = await claims.statuses(ids)
    return ({ subject, detail }) => {
      const claim = statuses.get(subject)
      if (!claim || claim.erasure) return undefined
      const about = { agent_id: claim.agentId, claim_id: claim.claimId }
      return { ...about, ...details(claim, detail!) } as wire.Event['data']
    }
  }

  async function anchorContent(ids: readonly string[]): Promise<Content> {
    const found = new Map((await read.anchors.finalByIds(ids.map(Number))).map((anchor) => [String(anchor.id), anchor]))
    return ({ subject }) => {
      const anchor = found.get(subject)
      return anchor && { anchor: toAnchor(toFinalAnchor(anchor)) }
    }
  }

  const contents: Readonly<Record<EventType, (ids: readonly string[]) => Promise<Content>>> = {
    'claim.decided': claimContent,
    'connection.failing': connectionContent,
    'connection.recovered': connectionContent,
    'connection.expiring': connectionContent,
    'anchor.landed': anchorContent,
    'agent.silent': (ids) =>
      agentContent(ids, ({ submittedAt }, detail) => {
        return { last_claim_at: formatInstant(submittedAt), hours: Number(detail) }
      }),
    'rate.jumped': (ids) => agentContent(ids, (_, detail) => ratesOf(detail)),
  }

  return {
    /** Reads events of one workspace as the API shows them, in the same order. An event of which nothing is left is undefined. */
    async documents(rows: readonly EventRow[]): Promise<(wire.Event | undefined)[]> {
      const types = [...new Set(rows.map(({ type }) => type))]
      const readers = new Map(
        await Promise.all(
          types.map(async (type) => {
            const ids = rows.filter((row) => row.type === type).map(({ subject }) => subject)
            return [type, await contents[type]([...new Set(ids)])] as const
          }),
        ),
      )
      return rows.map((row) => {
        const data = readers.get(row.type)!(row)
        const event = { id: String(row.number), type: row.type, timestamp: formatInstant(row.at), data }
        return data && (event as wire.Event)
      })
    },
  }
}

/** Reads the counts that `rate.jumped` has as its detail. */
function ratesOf(detail: string): Pick<wire.RateJumpData, 'last_day' | 'weeks_before'> {
  const [blamed, judged, blamedBefore, judgedBefore] = detail.split(' ').map(Number)
  return {
    last_day: { not_verified: blamed!, judged: judged! },
    weeks_before: { not_verified: blamedBefore!, judged: judgedBefore! },
  }
}
