/** `claimcheck log`: begins the next log, and archives those that have ended. */

import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { toBase64url } from '@claimcheck/core/receipts'
import type { Command } from 'commander'
import { byCommand } from '../../../base/actor.ts'
import type { WithServices } from '../../../host/feature.ts'
import { type ConfirmOptions, confirm, YES } from '../../../host/terminal/confirm.ts'
import type { LogState } from '../../../storage/log-state.ts'
import type { LostReceiptRow } from '../../../storage/lost-receipts.ts'
import type { ClockWatch } from '../../clock/clock-watch.ts'
import { type ClosingServices, reopenLog } from '../closing.ts'
import { acknowledgeWitnessed } from '../contradiction.ts'
import type { LogArchives } from '../log-archives.ts'
import type { ResumeServices } from '../resume.ts'
import type { SigningKeys } from '../signing/signing-keys.ts'

/** What begins the next log. */
export interface BeginServices {
  readonly clockWatch: ClockWatch
  readonly signingKeys: SigningKeys
}

interface Services extends ResumeServices, BeginServices, ClosingServices {
  readonly logAgreement: ResumeServices['logAgreement'] & ClosingServices['logAgreement']
  readonly logMemories: ResumeServices['logMemories'] & ClosingServices['logMemories']
  readonly archives: Pick<LogArchives, 'write'>
}

const MEANING = `This ends the present log for ever, and begins an empty one with a new name, id and signing key. If the newest
database is lost, it is how an older one goes on: if a newer database exists, use that.
  - All receipts that this database holds stay valid, and are proven in the log that ended.
  - Receipts that it does not hold (issued after its backup was made) are lost. Those that hosts know are listed.
  - All hosts and this command must use the same database. Running hosts go on with the new log.`

const ACKNOWLEDGE_MEANING = `A client has a head that a key of this log signed, and that this log does not contain. Either the newest entries are
lost (then restore the newest database, or use claimcheck log new), or another copy signed with the same key.
Anyone with that head can prove that the log has two forms. No client stops this log again.`

const GO_ON = 'Go on with this log?'

const REOPEN_MEANING = `The log takes entries here again. A last backup or a copy that is still under way fails when it is complete.`

const FORGET_MEANING = `Hosts go on without what this host knows. If it signed receipts that this database lacks, the log is forked: anyone
with such a receipt can prove that. Where you do not know, use claimcheck log new.`

function lostWords(lost: readonly LostReceiptRow[]): string[] {
  if (lost.length === 0) return ['No receipt is known to be lost.']
  return [
    `${lost.length} receipts are known to be lost. Who asks for one learns that, and to submit its claim again:`,
    ...lost.map(({ receiptId, leafIndex }) => `  ${receiptId} (leaf ${leafIndex})`),
  ]
}

/** Ends this log, and begins an empty one: what it did, for programs and in words. */
export async function beginNext({ clockWatch, signingKeys }: BeginServices) {
  await clockWatch.requireTime()
  const { log, ended, lost } = await signingKeys.beginLog()
  const { logId, keyId } = log
  const value = {
    log_id: logId,
    key_id: keyId,
    ended_log_id: ended.logId,
    ended_tree_size: ended.treeSize,
    lost_receipts: lost.map(({ receiptId, leafIndex, leafHash }) => ({
      receipt_id: receiptId,
      leaf_index: leafIndex,
      leaf_hash: toBase64url(leafHash),
    })),
  }
  const words = [
    `A new log has begun: ${logId}.`,
    `Its key is ${keyId}. The log ${ended.logId} has ended, with ${ended.treeSize} entries.`,
    ...lostWords(lost),
  ]
  return { value, words }
}

export function addLogCommands(program: Command, withServices: WithServices<Services>): void {
  const log = program.command('log').description('the log of all receipts')
  const confirmed = (name: string, description: string) => subcommand(log, name, description).option(...YES)

  confirmed('new', 'end this log, and begin an empty one').action(async (options: ConfirmOptions) => {
    await confirm(options, MEANING, 'Begin a new log?')
    const { value, words } = await withServices(beginNext)
    print(options, value, words)
  })

  confirmed(
    'resume',
    'let the log go on in a database that was restored or moved, where nothing was signed since',
  ).action(async (options: ConfirmOptions) => {
    const { resumeLog } = await import('../resume.ts')
    const resumed = await withServices(
      (services) => resumeLog(services, (meaning) => confirm(options, meaning, GO_ON)),
      // The plugin of the anchors knows whether more was signed.
      { plugins: true },
    )
    printGoing(options, resumed)
  })

  confirmed(
    'acknowledge',
    'let a log go on that a client stopped, which had a head that the log does not contain',
  ).action(async (options: ConfirmOptions) => {
    await confirm(options, ACKNOWLEDGE_MEANING, GO_ON)
    const resumed = await withServices(
      async ({ storage, now, logGuard }) => {
        await logGuard.requireNewest()
        return acknowledgeWitnessed(storage, now())
      },
      // The plugin of the anchors knows whether more was signed.
      { plugins: true },
    )
    printGoing(options, resumed, 'Heads of clients that contradict it are counted from now on, and stop it no more.')
  })

  confirmed('reopen', 'let a log go on whose last backup or copy did not end').action(
    async (options: ConfirmOptions) => {
      await confirm(options, REOPEN_MEANING, GO_ON)
      const resumed = await withServices((services) => reopenLog(services, services.now()), {
        plugins: true,
      })
      printGoing(options, resumed)
    },
  )

  confirmed('forget-host', 'have hosts wait no more for one that is gone for good')
    .argument('<host-id>', 'as readiness names it')
    .action(async (hostId: string, options: ConfirmOptions) => {
      await confirm(options, FORGET_MEANING, `Forget ${hostId}?`)
      await withServices(async ({ storage, now, logAgreement }) => {
        await logAgreement.forget(hostId)
        const entry = { event: 'log.host_forgotten', at: now(), by: byCommand(), subject: hostId } as const
        await storage.write(async (tx) => tx.audit.record(entry))
      })
      print(options, { host_id: hostId }, [`Hosts wait no more for ${hostId}.`])
    })

  subcommand(
    log,
    'archive',
    'write a log that has ended to a folder, from which its receipts are served when its rows are taken out',
  )
    .argument('<log-id>', 'id of a log that has ended')
    .action(async (logId: string, options: OutputOptions) => {
      const { folder, treeSize } = await withServices(({ archives }) => archives.write(logId))
      print(options, { log_id: logId, folder, tree_size: treeSize }, [
        `The archive is complete: ${treeSize} entries, in ${folder}.`,
        'You may take the rows of this log out of the tables: the page on several logs says how.',
      ])
    })
}

function printGoing(options: OutputOptions, { logId, treeSize }: LogState, ...more: readonly string[]): void {
  const words = `The log ${logId} goes on, with ${treeSize} entries. Hosts that run sign again within seconds.`
  print(options, { log_id: logId, tree_size: treeSize }, [words, ...more])
}
