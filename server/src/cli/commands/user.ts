/** `claimcheck user`: lists accounts, and makes links to a new password. */
import type { Command } from 'commander'
import { publicAddress } from '../../config/address.ts'
import { paths } from '../../console/paths.ts'
import { type OutputOptions, print, subcommand, table, withClaimcheck } from '../run.ts'

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('accounts at the console')

  subcommand(user, 'list', 'list accounts').action(async (options: OutputOptions) => {
    const users = await withClaimcheck(({ accounts }) => accounts.list())
    const listed = users.map(({ id, email, name, hasPassword, createdAt }) => ({
      id,
      email,
      name,
      has_password: hasPassword,
      created_at: new Date(createdAt).toISOString(),
    }))
    const rows = listed.map((item) => [item.id, item.email, item.name, item.created_at])
    print(options, listed, table(['ID', 'E-MAIL', 'NAME', 'SINCE'], rows))
  })

  subcommand(user, 'reset', 'print a link for choosing a new password')
    .argument('<email>')
    .action(async (email: string, options: OutputOptions) => {
      const url = await withClaimcheck(
        async ({ accounts, config }) => publicAddress(config) + paths.reset(await accounts.resetToken(email)),
      )
      print(options, { email, url }, [
        url,
        '',
        'Send this link to the person. It works once, for one hour. Choosing the new password ends all sessions of the account.',
      ])
    })
}
