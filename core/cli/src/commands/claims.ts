/** `claimcheck claims`: lists the claims of a workspace at a service, and follows them until they are decided. */
import type { ClaimFilters, ClaimStatus } from '@claimcheck/client'
import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { writeLines } from '@claimcheck/command-line/terminal'
import { visible } from '@claimcheck/core/words/plain-text'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type AccessOptions, keyedAccess, withAccessOptions } from '../service/access.ts'
import { claimLine, EXIT_HELP, exitCodeOfAll, VERDICTS } from '../service/claim-words.ts'
import { asCommandError, asking, clientOf } from '../service/client.ts'
import { untilSignal } from '../service/until-signal.ts'

interface ListOptions extends OutputOptions, AccessOptions {
  readonly agent?: string
  readonly action?: string
  readonly verdict?: NonNullable<ClaimFilters['verdict']>
  readonly state?: NonNullable<ClaimFilters['state']>
  readonly limit: number
}

const PAGE = 200
const MOST = 10_000

export function addClaimsCommands(program: Command): void {
  const claims = program.command('claims').description('list and follow the claims of a workspace')

  withAccessOptions(
    subcommand(claims, 'list', 'list claims, newest first')
      .option('--agent <id>', 'filter by agent')
      .option('--action <name>', 'filter by action')
      .addOption(new Option('--verdict <verdict>', 'filter by verdict').choices(VERDICTS))
      .addOption(new Option('--state <state>', 'filter by state').choices(['queued', 'decided']))
      .option('--limit <n>', `number of claims to list, up to ${MOST}`, readLimit, 50),
  ).action(async (options: ListOptions) => {
    const listed = await asking(listedBy(options))
    const rows = listed.map((claim) =>
      [
        claim.claim_id,
        claim.verdict ?? claim.state,
        claim.agent_id,
        claim.action,
        claim.target,
        claim.submitted_at,
        claim.receipt_id ?? '',
      ].map(visible),
    )
    const head = ['CLAIM', 'VERDICT', 'AGENT', 'ACTION', 'TARGET', 'SUBMITTED', 'RECEIPT']
    print(options, listed, rows.length > 0 ? table(head, rows) : ['No claims.'])
  })

  withAccessOptions(
    subcommand(claims, 'watch', 'print a line at each change of the claims, until all are decided').argument(
      '<id...>',
      'ids of claims, clm_...',
    ),
  )
    .addHelpText('after', EXIT_HELP)
    .action(async (ids: readonly string[], options: OutputOptions & AccessOptions) => {
      const client = clientOf(keyedAccess(options, process.env))
      const last = new Map<string, ClaimStatus>()
      await untilSignal(async (signal) => {
        try {
          for await (const claim of client.watch(ids, { signal })) {
            last.set(claim.claim_id, claim)
            if (!options.json) writeLines([claimLine(claim)])
          }
        } catch (error) {
          if (!signal.aborted) throw asCommandError(error)
        }
      })
      // A claim whose watch was stopped before its first answer is not known to be decided.
      const stands = ids.map((id) => last.get(id) ?? { verdict: null })
      process.exitCode = exitCodeOfAll(stands)
      if (options.json) print(options, [...last.values()], [])
    })
}

async function listedBy(options: ListOptions): Promise<ClaimStatus[]> {
  const { agent, action, verdict, state, limit } = options
  const filters = { limit: Math.min(limit, PAGE), agent_id: agent, action, verdict, state }
  const listed: ClaimStatus[] = []
  for await (const claim of clientOf(keyedAccess(options, process.env)).list(filters)) {
    listed.push(claim)
    if (listed.length === limit) break
  }
  return listed
}

function readLimit(text: string): number {
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MOST) return limit
  throw new InvalidArgumentError(`write a number from 1 to ${MOST}`)
}
