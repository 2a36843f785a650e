/** The agents of a workspace, and how their claims held. Everything is computed from the claims; nothing else is stored. */
import type { Instant, VerdictValue } from '@claimcheck/core/rules'
import type { Storage } from '../../storage/storage.ts'
import { MOST_EXAMINED, parseCursor, writeCursor } from './claim-choice.ts'
import type { ClaimStatistics, Counted, CountedActions, Counts } from './claim-statistics.ts'
import type { ClaimService, ListedClaim } from './claims.ts'
import { added } from './verdict-rate.ts'

export interface AgentSummary {
  readonly agentId: string
  readonly lastClaimAt: Instant
  /** Counts of the agent's claims in the last month, by verdict. */
  readonly counts: Counts
  /** The number of counted claims that ended because the connection under which they were submitted was removed. */
  readonly removed: number
  /** True when only the newest claims of the agent were counted. */
  readonly cutShort: boolean
}

export interface AgentPage {
  readonly agents: readonly AgentSummary[]
  readonly nextCursor: string | null
}

export interface AgentRecord {
  readonly lastClaimAt: Instant
  /** Counts of the last month, by day. */
  readonly counted: Counted
  readonly counts: Counts
  readonly byAction: CountedActions
  /** The newest failed, mismatched and late claims, newest first. */
  readonly failures: readonly ListedClaim[]
}

interface AgentServiceOptions {
  readonly storage: Pick<Storage, 'read'>
  readonly claims: Pick<ClaimService, 'list'>
  readonly claimStatistics: Pick<ClaimStatistics, 'count' | 'countActions'>
}

export const AGENTS_A_PAGE = 50
/** The most claims that are counted of each agent of a page: all of them together may cost as much as one list. */
export const MOST_COUNTED_EACH = 1000
export const MOST_FAILURES = 10
const BLAMED: readonly VerdictValue[] = ['late', 'mismatch', 'failed']

export type AgentService = ReturnType<typeof createAgentService>

export function createAgentService({ storage, claims, claimStatistics }: AgentServiceOptions) {
  return {
    /**
     * Lists agents by their last claim, the latest first.
     * @throws ServiceError `bad_request` for a cursor that is not one of ours
     */
    async list(workspaceId: string, cursor?: string): Promise<AgentPage> {
      const scope = { workspaceId, ...(cursor === undefined ? {} : { before: parseCursor(cursor) }) }
      const end = await storage.read.claims.position(scope, MOST_EXAMINED)
      const bounds = { ...scope, ...(end ? { from: end } : {}) }
      const found = await storage.read.claims.agents({ ...bounds, limit: AGENTS_A_PAGE + 1 })
      const page = found.slice(0, AGENTS_A_PAGE)
      const last = found.length > AGENTS_A_PAGE ? page.at(-1) : end
      const agents = page.map(async ({ agentId, submittedAt }): Promise<AgentSummary> => {
        const { stretches, removed, cutShort } = await claimStatistics.count(
          workspaceId,
          'month',
          { agentId },
          MOST_COUNTED_EACH,
        )
        const counts = added(stretches.map((stretch) => stretch.counts))
        return { agentId, lastClaimAt: submittedAt, counts, removed, cutShort }
      })
      return { agents: await Promise.all(agents), nextCursor: last ? writeCursor(last) : null }
    },
    /** Reads the record of an agent; undefined for one that never claimed anything. */
    async get(workspaceId: string, agentId: string): Promise<AgentRecord | undefined> {
      // Erased claims have an empty agent id.
      if (agentId === '') return undefined
      const blamed = (verdict: VerdictValue) =>
        claims.list(workspaceId, { agentId, verdict, limit: MOST_FAILURES, mostExamined: MOST_EXAMINED })
      const [newest, counted, byAction, ...pages] = await Promise.all([
        claims.list(workspaceId, { agentId, limit: 1 }),
        claimStatistics.count(workspaceId, 'month', { agentId }),
        claimStatistics.countActions(workspaceId, agentId),
        ...BLAMED.map(blamed),
      ])
      const [last] = newest.claims
      if (!last) return undefined
      const failures = pages
        .flatMap((page) => page.claims)
        .toSorted((one, other) => other.submittedAt - one.submittedAt)
        .slice(0, MOST_FAILURES)
      const counts = added(counted.stretches.map((stretch) => stretch.counts))
      return { lastClaimAt: last.submittedAt, counted, counts, byAction, failures }
    },
  }
}
