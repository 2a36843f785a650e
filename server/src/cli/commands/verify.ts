/** `claimcheck verify`: checks a document of a log with what its issuer publishes (keys, evidence, rules), and its anchor with a node of a chain. */
import {
  checkConsistency,
  checkInclusion,
  checkReceipt,
  checkTreeHead,
  isReceipt,
  type JsonValue,
  type KeySet,
  KeySetError,
  parseKeySet,
  type WireVerifier,
} from '@claimcheck/core'
import type { Command } from 'commander'
import { CommandError } from '../errors.ts'
import { type OutputOptions, print, subcommand } from '../run.ts'
import { type AnchorOptions, anchorCheck } from '../verify/anchor-check.ts'
import { type CheckedText, documentProblem, recognise } from '../verify/document.ts'
import { entryReport } from '../verify/entry-report.ts'
import { type EvidenceOptions, evidenceCheck } from '../verify/evidence-check.ts'
import { evidenceProblem } from '../verify/evidence-report.ts'
import { type SourceOptions, sourceProblem } from '../verify/expected-source.ts'
import { consistencyReport, inclusionReport, treeHeadReport } from '../verify/log-report.ts'
import { readProfiles } from '../verify/published-profiles.ts'
import { isUrl, readSource } from '../verify/source.ts'
import { paintFor } from '../verify/style.ts'

const EXIT_VALID = 0
const EXIT_BAD = 1

interface VerifyOptions extends OutputOptions, AnchorOptions, EvidenceOptions, SourceOptions {
  readonly keys?: string
  readonly pipeline?: string
}

interface Checked {
  readonly report: { readonly valid: boolean; readonly verifier?: WireVerifier }
  readonly lines: readonly string[]
  /** The document is valid, but not as the options ask. */
  readonly isShort?: boolean
}

export function addVerifyCommand(program: Command): void {
  subcommand(
    program,
    'verify',
    'check a receipt, a change entry, a tree head, an inclusion document or a consistency document: exit 0 valid, 1 not valid, 2 could not check',
  )
    .argument('<document>', 'a file or a URL')
    .option(
      '--keys <keys>',
      "the issuer's key document, a file or a URL; by default the one at the host of the document",
    )
    .option('--pipeline <pipeline>', 'the pipeline document that the entry names as its policy, a file or a URL')
    .option(
      '--evidence <evidence>',
      'the evidence of the receipt, a file or a URL; by default the one beside the URL of the receipt. When given, exit 1 if the verdict does not follow from it',
    )
    .option('--expect-source <host>', 'exit 1 if the receipt was not read at this host, such as api.github.com')
    .option('--listed', 'exit 1 if the receipt was read at a place that its issuer does not list as public')
    .option('--rpc <url>', 'a node of the chain of its anchor; without one the anchor is not checked')
    .option('--eas <address>', 'the Ethereum Attestation Service, on a chain where its address is not known')
    .option('--confirmations <n>', 'on a chain without a finalized block: how many blocks make one final')
    .action(async (source: string, options: VerifyOptions) => {
      const { report, lines, isShort } = await check(source, options).catch(couldNotCheck)
      process.exitCode = report.valid && !isShort ? EXIT_VALID : EXIT_BAD
      print(options, report, lines)
    })
}

async function check(source: string, options: VerifyOptions): Promise<Checked> {
  const keySource = options.keys ?? keysBeside(source)
  const issuer = [source, ...(keySource === undefined ? [] : [keySource])].find(isUrl)
  const checkAnchor = anchorCheck(options, issuer)
  const text = await readSource(source)
  const recognised = recognise(text)
  if (recognised.kind !== 'entry') refuseReceiptOptions(options)
  if (recognised.kind === 'inclusion') return checkedInclusion(recognised)
  if (recognised.kind === 'consistency') return checkedConsistency(recognised)
  const keys = await readKeys(keySource)
  if (recognised.kind === 'tree_head') return checkedTreeHead(recognised, keys)

  const pipeline = options.pipeline === undefined ? undefined : await readPipeline(options.pipeline)
  const report = await checkReceipt(text, {
    keys,
    ...(pipeline === undefined ? {} : { pipeline }),
    ...(checkAnchor ? { checkAnchor } : {}),
  })
  const problem = documentProblem(text)
  const document: JsonValue = problem === undefined ? JSON.parse(text) : null
  const told = { report, document, problem, hasPipeline: pipeline !== undefined, paint: paintFor(process.stdout) }
  if (!report.valid)
    return { report, lines: entryReport({ ...told, evidence: undefined, words: undefined, shortcomings: [] }) }
  if (!isReceipt(document)) {
    refuseReceiptOptions(options)
    return { report, lines: entryReport({ ...told, evidence: undefined, words: undefined, shortcomings: [] }) }
  }

  const { source: readAt, verifier } = document.body.observation
  const profiles = await readProfiles(issuer)
  const evidence = await evidenceCheck(document, options, source, profiles.rules)
  const notAsExpected = sourceProblem(readAt, options)
  const shortcomings = [evidence?.isNamed ? evidenceProblem(evidence.finding) : undefined, notAsExpected].filter(
    (text) => text !== undefined,
  )
  const expects = options.expectSource !== undefined || options.listed === true
  return {
    report: {
      ...report,
      ...(evidence ? { evidence: evidence.finding } : {}),
      ...(readAt ? { source: readAt } : {}),
      ...(verifier.package === undefined ? {} : { verifier }),
      ...(expects ? { source_as_expected: notAsExpected === undefined } : {}),
    },
    lines: entryReport({ ...told, evidence, words: profiles.wordsFor(document), shortcomings }),
    isShort: shortcomings.length > 0,
  }
}

/** They decide the exit code, so that they are not ignored where they mean nothing. @throws CommandError */
function refuseReceiptOptions({ evidence, expectSource, listed }: VerifyOptions): void {
  if (evidence === undefined && expectSource === undefined && !listed) return
  throw new CommandError('could_not_check', '--evidence, --expect-source and --listed are for receipts.')
}

function checkedInclusion({ text }: CheckedText): Checked {
  const report = checkInclusion(text)
  return { report, lines: inclusionReport(report.valid, JSON.parse(text), paintFor(process.stdout)) }
}

function checkedConsistency({ text }: CheckedText): Checked {
  const report = checkConsistency(text)
  return { report, lines: consistencyReport(report.valid, JSON.parse(text), paintFor(process.stdout)) }
}

function checkedTreeHead({ text }: CheckedText, keys: KeySet): Checked {
  const report = checkTreeHead(text, keys)
  return { report, lines: treeHeadReport(report, JSON.parse(text), paintFor(process.stdout)) }
}

/** Undefined where there is none to guess: proofs need no keys. */
function keysBeside(source: string): string | undefined {
  return isUrl(source) ? new URL('/.well-known/poaw-keys.json', source).href : undefined
}

/** @throws CommandError */
async function readKeys(source: string | undefined): Promise<KeySet> {
  if (source === undefined) {
    throw new CommandError('could_not_check', "Name the issuer's key document with --keys (a file or a URL).")
  }
  const text = await readSource(source)
  try {
    return parseKeySet(text)
  } catch (error) {
    if (!(error instanceof KeySetError)) throw error
    throw new CommandError('could_not_check', `${source} is not a key document.`)
  }
}

/** @throws CommandError */
async function readPipeline(source: string): Promise<string> {
  const text = await readSource(source)
  try {
    JSON.parse(text)
    return text
  } catch {
    throw new CommandError('could_not_check', `${source} is not a pipeline document: it is not JSON.`)
  }
}

function couldNotCheck(error: unknown): never {
  if (error instanceof CommandError) throw new CommandError(error.code, `Could not check: ${error.message}`)
  throw new CommandError('could_not_check', `Could not check: ${(error as Error).message}`)
}
