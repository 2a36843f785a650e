/** `claimcheck user`: lists accounts, makes links to a new password, and closes accounts. */

import { CommandError } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { type Command, Option } from 'commander'
import { allowanceOf } from '../../../base/payers.ts'
import { publicAddress } from '../../../config/address.ts'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import { type ConfirmOptions, confirm, YES } from '../../../host/terminal/confirm.ts'
import { paths } from '../../../web/console-paths.ts'
import type { AccountDeletion } from '../account-deletion.ts'
import type { AccountService } from '../accounts.ts'
import type { Allowances } from '../allowances.ts'
import type { SecondStepService } from '../second-steps.ts'

interface Services extends Pick<HostServices, 'config'> {
  readonly accounts: AccountService
  readonly allowances: Allowances
  readonly secondSteps: SecondStepService
  readonly accountDeletion: AccountDeletion
}

const CLOSING = `This cannot be undone. The name, the e-mail address, the password, the passkeys and the sessions of the account are
deleted, and it is a member of no workspace any more. What it did stays, by a "closed account". API keys that it made go on
working: their workspaces own them.`

export function addUserCommands(program: Command, withServices: WithServices<Services>): void {
  const user = program.command('user').description('accounts at the console')

  subcommand(user, 'list', 'list accounts').action(async (options: OutputOptions) => {
    const users = await withServices(({ accounts }) => accounts.list())
    const emails = new Map(users.map(({ id, email }) => [id, email]))
    const listed = users.map(({ id, email, name, hasPassword, payer, createdAt }) => ({
      id,
      email,
      name,
      has_password: hasPassword,
      // A closed account that shares its allowance has an id only.
      shares_with: payer === id ? null : (emails.get(allowanceOf(payer)) ?? allowanceOf(payer)),
      created_at: new Date(createdAt).toISOString(),
    }))
    const rows = listed.map((item) => [item.id, item.email, item.name, item.shares_with ?? '-', item.created_at])
    print(options, listed, table(['ID', 'E-MAIL', 'NAME', 'SHARES WITH', 'SINCE'], rows))
  })

  subcommand(
    user,
    'allowance',
    'give an invited account, and those it invited, an allowance of claims and workspaces, or let it share one',
  )
    .argument('<email>')
    .addOption(new Option('--separate', 'give it an allowance').conflicts('sharedWith'))
    .option('--shared-with <email>', 'let it, and those that share with it, share the allowance of this account')
    .action(async (email: string, options: OutputOptions & { separate?: boolean; sharedWith?: string }) => {
      const { separate, sharedWith } = options
      if (sharedWith !== undefined) {
        await withServices(({ allowances }) => allowances.share(email, sharedWith))
        print(options, { email, shares_with: sharedWith }, [`${email} shares the allowance of ${sharedWith}.`])
      } else if (separate) {
        await withServices(({ allowances }) => allowances.separate(email))
        print(options, { email, shares_with: null }, [
          `${email} has an allowance that it shares only with those it invites.`,
        ])
      } else {
        throw new CommandError('usage', 'Say which: --separate, or --shared-with another account.')
      }
    })

  subcommand(user, 'reset', 'print a link for choosing a new password')
    .argument('<email>')
    .option(
      '--without-second-step',
      'switch the second step of the account off, for who has lost phone and recovery codes',
    )
    .action(async (email: string, options: OutputOptions & { withoutSecondStep?: boolean }) => {
      const { url, isOff } = await withServices(async ({ accounts, secondSteps, config }) => {
        const url = publicAddress(config) + paths.reset(await accounts.resetToken(email))
        return { url, isOff: options.withoutSecondStep === true && (await secondSteps.remove(email)) }
      })
      print(options, { email, url, second_step_removed: isOff }, [
        url,
        '',
        ...(options.withoutSecondStep ? [isOff ? 'The second step is off.' : 'The account has no second step.'] : []),
        'Send this link to the person. It works once, for one hour. Choosing the new password ends all sessions and connected',
        'applications of the account, and asks which of its passkeys stay.',
      ])
    })

  subcommand(user, 'close', 'close an account: its name, address and ways in are deleted')
    .argument('<email>')
    .option('--with-workspaces', 'also delete the workspaces without another member')
    .option(...YES)
    .action(async (email: string, options: ConfirmOptions & { withWorkspaces?: boolean }) => {
      await confirm(options, CLOSING, `Close the account ${email}?`)
      const { withWorkspaces = false } = options
      const deleted = await withServices(({ accountDeletion }) =>
        accountDeletion.closeByEmail(email, { withWorkspaces }),
      )
      print(options, { email, deleted_workspaces: deleted }, [
        `The account ${email} is closed.`,
        ...deleted.map((name) => `The workspace ${name} is deleted.`),
      ])
    })
}
