/** `claimcheck wait`: waits for claims, and succeeds only where they are about what is asked for and have a verdict that is good enough. */
import { isDeepStrictEqual } from 'node:util'
import type { ClaimStatus, Client } from '@claimcheck/client'
import { collect, type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { visible } from '@claimcheck/core/words/plain-text'
import { type Command, InvalidArgumentError } from 'commander'
import { type AccessOptions, keyedAccess, withAccessOptions } from '../service/access.ts'
import { claimLine, EXIT_HELP, exitCodeOf, VERDICTS } from '../service/claim-words.ts'
import { asCommandError, asking, clientOf } from '../service/client.ts'
import { readParams } from '../service/params.ts'
import { untilSignal } from '../service/until-signal.ts'

interface WaitOptions extends OutputOptions, AccessOptions {
  readonly require: readonly string[]
  readonly action?: string
  readonly target?: string
  readonly param?: readonly string[]
  readonly for?: number
}

/** A claim at the end of the wait, and why it does not do; undefined where it does. */
interface Awaited {
  readonly id: string
  readonly claim: ClaimStatus | undefined
  readonly problem: string | undefined
}

export function addWaitCommand(program: Command): void {
  withAccessOptions(
    subcommand(program, 'wait', 'wait for claims, and fail unless all have a required verdict')
      .argument('<id...>', 'ids of claims, clm_...')
      .option('--require <verdicts>', 'verdicts that are good enough, such as verified,late', readVerdicts, [
        'verified',
      ])
      .option('--action <name>', 'action that the claims must be of')
      .option('--target <target>', 'target that the claims must be about')
      .option('--param <param>', 'param that the claims must have, as in `claim`; repeatable', collect)
      .option('--for <seconds>', 'seconds to wait at most (default: until all are decided)', readSeconds),
  )
    .addHelpText('after', EXIT_HELP)
    .action(async (ids: readonly string[], options: WaitOptions) => {
      const params = readParams(options.param ?? [])
      const client = clientOf(keyedAccess(options, process.env))
      const last = await lastOf(client, ids, options.for)
      const awaited: Awaited[] = []
      for (const id of ids) {
        const claim = last.get(id)
        awaited.push({ id, claim, problem: await problemOf(client, claim, { ...options, params }) })
      }
      const failing = awaited.find(({ problem }) => problem !== undefined)
      process.exitCode = failing === undefined ? 0 : exitCodeOf(failing.claim ?? { verdict: null }) || 1
      const lines = awaited.map(({ id, claim, problem }) => {
        const line = claim ? claimLine(claim) : visible(id)
        return problem === undefined ? line : `${line}  ${problem}`
      })
      print(options, awaited, lines)
    })
}

/** Follows claims until all are decided, the time is up, or the command is stopped. */
async function lastOf(
  client: Client,
  ids: readonly string[],
  seconds: number | undefined,
): Promise<ReadonlyMap<string, ClaimStatus>> {
  const last = new Map<string, ClaimStatus>()
  await untilSignal(async (stopped) => {
    const signal = seconds === undefined ? stopped : AbortSignal.any([stopped, AbortSignal.timeout(seconds * 1000)])
    try {
      for await (const claim of client.watch(ids, { signal })) last.set(claim.claim_id, claim)
    } catch (error) {
      if (!signal.aborted) throw asCommandError(error)
    }
  })
  return last
}

/** Says why a claim does not do. What it is about is read from its receipt: an id that somebody hands over may be another claim's. */
async function problemOf(
  client: Client,
  claim: ClaimStatus | undefined,
  { require, action, target, params }: WaitOptions & { readonly params: Readonly<Record<string, unknown>> },
): Promise<string | undefined> {
  if (!claim?.verdict) return 'is not decided'
  if (!require.includes(claim.verdict)) return `is not ${require.join(' or ')}`
  if (action !== undefined && claim.action !== action) return 'is of another action'
  if (target !== undefined && claim.target !== target) return 'is about another target'
  const wanted = Object.entries(params)
  if (wanted.length === 0) return undefined
  const { body } = JSON.parse(await asking(client.receipt(claim.receipt_id!)))
  const wrong = wanted.find(([name, value]) => !isDeepStrictEqual(body?.claim?.params?.[name], value))
  return wrong && `has another ${wrong[0]}`
}

function readVerdicts(text: string): readonly string[] {
  const verdicts = text.split(',')
  if (verdicts.every((one) => VERDICTS.includes(one))) return verdicts
  throw new InvalidArgumentError(`write ${VERDICTS.join(', ')}, or some of them with commas between them`)
}

function readSeconds(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('write a number of seconds')
}
