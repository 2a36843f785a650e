/** The backend elsewhere: a service is asked over its REST API, and receipts are checked here. */

import { ApiError, ClaimcheckError, createClient, type TreeHeadMemory } from '@claimcheck/client'
import type { ClaimList } from '@claimcheck/core/api'
import { type ActionRules, actionRules, type Backend, BackendError } from './backend.ts'

interface Service {
  readonly url: string
  readonly key: string
  readonly agentId?: string | undefined
  /** Keeps the newest signed head of the service's log, between commands. */
  readonly treeHead?: TreeHeadMemory
  /** Sends the requests. Defaults to the global `fetch`. */
  readonly fetch?: typeof fetch
}

export function clientBackend({ url, key, agentId, treeHead, fetch: send = globalThis.fetch }: Service): Backend {
  /** The lead of the service's clock over this computer's, by its last answer. */
  let aheadMs: number | undefined
  const fetch: typeof send = async (...request) => {
    const response = await send(...request)
    const date = Date.parse(response.headers.get('date') ?? '')
    if (Number.isFinite(date)) aheadMs = date - Date.now()
    return response
  }
  const client = createClient({ baseUrl: url, key, fetch, treeHead })
  let rules: Promise<readonly ActionRules[]> | undefined

  async function readRules(): Promise<readonly ActionRules[]> {
    const response = await fetch(`${url.replace(/\/+$/, '')}/openapi.json`)
    if (!response.ok) throw new BackendError(response.status, 'the service does not describe its API')
    const document = (await response.json()) as OpenApi
    const schema = document.paths?.['/v1/claims']?.post?.requestBody?.content?.['application/json']?.schema
    const name = schema?.$ref?.split('/').at(-1)
    return actionRules((name === undefined ? schema : document.components?.schemas?.[name]) ?? {})
  }

  return {
    checkedBy: 'client',
    agentId,
    actions: () => {
      // The rules are read again after a failure.
      rules ??= asked(readRules).catch((error: unknown) => {
        rules = undefined
        throw error
      })
      return rules
    },
    profiles: () => asked(() => client.profiles()),
    connections: () => asked(() => client.connections()),
    async now() {
      if (aheadMs === undefined) await asked(readRules)
      return Date.now() + (aheadMs ?? 0)
    },
    submit: (claim) => asked(() => client.submit(claim)),
    claim: (claimId) => asked(() => client.claim(claimId)),
    claims: (query) =>
      asked(async () => {
        const { value } = await client.pages(query).next()
        return value as ClaimList
      }),
    receipt: (receiptId) => asked(() => client.receipt(receiptId)),
    verify: (receiptId) => asked(() => client.verify(receiptId)),
  }
}

async function asked<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BackendError) throw error
    if (error instanceof ApiError) {
      const { status, detail, retryAfterMs } = error
      throw new BackendError(status, detail, retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000))
    }
    if (error instanceof ClaimcheckError || error instanceof TypeError) throw new BackendError(0, error.message)
    throw error
  }
}

interface OpenApi {
  readonly paths?: Readonly<
    Record<
      string,
      {
        readonly post?: {
          readonly requestBody?: {
            readonly content?: Readonly<Record<string, { readonly schema?: { readonly $ref?: string } }>>
          }
        }
      }
    >
  >
  readonly components?: { readonly schemas?: Readonly<Record<string, object>> }
}
