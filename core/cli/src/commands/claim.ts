/** `claimcheck claim`: submits a claim to a service, waits for its verdict where asked to, and ends with an exit code by verdict. */
import type { NewClaim } from '@claimcheck/client'
import { badArguments } from '@claimcheck/command-line/errors'
import { collect, type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { typed } from '@claimcheck/command-line/typed'
import type { Command } from 'commander'
import { type AccessOptions, keyedAccess, withAccessOptions } from '../service/access.ts'
import { lastPush, type PushOptions } from '../service/checkout.ts'
import { EXIT_HELP } from '../service/claim-words.ts'
import { readParams } from '../service/params.ts'
import { submitClaim } from '../service/submit.ts'

interface ClaimOptions extends OutputOptions, AccessOptions {
  readonly agent?: string
  readonly id?: string
  readonly claimedAt?: string
  readonly deadlineAt?: string
  readonly wait?: string | true
}

interface OwnClaimOptions extends ClaimOptions {
  readonly action?: string
  readonly target?: string
  readonly param?: readonly string[]
}

const ACTION = 'codehost.commit.push'
/**
 * The time for which the service takes a push that it can only look at for one in time, less one minute. A claim of an older one is of now, and says
 * how long ago the push was, so that the claim is not fresh.
 */
const RECENT_MS = 9 * 60_000

export function addClaimCommands(program: Command): void {
  const claim = withClaimOptions(
    subcommand(program, 'claim', 'submit a claim: the service reads the destination and decides a verdict')
      .usage(`[options]\n       ${typed('claim push [options]')}`)
      .option('--action <name>', `action, such as ${ACTION}`)
      .option('--target <target>', 'where it was done, such as OWNER/REPO')
      .option('--param <param>', 'parameter of the action: name=text, name:=json or name=@file; repeatable', collect),
  ).action(async (options: OwnClaimOptions) => {
    const { action, target, param = [] } = options
    if (action === undefined || target === undefined) {
      throw badArguments(`Say what was done with --action and --target, or run ${typed('claim push')}.`)
    }
    await submitted(options, { action, target, params: readParams(param) })
  })

  withClaimOptions(
    subcommand(claim, 'push', 'claim the last push of the git checkout in the current folder')
      .option('--remote <name>', 'remote that was pushed to (default: as git push chooses)')
      .option('--branch <name>', 'branch at the remote (default: as git push chooses)')
      .option('--commit <name>', 'commit that was pushed (default: HEAD)')
      .option('--target <target>', "repository, OWNER/REPO (default: from the remote's address)")
      .option('--host <host>', "code host, such as github.com (default: from the remote's address)")
      .option('--unchecked', 'claim a commit even if this checkout does not know that the remote has it'),
  ).action(async (options: ClaimOptions & PushOptions) => {
    const { sha, branch, host, slug, pushedAt } = await lastPush(process.cwd(), options)
    const what = { action: ACTION, target: slug, params: { sha, branch, host } }
    if (options.claimedAt !== undefined || pushedAt === undefined) return submitted(options, what)
    const claimed_ago_ms = Date.now() - pushedAt
    const claimedAt = claimed_ago_ms < RECENT_MS ? undefined : new Date().toISOString()
    await submitted({ ...options, claimedAt }, { ...what, claimed_ago_ms })
  })
}

function withClaimOptions(command: Command): Command {
  return withAccessOptions(
    command
      .option('--agent <id>', 'agent that did it (env: CLAIMCHECK_AGENT, default: command-line)')
      .option('--id <id>', 'idempotency key: sending the same id again returns the existing claim (default: a new id)')
      .option(
        '--claimed-at <time>',
        'time at which it was done, such as 2026-09-25T14:02:11Z (default: now; of a recent push its own, if known)',
      )
      .option('--deadline-at <time>', 'time until which the service looks for it (default: as the action says)')
      .option('--wait [seconds]', 'wait until the claim is decided, or at most this many seconds'),
  ).addHelpText('after', EXIT_HELP)
}

async function submitted(
  options: ClaimOptions,
  what: Pick<NewClaim, 'action' | 'target' | 'params' | 'claimed_ago_ms'>,
): Promise<void> {
  const { agent, id, claimedAt, deadlineAt } = options
  const waitMs = waitOf(options.wait)
  const claim: NewClaim = {
    ...what,
    agent_id: agent ?? (process.env.CLAIMCHECK_AGENT || 'command-line'),
    client_claim_id: id,
    claimed_at: claimedAt,
    deadline_at: deadlineAt,
  }
  const { exitCode, status, lines } = await submitClaim(keyedAccess(options, process.env), claim, waitMs)
  process.exitCode = exitCode
  print(options, status, lines)
}

/** Reads `--wait`: milliseconds, undefined for no wait, or Infinity to wait until the claim is decided. */
function waitOf(wait: string | true | undefined): number | undefined {
  if (wait === undefined) return undefined
  if (wait === true) return Number.POSITIVE_INFINITY
  if (/^\d{1,6}$/.test(wait)) return Number(wait) * 1000
  throw badArguments(`--wait takes a number of seconds, and not ${JSON.stringify(wait)}.`)
}
