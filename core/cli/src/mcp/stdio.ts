/** The MCP server on standard input and output, for the client that started the process. */

import { writeError } from '@claimcheck/command-line/terminal'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Backend } from './backend.ts'
import { createMcpServer } from './server.ts'

/** Serves until the client closes its end. */
export function serveOverStdio(backend: Backend): void {
  // Errors go to standard error, because standard output is the protocol's.
  const onError = (error: unknown) => writeError(`${(error as Error)?.message ?? error}\n`)
  serveStdio(() => createMcpServer({ backend, onError }), { onerror: onError })
}
