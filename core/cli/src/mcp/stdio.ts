/** The MCP server on standard input and output, for the client that started the process. */
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import type { Desk } from './desk.ts'
import { createMcpServer } from './server.ts'

/** Ends when the client closes its end. */
export function serveOverStdio(desk: Desk): void {
  // Standard output is the protocol's.
  const onError = (error: unknown) => process.stderr.write(`${(error as Error)?.message ?? error}\n`)
  serveStdio(() => createMcpServer({ desk, onError }), { onerror: onError })
}
