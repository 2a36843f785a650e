/** Completes actions, targets and ids in the arguments of the prompt and of resources. */
import { visible } from '@claimcheck/core/words/plain-text'
import type { McpServer } from '@modelcontextprotocol/server'
import type { Backend } from './backend.ts'
import { BackendError } from './backend.ts'
import type { ToolScope } from './scopes.ts'

/** The protocol's limit of the values in one answer. */
const MOST_VALUES = 100
/** The number of claims, the newest ones, whose targets and ids the completion offers. */
const NEWEST = 100

interface Source {
  readonly scope: ToolScope
  readonly values: (backend: Backend, given: Readonly<Record<string, string>>) => Promise<readonly (string | null)[]>
}

const SOURCES: Readonly<Record<string, Source>> = {
  action: {
    scope: 'connections:read',
    values: async (backend) => {
      const { connections, public_actions } = await backend.connections()
      return [...public_actions, ...connections.flatMap(({ actions }) => actions)].sort()
    },
  },
  target: {
    scope: 'claims:read',
    values: async (backend, { action }) => (await newest(backend, action)).map(({ target }) => target),
  },
  claim_id: {
    scope: 'claims:read',
    values: async (backend) => (await newest(backend)).map(({ claim_id }) => claim_id),
  },
  receipt_id: {
    scope: 'claims:read',
    values: async (backend) => (await newest(backend)).map(({ receipt_id }) => receipt_id),
  },
}

async function newest(backend: Backend, action?: string) {
  const { claims } = await backend.claims({ limit: NEWEST, ...(action ? { action } : {}) })
  return claims
}

export function addCompletion({ server }: McpServer, backend: Backend): void {
  server.registerCapabilities({ completions: {} })
  server.setRequestHandler('completion/complete', async ({ params: { argument, context } }, { http }) => {
    const source = Object.hasOwn(SOURCES, argument.name) ? SOURCES[argument.name] : undefined
    const scopes = http?.authInfo?.scopes
    // A completion is no reason to ask a person for consent.
    if (!source || (scopes && !scopes.includes(source.scope))) return completionOf([])
    return completionOf(await matching(source, backend, argument.value, context?.arguments ?? {}))
  })
}

async function matching(
  { values }: Source,
  backend: Backend,
  begun: string,
  given: Readonly<Record<string, string>>,
): Promise<string[]> {
  try {
    const found = await values(backend, given)
    // Texts that show something else than they say are not offered.
    return [...new Set(found)].filter((value) => value?.startsWith(begun) && visible(value) === value) as string[]
  } catch (error) {
    if (error instanceof BackendError) return []
    throw error
  }
}

function completionOf(values: readonly string[]) {
  return {
    completion: {
      values: values.slice(0, MOST_VALUES),
      total: values.length,
      hasMore: values.length > MOST_VALUES,
    },
  }
}
