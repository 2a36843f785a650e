/** The silence of agents of which a workspace wants to be told: its owners say after how many hours, and of which agents. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { idProblem } from '../../names/names.ts'
import type { Storage } from '../../storage/storage.ts'

export const HOUR_MS = 60 * 60_000
export const MOST_HOURS = 30 * 24
const MOST_AGENTS = 50
const LONGEST_AGENT = 256

export interface Silence {
  readonly hours: number
  /** The agents that are watched; empty for all. */
  readonly agents: readonly string[]
}

interface SilenceParts {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly now: () => Instant
}

export type SilenceService = ReturnType<typeof createSilenceService>

export function createSilenceService({ storage, now }: SilenceParts) {
  return {
    /** Returns the silence of which a workspace is told; undefined where it is told of none. */
    of: async (workspaceId: string): Promise<Silence | undefined> => storage.read.agentWatch.silence(workspaceId),
    /**
     * Sets the silence of which a workspace is told from now on; with the hours that it has, from where its claims were looked at.
     * @param silence null to be told of none
     * @throws ServiceError `bad_request`
     */
    async set(workspaceId: string, silence: Silence | null, by: Acting): Promise<void> {
      if (silence) check(silence)
      const at = now()
      await storage.write(async (tx) => {
        if (silence) {
          const { hours, agents } = silence
          const before = await tx.agentWatch.silence(workspaceId)
          const reached = before?.hours === hours ? before.reached : at - hours * HOUR_MS
          await tx.agentWatch.watchSilence({ workspaceId, hours, agents, reached })
        } else await tx.agentWatch.endSilence(workspaceId)
        const details = { hours: silence?.hours ?? null, agents: silence?.agents.join(' ') ?? '' }
        tx.audit.record({ event: 'workspace.silence_changed', at, by, workspaceId, details })
      })
    },
  }
}

/** @throws ServiceError `bad_request` */
function check({ hours, agents }: Silence): void {
  if (!Number.isSafeInteger(hours) || hours < 1 || hours > MOST_HOURS)
    throw new ServiceError('bad_request', `write a whole number of hours, from 1 to ${MOST_HOURS}`)
  if (agents.length > MOST_AGENTS) throw new ServiceError('bad_request', `name at most ${MOST_AGENTS} agents`)
  const wrong = agents.find((agent) => agent.length > LONGEST_AGENT || idProblem(agent) !== undefined)
  if (wrong !== undefined)
    throw new ServiceError('bad_request', `${JSON.stringify(wrong.slice(0, 100))} is no id of an agent`)
}
