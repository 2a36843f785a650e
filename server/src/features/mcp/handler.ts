/** The SDK's part of /mcp. It is imported at the first request: without MCP the start does not wait for it. */

import type { Backend } from '@claimcheck/cli/mcp/backend'
import { createMcpServer } from '@claimcheck/cli/mcp/server'
import { hostHeaderValidation, originValidation } from '@modelcontextprotocol/fastify'
import { createMcpHandler, type McpHttpHandler } from '@modelcontextprotocol/server'

export { hostHeaderValidation, originValidation }

/** The part of `authInfo` that the SDK passes from the route to the tools. */
export interface Session {
  readonly backend: Backend
  readonly signal: AbortSignal
}

/** Makes the handler, which keeps nothing between requests: any host answers any of them. */
export function createHandler(onError: (error: unknown) => void): McpHttpHandler {
  return createMcpHandler(
    ({ authInfo }) => createMcpServer({ ...(authInfo?.extra?.session as Session), onError }),
    // Refused requests are no errors of the service.
    { keepAliveMs: 15_000 },
  )
}
