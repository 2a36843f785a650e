/** `claimcheck log`: begins a new log after entries were lost. */

import { type OutputOptions, print, subcommand } from '@claimcheck/cli/run'
import type { Command } from 'commander'
import type { WithServices } from '../../../host/feature.ts'
import { confirm } from '../../../host/terminal/confirm.ts'
import type { ClockWatch } from '../../../hosts/clock-watch.ts'
import type { SigningKeys } from '../../../log/signing/signing-keys.ts'

interface Services {
  readonly clockWatch: ClockWatch
  readonly signingKeys: SigningKeys
}

interface NewLogOptions extends OutputOptions {
  readonly yes?: boolean
}

const MEANING = `This ends the present log for ever, and begins a new one with a new name, id and signing key. The new log
holds the entries of this database, in their order. Do this only if the newest entries are lost: if a newer database exists, use that.
  - Receipts that this database does not hold (issued after its backup was made) are in no log afterwards.
  - All other receipts stay valid. Their proofs name the old log until they are fetched again.
  - All hosts and this command must use the same database. Running hosts go on with the new log.`

export function addLogCommands(program: Command, withServices: WithServices<Services>): void {
  const log = program.command('log').description('the log of all receipts')

  subcommand(log, 'new', 'end this log, and begin a new one with its entries')
    .option('--yes', 'do not ask for confirmation')
    .action(async (options: NewLogOptions) => {
      if (!options.yes) await confirm(MEANING, 'Begin a new log?')
      const { log, ended } = await withServices(async ({ clockWatch, signingKeys }) => {
        await clockWatch.requireTime()
        return signingKeys.beginLog()
      })
      const value = { log_id: log.logId, tree_size: log.treeSize, key_id: log.keyId, ended_log_id: ended.logId }
      print(options, value, [
        `A new log has begun: ${log.logId}, with ${log.treeSize} entries.`,
        `Its key is ${log.keyId}. The log ${ended.logId} has ended.`,
      ])
    })
}
