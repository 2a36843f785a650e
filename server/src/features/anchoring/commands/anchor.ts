/** `claimcheck anchor`: shows the state of anchoring, or anchors at once. */
import { setTimeout } from 'node:timers/promises'
import { CommandError } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { writeError } from '@claimcheck/command-line/terminal'
import type { Anchorer } from '@claimcheck/core/plugin'
import { formatInstant } from '@claimcheck/core/rules'
import type { Command } from 'commander'
import type { Worker } from '../../../base/worker.ts'
import type { HostServices } from '../../../host/container.ts'
import type { WithServices } from '../../../host/feature.ts'
import type { AnchorRow } from '../../../storage/anchor-row.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { Anchoring } from '../anchoring.ts'
import type { AnchoringStatus } from '../anchoring-status.ts'

interface Services extends Pick<HostServices, 'storage'> {
  readonly anchoring: Anchoring | undefined
  readonly anchorWorker: Worker
}

/** The exit code while the anchor is not final yet and nothing is wrong, like that of `claim` while its claim is queued. */
const EXIT_UNFINISHED = 7

const NOT_CONFIGURED = 'no anchoring plugin is configured: add one to the configuration file'
const NOTHING_NEW = 'There is nothing to anchor: the newest root is anchored, or the log is empty.'
const LOOK_MS = 250

export function addAnchorCommands(program: Command, withServices: WithServices<Services>): void {
  const anchor = subcommand(
    program,
    'anchor',
    'show the state of anchoring: the account, its costs and the last anchors',
  ).action(async (options: OutputOptions) => {
    const { anchoringStatus } = await import('../anchoring-status.ts')
    const status = await withServices(anchoringStatus, { plugins: true })
    print(options, toJson(status), describe(status))
  })

  subcommand(anchor, 'now', 'anchor the newest root at once, and wait until the anchor is final')
    .option('--timeout <seconds>', 'how long to wait; an anchor that is under way goes on afterwards', '3600')
    .addHelpText(
      'after',
      `\nExit code: 0 final, ${EXIT_UNFINISHED} not final yet; 1 the command failed, 2 invalid arguments.`,
    )
    .action(async ({ timeout }: { timeout: string }, command: Command) => {
      // The parent command `anchor` declares --json, too, and commander gives the option to it.
      const options: OutputOptions = command.optsWithGlobals()
      const timeoutMs = 1000 * Number(timeout)
      if (!(timeoutMs >= 0)) throw new CommandError('usage', `--timeout takes a number of seconds, not ${timeout}.`)
      const anchor = await withServices((claimcheck) => anchorNow(claimcheck, timeoutMs), { plugins: true })
      print(options, { anchor: anchor ? toAnchorJson(anchor) : null }, [anchor ? result(anchor) : NOTHING_NEW])
      if (anchor?.state === 'dropped') process.exitCode = 1
      else if (anchor && anchor.state !== 'final') process.exitCode = EXIT_UNFINISHED
    })
}

/** Anchors at once; undefined when there is nothing to anchor. The process that holds the lease does the work: a running server or this one. */
async function anchorNow(
  { anchoring, anchorWorker, storage }: Services,
  timeoutMs: number,
): Promise<AnchorRow | undefined> {
  if (!anchoring) throw new CommandError('not_configured', `Nothing was anchored: ${NOT_CONFIGURED}.`)
  const end = performance.now() + timeoutMs
  const log = await storage.read.log.state()
  const first = await anchoring.take({ atOnce: true })
  if (!first) return undefined
  anchorWorker.start()
  try {
    const done = await follow(first, storage, end)
    // An anchor that was already under way may be of an older tree.
    const isOfOlder = done.logId !== log!.logId || done.treeSize < log!.treeSize
    const second = isOfOlder && isDone(done) && (await anchoring.take({ atOnce: true }))
    return second ? await follow(second, storage, end) : done
  } finally {
    await anchorWorker.stop()
  }
}

/** Prints each state of the anchor until it is done, or until `end`. */
async function follow(first: AnchorRow, storage: Pick<Storage, 'read'>, end: number): Promise<AnchorRow> {
  let anchor = first
  for (let printed = ''; ; ) {
    const state = describeState(anchor)
    if (state !== printed) writeError(`${state}\n`)
    printed = state
    if (isDone(anchor) || performance.now() >= end) return anchor
    await setTimeout(LOOK_MS)
    anchor = (await storage.read.anchors.byId(anchor.id))!
  }
}

function isDone({ state }: AnchorRow): boolean {
  return state === 'final' || state === 'dropped'
}

function result({ landing, chain, state, problem }: AnchorRow): string {
  if (landing) return `Anchored on ${chain} in block ${landing.blockNumber}, as ${landing.uid}.`
  if (state === 'dropped')
    return `Not anchored: the anchor was dropped (${problem}). Run this command again, or wait for the next interval.`
  return 'Not final yet. A running server goes on with it; or run this command again.'
}

function describeState({ treeSize, state, problem }: AnchorRow): string {
  return `${treeSize} ${treeSize === 1 ? 'entry' : 'entries'}: ${state}${problem === null ? '' : ` (${problem})`}`
}

function describe({ anchorer, account, costs, open, recent }: AnchoringStatus): string[] {
  const head = ['planned', 'entries', 'state', 'chain', 'block', 'uid']
  return [
    ...(anchorer ? describeAnchorer(anchorer, account!) : [`Not anchoring: ${NOT_CONFIGURED}.`]),
    ...[...costs].map(([chain, cost]) => `cost so far  ${amount(cost, chain)} on ${chain} (final anchors)`),
    `under way    ${open ? describeState(open) : 'nothing'}`,
    ...(recent.length === 0 ? [] : ['', ...table(head, recent.map(toCells))]),
  ]
}

function describeAnchorer(anchorer: Anchorer, account: NonNullable<AnchoringStatus['account']>): string[] {
  const { chain, scheme, intervalMs } = anchorer
  return [
    `chain        ${chain} (${scheme}), every ${intervalMs / 1000} s when the log has grown`,
    `account      ${anchorer.identity().attester}`,
    `balance      ${'balance' in account ? amount(account.balance, chain) : `unknown: ${account.problem}`}`,
  ]
}

/** Writes an amount with the name of the chain's smallest unit. */
function amount(count: string | bigint, chain: string): string {
  return chain.startsWith('eip155:') ? `${count} wei` : String(count)
}

function toCells({ plannedAt, treeSize, state, problem, chain, landing }: AnchorRow): string[] {
  const stateWords = problem === null ? state : `${state}: ${problem}`
  const where = landing ? [String(landing.blockNumber), landing.uid] : []
  return [formatInstant(plannedAt), String(treeSize), stateWords, chain, ...where]
}

function toJson({ anchorer, account, costs, open, recent }: AnchoringStatus): object {
  return {
    anchorer: anchorer
      ? {
          chain: anchorer.chain,
          scheme: anchorer.scheme,
          interval_s: anchorer.intervalMs / 1000,
          ...anchorer.identity(),
          balance: account && 'balance' in account ? account.balance : null,
          problem: account && 'problem' in account ? account.problem : null,
        }
      : null,
    costs: Object.fromEntries([...costs].map(([chain, cost]) => [chain, String(cost)])),
    open: open ? toAnchorJson(open) : null,
    anchors: recent.map(toAnchorJson),
  }
}

function toAnchorJson({ treeSize, state, problem, chain, plannedAt, signed, landing }: AnchorRow): object {
  const { uid = null, txHash = null, blockNumber = null, cost = null } = landing ?? {}
  return {
    tree_size: treeSize,
    ...{ state, problem, chain, planned_at: formatInstant(plannedAt) },
    transactions: signed.map((transaction) => transaction.txHash),
    ...{ uid, tx_hash: txHash, block_number: blockNumber, cost },
  }
}
