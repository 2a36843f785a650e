/** `claimcheck mcp`: the tools for agents, over standard input and output, at a service that it asks with a key. */
import type { Command } from 'commander'
import { type AccessOptions, keyedAccess, withAccessOptions } from '../service/access.ts'
import { treeHeadMemory } from '../service/tree-heads.ts'

export function addMcpCommand(program: Command): void {
  const command = program
    .command('mcp')
    .description('run an MCP server on standard input and output, for a client on this computer')
    .exitOverride()
    .showHelpAfterError('(add --help to list the options)')
  withAccessOptions(command).action(async (options: AccessOptions) => {
    const access = keyedAccess(options, process.env)
    // The MCP server is imported here, because its SDK is large, and no other command needs it.
    const treeHead = treeHeadMemory(process.env, access.url)
    const [{ clientBackend }, { serveOverStdio }] = await Promise.all([
      import('../mcp/client-backend.ts'),
      import('../mcp/stdio.ts'),
    ])
    serveOverStdio(clientBackend({ ...access, treeHead, agentId: process.env.CLAIMCHECK_AGENT || undefined }))
  })
}
