/** `claimcheck verify`: checks a receipt with nothing but the receipt, the issuer's published keys and, for its anchor, a node of a chain. */
import { readFile } from 'node:fs/promises'
import { type CheckOptions, checkReceipt, parseKeySet, type Report } from '@claimcheck/core'
import { createEasCheck } from '@claimcheck/core/anchor'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { type OutputOptions, print, subcommand } from '../run.ts'
import { describeReport } from '../verify-report.ts'

const EXIT_VALID = 0
const EXIT_BAD = 1
const EXIT_UNCHECKED = 2

const FETCH_TIMEOUT_MS = 20_000
const LARGEST_DOCUMENT_BYTES = 5 * 1024 * 1024

interface VerifyOptions extends OutputOptions {
  readonly keys?: string
  readonly rpc?: string
  readonly eas?: string
  readonly confirmations?: string
}

export function addVerifyCommand(program: Command): void {
  subcommand(program, 'verify', 'check a receipt: exit 0 valid, 1 checked and bad, 2 could not check')
    .argument('<receipt>', 'a file or a URL')
    .option('--keys <keys>', "the issuer's key document, a file or a URL; by default the one of the receipt's host")
    .option('--rpc <url>', 'a node of the chain of its anchor; without one the anchor is not checked')
    .option('--eas <address>', 'the Ethereum Attestation Service, on a chain where its place is not known')
    .option('--confirmations <n>', 'on a chain without a finalized block: one with so many on top of it is final')
    .action(async (receipt: string, options: VerifyOptions) => {
      const report = await check(receipt, options).catch((error: unknown) => {
        process.stderr.write(`could not check: ${(error as Error).message}\n`)
        return undefined
      })
      process.exitCode = exitCode(report)
      if (report) print(options, report, describeReport(report))
    })
}

async function check(receipt: string, options: VerifyOptions): Promise<Report> {
  const keys = options.keys ?? keysBeside(receipt)
  const checkAnchor = anchorCheck(options, [receipt, keys].find(isUrl))
  const text = await read(receipt)
  return checkReceipt(text, { keys: parseKeySet(await read(keys)), ...(checkAnchor ? { checkAnchor } : {}) })
}

/** @param issuer any URL of the issuer's host, which is asked for a consistency proof when one is needed */
function anchorCheck(
  { rpc, eas, confirmations }: VerifyOptions,
  issuer: string | undefined,
): CheckOptions['checkAnchor'] {
  if (rpc === undefined) return undefined
  if (!isUrl(rpc)) throw new UsageError('--rpc is the http or https URL of a node')
  if (eas !== undefined && !/^0x[0-9a-f]{40}$/i.test(eas)) throw new UsageError('--eas is an address: 20 bytes in hex')
  if (confirmations !== undefined && !/^[1-9]\d{0,8}$/.test(confirmations)) {
    throw new UsageError('--confirmations is a number of blocks: 1 or more')
  }

  const checkAnchor = createEasCheck({
    rpcUrl: rpc,
    ...(eas === undefined ? {} : { easAddress: eas }),
    ...(confirmations === undefined ? {} : { confirmations: Number(confirmations) }),
    readConsistency: async (first, second) => {
      if (issuer === undefined) return undefined
      const url = new URL(`/v1/log/consistency?first=${first}&second=${second}`, issuer)
      return read(url.href).catch(() => undefined)
    },
  })
  return async (proof, keys) => {
    const found = await checkAnchor(proof, keys)
    if ('cause' in found) process.stderr.write(`the chain could not be read: ${(found.cause as Error).message}\n`)
    return found
  }
}

function exitCode(report: Report | undefined): number {
  if (!report) return EXIT_UNCHECKED
  return report.valid ? EXIT_VALID : EXIT_BAD
}

function keysBeside(receipt: string): string {
  if (!isUrl(receipt)) throw new UsageError("name the issuer's key document with --keys (a file or a URL)")
  return new URL('/.well-known/poaw-keys.json', receipt).href
}

function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source)
}

async function read(source: string): Promise<string> {
  if (!isUrl(source)) return readFile(source, 'utf8')
  const response = await fetch(source, { signal: AbortSignal.timeout(FETCH_TIMEOUT_MS) })
  if (!response.ok) throw new Error(`${source} answers ${response.status}`)
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.length
    if (size > LARGEST_DOCUMENT_BYTES) throw new Error(`${source} answers more than ${LARGEST_DOCUMENT_BYTES} bytes`)
    chunks.push(chunk)
  }
  return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
}
