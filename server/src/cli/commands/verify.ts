/** `claimcheck verify`: checks a receipt with nothing but the receipt and the issuer's published keys. */
import { readFile } from 'node:fs/promises'
import { checkReceipt, parseKeySet, type Report } from '@claimcheck/core'
import type { Command } from 'commander'
import { UsageError } from '../errors.ts'
import { type OutputOptions, print, subcommand } from '../run.ts'

const EXIT_VALID = 0
const EXIT_BAD = 1
const EXIT_UNCHECKED = 2

const FETCH_TIMEOUT_MS = 20_000
const LARGEST_DOCUMENT_BYTES = 5 * 1024 * 1024

export function addVerifyCommand(program: Command): void {
  subcommand(program, 'verify', 'check a receipt: exit 0 valid, 1 checked and bad, 2 could not check')
    .argument('<receipt>', 'a file or a URL')
    .option('--keys <keys>', "the issuer's key document, a file or a URL; by default the one of the receipt's host")
    .action(async (receipt: string, options: OutputOptions & { keys?: string }) => {
      const report = await check(receipt, options.keys).catch((error: unknown) => {
        process.stderr.write(`could not check: ${(error as Error).message}\n`)
        return undefined
      })
      process.exitCode = exitCode(report)
      if (report) print(options, report, describe(report))
    })
}

async function check(receipt: string, keys: string | undefined): Promise<Report> {
  const text = await read(receipt)
  const keySet = parseKeySet(await read(keys ?? keysBeside(receipt)))
  return checkReceipt(text, { keys: keySet })
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

function describe({ valid, verdict, achieved_trust_level, checks }: Report): string[] {
  const width = Math.max(...Object.keys(checks).map((name) => name.length))
  return [
    valid ? `valid: ${verdict ?? 'change entry'}, trust level ${achieved_trust_level}` : 'NOT valid',
    ...Object.entries(checks).map(([name, outcome]) => `  ${name.padEnd(width)}  ${inWords(outcome)}`),
  ]
}

function inWords(outcome: string | boolean): string {
  if (outcome === true) return 'holds'
  return outcome === false ? 'DOES NOT HOLD' : outcome.replaceAll('_', ' ')
}
