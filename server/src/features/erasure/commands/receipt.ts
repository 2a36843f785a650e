/** `claimcheck receipt`: on the installation, erases the content of a receipt, and lists erasures; at a service, reads receipts. */
import { addServiceReceiptCommands } from '@claimcheck/cli/commands/receipt'
import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { formatInstant } from '@claimcheck/core/rules'
import { visible } from '@claimcheck/core/words/plain-text'
import type { Command } from 'commander'
import { byCommand } from '../../../base/actor.ts'
import type { WithServices } from '../../../host/feature.ts'
import { type ConfirmOptions, confirm, YES } from '../../../host/terminal/confirm.ts'
import { OPERATOR_RULES, ruleWords } from '../../../storage/erasure-rules.ts'
import type { LogGuard } from '../../log/log-guard.ts'
import { requireSigning } from '../../log/log-watch.ts'
import { toErasedReceipt } from '../../receipts/erased-receipt.ts'
import { type ErasureCandidate, type ErasureOutcome, type ErasureService, readReason } from '../erasure.ts'

interface Services {
  readonly erasure: ErasureService
  readonly logGuard: LogGuard
}

const RULES = Object.keys(OPERATOR_RULES).join(', ')
const MOST_LISTED = 1000
const READER = 'The write-ahead log holds it until a reader ends: run this command again.'

export function addReceiptCommands(program: Command, withServices: WithServices<Services>): void {
  const receipt = program
    .command('receipt')
    .description('receipts: get, verify and open read them at a service; the others work on this installation')
  addServiceReceiptCommands(receipt)

  subcommand(
    receipt,
    'erase',
    'erase the content of a receipt of this installation, its evidence and its claim, for ever',
  )
    .argument('<id>', 'of the receipt, or of its claim')
    .requiredOption('--rule <rule>', `why: ${RULES}. Everybody who asks for the receipt reads it`)
    .option('--reference <text>', 'such as a file number. Everybody reads it, so name no person')
    .option(...YES)
    .action(async (id: string, options: ConfirmOptions & { rule: string; reference?: string }) => {
      const reason = readReason(options.rule, options.reference)
      const { erased, same } = await withServices(
        async ({ erasure, logGuard }) => {
          const candidate = await erasure.find(id)
          // On an old database an erasure would be lost: the newest one, when it is back, would hold the content again.
          await requireSigning(logGuard)
          if (!candidate.erased) await confirm(options, meaningOf(candidate), 'Erase it?')
          return { erased: await erasure.erase(candidate.receiptId, reason, byCommand()), same: candidate.same }
        },
        // The plugin of the anchors knows whether the database is an old one.
        { plugins: true },
      )
      const more = same.flatMap(({ receiptId }) => receiptId ?? [])
      print(options, toJson(erased, more), linesOf(erased, more))
    })

  subcommand(
    receipt,
    'erased',
    `list the receipts of this installation with erased content, the latest ${MOST_LISTED}, newest first`,
  ).action(async (options: OutputOptions) => {
    const listed = await withServices(({ erasure }) => erasure.list(MOST_LISTED))
    const rows = listed.map(({ receiptId, erasedAt, rule, reference, leafIndex }) => [
      receiptId,
      formatInstant(erasedAt),
      String(leafIndex),
      ruleWords(rule, reference),
    ])
    print(options, listed.map(toErasedReceipt), table(['RECEIPT', 'ERASED AT', 'ENTRY', 'BECAUSE OF'], rows))
  })

  subcommand(
    receipt,
    'rewrite-files',
    'write the database files of this installation anew, without what was erased; claims are refused meanwhile, for a minute in some gigabytes',
  ).action(async (options: OutputOptions) => {
    const isDone = await withServices(({ erasure }) => erasure.rewriteFiles())
    print(options, { files_cleared: isDone }, [isDone ? 'The files hold nothing of what was erased.' : READER])
    if (!isDone) process.exitCode = 1
  })
}

function toJson({ receipt, isNew, isForgotten }: ErasureOutcome, same: readonly string[]) {
  return { ...toErasedReceipt(receipt), was_erased_before: !isNew, files_cleared: isForgotten, same_outcome: same }
}

function linesOf({ receipt, isNew, isForgotten }: ErasureOutcome, same: readonly string[]): string[] {
  const { receiptId, leafIndex, erasedAt, rule, reference } = receipt
  const because = `because of ${ruleWords(rule, reference)}`
  if (!isNew) return [`The content of ${receiptId} was erased before, at ${formatInstant(erasedAt)}, ${because}.`]
  return [
    `The content of ${receiptId} is erased, ${because}.`,
    `Entry ${leafIndex} of the log stays, with its hash and its proofs.`,
    'Backups, replicas, and copies that people fetched still hold it: server/docs/erasure.md says what to do about them.',
    'Unused parts of the database files may still hold some of it: run claimcheck receipt rewrite-files, at a quiet hour.',
    ...(isForgotten ? [] : [READER]),
    ...(same.length === 0
      ? []
      : [
          '',
          'These receipts name the same target with the same params. Erase them, too, if the rule covers them:',
          ...same,
        ]),
  ]
}

/** Tells what erasing means, before it is confirmed. */
function meaningOf({ claim, receiptId }: ErasureCandidate): string {
  return [
    `This erases for ever what ${receiptId} says: its text, its evidence, and the content of the claim and its checks.`,
    `  agent   ${visible(claim.agentId)}`,
    `  action  ${visible(claim.action)}`,
    `  target  ${visible(claim.target)}`,
    `  params  ${visible(JSON.stringify(claim.params))}`,
    'Its entry in the log stays. The page of the receipt says that it was erased, when, and by which rule.',
  ].join('\n')
}
