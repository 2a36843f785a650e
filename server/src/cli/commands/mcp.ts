/** `claimcheck mcp`: the tools for agents, over standard input and output, at a service that it asks with a key. */
import type { Command } from 'commander'
import { CommandError } from '../errors.ts'

export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description('serve the Model Context Protocol on standard input and output, for a client on this computer')
    .exitOverride()
    .showHelpAfterError('(add --help to list the options)')
    .addHelpText('after', '\nCLAIMCHECK_URL says which service is asked, and CLAIMCHECK_API_KEY with which key.')
    .action(async () => {
      const url = required('CLAIMCHECK_URL', 'the address of the service, such as https://claimcheck.example.com')
      const key = required('CLAIMCHECK_API_KEY', 'an API key of your workspace')
      const [{ clientDesk }, { serveOverStdio }] = await Promise.all([
        import('../../mcp/client-desk.ts'),
        import('../../mcp/stdio.ts'),
      ])
      try {
        serveOverStdio(clientDesk({ url, key }))
      } catch (error) {
        if (!(error instanceof TypeError)) throw error
        throw new CommandError('not_configured', `CLAIMCHECK_URL: ${error.message}`)
      }
    })
}

function required(name: string, what: string): string {
  const value = process.env[name]
  if (value) return value
  throw new CommandError('not_configured', `Set ${name}: ${what}.`)
}
