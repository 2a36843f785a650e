/** Completes actions, targets and ids in the arguments of the prompt and of resources. */
import { visible } from '@claimcheck/core/words/plain-text'
import type { McpServer } from '@modelcontextprotocol/server'
import { type Backend, BackendError } from './backend.ts'
import type { ToolScope } from './scopes.ts'

/** The protocol's limit of the values in one answer. */
const MOST_VALUES = 100
/** The number of claims, the newest ones, whose targets and ids the completion offers. */
const NEWEST = 100

interface Source {
  readonly scope: ToolScope
  values(backend: Backend, given: Readonly<Record<string, string>>): Promise<readonly (string | null)[]>
}

const ACTIONS: Source = {
  scope: 'connections:read',
  async values(backend) {
    const { connections, public_actions } = await backend.connections()
    return [...public_actions, ...connections.flatMap(({ actions }) => actions)].sort()
  },
}

const ofNewestClaims = (member: 'target' | 'claim_id' | 'receipt_id'): Source => ({
  scope: 'claims:read',
  async values(backend, { action }) {
    const { claims } = await backend.claims({ limit: NEWEST, ...(action && { action }) })
    return claims.map((claim) => claim[member])
  },
})

const SOURCES: ReadonlyMap<string, Source> = new Map([
  ['action', ACTIONS],
  ['target', ofNewestClaims('target')],
  ['claim_id', ofNewestClaims('claim_id')],
  ['receipt_id', ofNewestClaims('receipt_id')],
])

export function addCompletion({ server }: McpServer, backend: Backend): void {
  server.registerCapabilities({ completions: {} })
  server.setRequestHandler('completion/complete', async ({ params: { argument, context } }, { http }) => {
    const source = SOURCES.get(argument.name)
    const scopes = http?.authInfo?.scopes
    // A completion is no reason to ask a person for consent.
    const mayRead = source && (!scopes || scopes.includes(source.scope))
    const found = mayRead ? await source.values(backend, context?.arguments ?? {}).catch(noneIfRefused) : []
    // Texts that show something else than they say are not offered.
    const values = [...new Set(found)].filter(
      (value) => value?.startsWith(argument.value) && visible(value) === value,
    ) as string[]
    const total = values.length
    return { completion: { values: values.slice(0, MOST_VALUES), total, hasMore: total > MOST_VALUES } }
  })
}

function noneIfRefused(error: unknown): [] {
  if (error instanceof BackendError) return []
  throw error
}
