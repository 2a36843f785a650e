/** Restrictions that an owner may set for an API key: a time, networks, agents. */

import { formatInstant, type Instant } from '@claimcheck/core/rules'
import { visibleName } from '@claimcheck/core/words/plain-text'
import { ServiceError } from '../../base/errors.ts'
import { isInNetworks, readNetwork } from '../../base/networks.ts'
import type { KeyRefusal } from '../../http/credential.ts'
import { idProblem } from '../../names/names.ts'
import type { AuditDetails } from '../../storage/audit-chain.ts'
import type { ApiKeyRow } from '../../storage/workspaces.ts'

export type KeySettings = Pick<ApiKeyRow, 'expiresAt' | 'networks' | 'agentIds'>

export const UNLIMITED: KeySettings = { expiresAt: null, networks: [], agentIds: null }

/** The longest agent id that the API allows. */
const MAX_AGENT_LENGTH = 256
/** The most characters of an id that an error shows. */
const LONGEST_SHOWN = 100
const MAX_NETWORKS = 50
const MAX_AGENTS = 50
/** The latest date that a key may expire at. */
const LAST_DATE = Date.UTC(9999, 11, 31)

/**
 * Reads settings into their one form.
 * @param from the present settings of the key: what does not change is not checked again
 * @throws ServiceError `bad_request`
 */
export function readSettings(given: Partial<KeySettings>, from: KeySettings, now: Instant): KeySettings {
  const { expiresAt, networks, agentIds } = { ...from, ...given }
  if (expiresAt !== null && expiresAt !== from.expiresAt && !(expiresAt > now && expiresAt <= LAST_DATE)) {
    throw new ServiceError('bad_request', 'the time at which the key expires must be in the future')
  }
  return { expiresAt, networks: readNetworks(networks), agentIds: agentIds && readAgents(agentIds) }
}

function readNetworks(texts: readonly string[]): string[] {
  const networks = [...new Set(texts.map(readNetwork))]
  if (networks.length > MAX_NETWORKS) {
    throw new ServiceError('bad_request', `a key takes at most ${MAX_NETWORKS} networks`)
  }
  return networks
}

function readAgents(texts: readonly string[]): string[] {
  const agents = [...new Set(texts)]
  if (agents.length === 0 || agents.length > MAX_AGENTS) {
    throw new ServiceError('bad_request', `a key is bound to 1 to ${MAX_AGENTS} agents, or to none`)
  }
  for (const id of agents) {
    const hasLength = id !== '' && [...id].length <= MAX_AGENT_LENGTH
    const problem = hasLength ? idProblem(id) : `use 1 to ${MAX_AGENT_LENGTH} characters`
    if (problem !== undefined) {
      const shown = visibleName(JSON.stringify(id).slice(0, LONGEST_SHOWN))
      throw new ServiceError('bad_request', `the agent id ${shown} is not valid: ${problem}`)
    }
  }
  return agents
}

export function keyRefusal(settings: KeySettings, address: string, now: Instant): KeyRefusal | undefined {
  const { expiresAt, networks } = settings
  if (hasExpired(settings, now)) return { kind: 'expired', at: expiresAt! }
  return networks.length === 0 || isInNetworks(address, networks) ? undefined : { kind: 'elsewhere' }
}

export function hasExpired({ expiresAt }: Pick<KeySettings, 'expiresAt'>, now: Instant): boolean {
  return expiresAt !== null && expiresAt <= now
}

export function settingDetails({ expiresAt, networks, agentIds }: KeySettings): AuditDetails {
  return {
    ...(expiresAt === null ? {} : { expires_at: formatInstant(expiresAt) }),
    ...(networks.length === 0 ? {} : { networks: networks.join(', ') }),
    ...(agentIds === null ? {} : { agents: agentIds.join(', ') }),
  }
}
