/** `claimcheck log` */
import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { type OutputOptions, print, subcommand, withClaimcheck } from '../run.ts'

interface NewLogOptions extends OutputOptions {
  readonly yes?: boolean
}

const MEANING = `Another log begins with the entries that the database holds, in their order. It has a name, an id and a signing key of its own,
and the log there is now ends for ever. This is for a database whose newest entries are lost: if they are not, bring them back.
  - Receipts that the database does not hold, such as those issued after its backup was made, are in no log any more.
  - The others stay valid. Their proofs name the old log until they are fetched again.
  - Every host and this command need to be on the same database; hosts that run go on with the new log.`

export function addLogCommands(program: Command): void {
  const log = program.command('log').description('the log that receipts are entered in')

  subcommand(log, 'new', 'begin another log with the entries of this one, which ends')
    .option('--yes', 'do not ask')
    .action(async (options: NewLogOptions) => {
      if (!options.yes) await confirm()
      const { log, ended } = await withClaimcheck(({ signingKeys }) => signingKeys.beginLog())
      const value = { log_id: log.logId, tree_size: log.treeSize, key_id: log.keyId, ended_log_id: ended.logId }
      print(options, value, [
        `The log ${log.logId} has begun, with ${log.treeSize} entries.`,
        `It is signed with ${log.keyId}. The log ${ended.logId} has ended.`,
      ])
    })
}

/** @throws UsageError when the answer is not yes, or nobody is there to give one */
async function confirm(): Promise<void> {
  process.stderr.write(`${MEANING}\n`)
  if (!process.stdin.isTTY) throw new UsageError('Nothing was done: say --yes if that is what you want')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const answer = await terminal.question('Begin another log? (yes/no) ')
    if (answer.trim().toLowerCase() !== 'yes') throw new UsageError('Nothing was done')
  } finally {
    terminal.close()
  }
}
