/** `claimcheck verify`: checks a document of a log with what its issuer publishes (keys, evidence, rules), and its anchor with a node of a chain. */

import { CommandError } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { publishedWords } from '@claimcheck/core/hosting'
import {
  type Contradiction,
  checkConsistency,
  checkContradiction,
  checkInclusion,
  checkTreeHead,
} from '@claimcheck/core/log'
import { type BundleReport, checkBundle, isReceipt, isUnvouched, type Receipt } from '@claimcheck/core/receipts'
import { type JsonValue, jsonIn, objectIn } from '@claimcheck/core/rules'
import { contradictsProof, evidenceProblem, HEAD_PROBLEMS } from '@claimcheck/core/words/checks'
import {
  type DocumentKind,
  documentProblem,
  kindOf,
  notADocument,
  readBundle,
  treeHeadText,
} from '@claimcheck/core/words/document'
import type { Command } from 'commander'
import { type AnchorOptions, anchorCheck } from '../verify/anchor-check.ts'
import { entryReport } from '../verify/entry-report.ts'
import { type SourceOptions, sourceProblem } from '../verify/expected-source.ts'
import { type VerifierOptions, verifierProblem } from '../verify/expected-verifier.ts'
import { type Gathered, type GatherOptions, gather, keysBeside, readKeys } from '../verify/gather.ts'
import { contradictionReport, type ProofKind, proofReport, treeHeadReport } from '../verify/log-report.ts'
import type { IssuerWords } from '../verify/receipt-summary.ts'
import { isUrl, readSource, uncheckable } from '../verify/source.ts'
import { paintFor } from '../verify/style.ts'

const EXIT_VALID = 0
const EXIT_BAD = 1
const EXIT_OPEN = 2
const EXIT_HELP =
  '\nExit code: 0 valid, 1 not valid or not as an option requires, 2 could not check, or nothing vouches for the signing key.'

export interface VerifyOptions extends OutputOptions, AnchorOptions, GatherOptions, SourceOptions, VerifierOptions {
  readonly pipeline?: string
  readonly pin?: string
}

interface Checked {
  readonly report: {
    readonly valid: boolean
    readonly source_as_expected?: boolean
    readonly log_continues?: boolean
    readonly verifier_as_expected?: boolean
    readonly contradiction?: Contradiction
  }
  readonly lines: readonly string[]
  /** Tells that every check of the document holds, but it is not as the options ask, or as the log says. */
  readonly isShort?: boolean
  /** Tells that every check of the document holds, but nothing vouches for the key that signed it. */
  readonly isUnvouched?: boolean
}

export function addVerifyCommand(program: Command): void {
  withVerifyOptions(
    subcommand(
      program,
      'verify',
      'check a receipt, a bundle, a change entry, a tree head, an inclusion or consistency proof, or how a log contradicts itself',
    ).argument('<document>', 'file or URL'),
  ).action(verifyAt)
}

export function withVerifyOptions(command: Command): Command {
  return command
    .option(
      '--keys <keys>',
      'key document of the issuer that you trust, file or URL (default: from the host of the document)',
    )
    .option('--pipeline <pipeline>', 'pipeline document that the entry names as its policy, file or URL')
    .option(
      '--evidence <evidence>',
      'evidence of the receipt, file or URL (default: from the host of the receipt); exit 1 if the verdict does not follow from it',
    )
    .option(
      '--head <head>',
      "signed tree head of the log, file or URL (default: the newest one of the document's host)",
    )
    .option('--pin <key>', 'require that this key, ed25519:..., signed the document; exit 1 otherwise')
    .option(
      '--expect-source <host>',
      'require that the receipt was read at this host, such as api.github.com; exit 1 otherwise',
    )
    .option('--listed', 'require that the receipt was read at a destination that its issuer lists; exit 1 otherwise')
    .option(
      '--expect-verifier <plugin>',
      'require that this plugin checked it, PACKAGE[@VERSION][#sha256:DIGEST]; exit 1 otherwise',
    )
    .option('--rpc <url>', 'node of the chain of its anchor (default: do not check the anchor)')
    .option('--eas <address>', 'address of the Ethereum Attestation Service, for chains that the checker does not know')
    .option('--confirmations <n>', 'blocks after which a block is final, for chains without a finalized block')
    .addHelpText('after', EXIT_HELP)
}

/** Prints what is found, and sets the exit code. @param source a file or a URL */
export async function verifyAt(source: string, options: VerifyOptions): Promise<void> {
  const checked = await check(source, options).catch(couldNotCheck)
  const { report, lines } = checked
  process.exitCode = exitCodeOf(checked)
  print(options, report, lines)
}

function exitCodeOf({ report, isShort = false, isUnvouched = false }: Checked): number {
  if (isShort) return EXIT_BAD
  if (isUnvouched) return EXIT_OPEN
  return report.valid ? EXIT_VALID : EXIT_BAD
}

async function check(given: string, options: VerifyOptions): Promise<Checked> {
  const source = documentAddress(given)
  const issuer = [options.keys, source].find((address) => address !== undefined && isUrl(address))
  const anchors = anchorCheck(options, issuer)
  if (options.pin !== undefined && !/^ed25519:[A-Za-z0-9_-]{43}$/.test(options.pin)) {
    throw uncheckable('--pin takes the id of a key: ed25519: and 43 characters.')
  }
  const text = await readSource(source)
  const kind = kindOf(text)
  const checkLogDocument = LOG_DOCUMENTS[kind]
  if (checkLogDocument) {
    refuseOptions(options, kind === 'tree_head' || kind === 'contradiction' ? OF_ENTRIES : OF_SIGNED)
    return checkLogDocument(text, source, options)
  }
  const other = notADocument(readBundle(text)?.receipt ?? text)
  if (other !== undefined) throw uncheckable(`${source}: ${other}.`)
  return checkedEntry(text, source, options, anchors)
}

/** Checks a receipt or a change entry, or the bundle of one. */
async function checkedEntry(
  text: string,
  source: string,
  options: VerifyOptions,
  anchors: ReturnType<typeof anchorCheck>,
): Promise<Checked> {
  const gathered = await gather(text, source, options)
  const { bundle, keys, logNow } = gathered
  const pipeline = options.pipeline === undefined ? undefined : await readPipeline(options.pipeline)
  const fromIssuer = keys !== undefined && options.keys === undefined
  const report = await checkBundle(bundle, { keys, fromIssuer, pinnedKey: options.pin, pipeline, ...anchors })
  const problem = documentProblem(bundle.receipt)
  const document: JsonValue = problem === undefined ? JSON.parse(bundle.receipt) : null
  const hasPipeline = pipeline !== undefined
  const found = { report, document, problem, hasPipeline, gathered, paint: paintFor(process.stdout) }
  if (!report.valid && !isUnvouched(report)) {
    return { report, lines: entryReport({ ...found, words: undefined, shortcomings: [] }) }
  }
  const receipt = isReceipt(document) ? document : undefined
  if (!receipt) refuseOptions(options, OF_RECEIPTS)
  const problems = problemsOf(report, logNow, options)
  const otherSource = receipt && sourceProblem(report.source, options)
  const otherVerifier = receipt && verifierProblem(receipt.body.observation.verifier, options)
  const shortcomings = [...problems, otherSource, otherVerifier].filter((text) => text !== undefined)
  const expectsSource = options.expectSource !== undefined || options.listed === true
  return {
    report: {
      ...report,
      source_as_expected: expectsSource ? otherSource === undefined : undefined,
      log_continues: logNow === 'continues' || logNow === 'lost' ? logNow === 'continues' : undefined,
      verifier_as_expected: options.expectVerifier === undefined ? undefined : otherVerifier === undefined,
    },
    lines: entryReport({ ...found, words: receipt && issuerWords(receipt, gathered), shortcomings }),
    isShort: shortcomings.length > 0,
    isUnvouched: isUnvouched(report),
  }
}

/** Says in what a valid document is not as the options ask, or as its log says. @throws CommandError for evidence of unknown rules */
function problemsOf(
  report: BundleReport,
  logNow: Gathered['logNow'],
  options: VerifyOptions,
): readonly (string | undefined)[] {
  const evidence = options.evidence === undefined ? undefined : report.evidence
  if (evidence?.evidence === 'not_checked') {
    throw uncheckable(`${options.evidence} is of rules that this version of the command does not know.`)
  }
  return [
    evidence && evidenceProblem(evidence),
    headProblem(report, options),
    logNow === 'lost' ? LOST : undefined,
    report.key_pinned === false ? `it is signed by another key than ${options.pin}` : undefined,
  ]
}

const LOST =
  'the log of its issuer has lost a state that it signed: the tree head in this bundle. Keep the bundle: it proves that, with the newest tree head'

/** The address of a document. That of a receipt's page becomes the receipt's own. */
function documentAddress(source: string): string {
  return isUrl(source)
    ? source.replace(/^(https?:\/\/[^/?#]+)\/r\/(rcpt_[0-9A-Za-z]+)(?=$|[/?#]).*$/i, '$1/v1/receipts/$2')
    : source
}

/** A head that contradicts the receipt always counts; one that leaves it open counts where an option asked for it. */
function headProblem({ tree_head: found }: BundleReport, { head }: VerifyOptions): string | undefined {
  // The proof is unsigned, so anyone who forwards a receipt can remove it.
  if (!found) return head === undefined ? undefined : 'it has no proof that could be compared with the tree head'
  if (found.tree_head === 'holds') return undefined
  return head !== undefined || contradictsProof(found) ? HEAD_PROBLEMS[found.tree_head] : undefined
}

function issuerWords({ body }: Receipt, { bundle, profilesFrom }: Gathered): IssuerWords | undefined {
  const { id, version } = body.observation.verifier
  const words = publishedWords(bundle.profiles ?? '')(id, version)
  return words && profilesFrom !== undefined ? { host: profilesFrom, words } : undefined
}

const OF_RECEIPTS = {
  evidence: '--evidence',
  expectSource: '--expect-source',
  listed: '--listed',
  expectVerifier: '--expect-verifier',
} as const
const OF_ENTRIES = { ...OF_RECEIPTS, head: '--head', pin: '--pin', pipeline: '--pipeline', rpc: '--rpc' } as const
const OF_SIGNED = { ...OF_ENTRIES, keys: '--keys' } as const

/** Refuses options that decide the exit code where they have nothing to check. @throws CommandError for such options */
function refuseOptions(options: VerifyOptions, names: Partial<typeof OF_SIGNED>): void {
  const given = Object.entries(names).filter(([name]) => options[name as keyof typeof OF_SIGNED] !== undefined)
  if (given.length === 0) return
  const listed = given.map(([, option]) => option).join(', ')
  throw uncheckable(`This document has nothing that ${listed} could check: leave it out.`)
}

type CheckDocument = (text: string, source: string, options: VerifyOptions) => Checked | Promise<Checked>

const LOG_DOCUMENTS: Partial<Record<DocumentKind, CheckDocument>> = {
  tree_head: checkedTreeHead,
  inclusion: checkedProof('inclusion', checkInclusion),
  consistency: checkedProof('consistency', checkConsistency),
  contradiction: checkedContradiction,
}

/** Reports an unsigned proof as unvouched: anyone can make one that holds, and a script must not take it for a receipt. */
function checkedProof(kind: ProofKind, check: (text: string) => Checked['report']) {
  return (text: string): Checked => {
    const report = check(text)
    const lines = proofReport(kind, report.valid, JSON.parse(text), paintFor(process.stdout))
    return { report, isUnvouched: report.valid, lines }
  }
}

async function checkedTreeHead(text: string, source: string, options: VerifyOptions): Promise<Checked> {
  const keySource = options.keys ?? keysBeside(source)
  const keys = readKeys(keySource === undefined ? undefined : await readSource(keySource), keySource ?? source)
  const head = treeHeadText(text)
  const report = checkTreeHead(head, keys)
  return { report, lines: treeHeadReport(report, JSON.parse(head), paintFor(process.stdout)) }
}

/** Checks a contradiction by the named keys, or by those in the file, which only its maker vouches for. */
async function checkedContradiction(text: string, source: string, { keys: named }: VerifyOptions): Promise<Checked> {
  const own = JSON.stringify(objectIn(text).keys ?? null)
  const keys = readKeys(named === undefined ? own : await readSource(named), named ?? source)
  const contradiction = checkContradiction(text, keys)
  const valid = contradiction === 'other_root' || contradiction === 'shrank'
  return {
    report: { valid, contradiction },
    isUnvouched: contradiction === 'open' || (valid && named === undefined),
    lines: contradictionReport(contradiction, named !== undefined, JSON.parse(text), paintFor(process.stdout)),
  }
}

/** Reads the pipeline document. @throws CommandError `could_not_check` if it cannot be read */
async function readPipeline(source: string): Promise<string> {
  const text = await readSource(source)
  if (jsonIn(text) !== undefined) return text
  throw uncheckable(`${source} is not a pipeline document: it is not JSON.`)
}

function couldNotCheck(error: unknown): never {
  const code = error instanceof CommandError ? error.code : 'could_not_check'
  throw new CommandError(code, `Could not check: ${(error as Error).message}`)
}
