/** Runs the conformance kit on a package, in a separate process: a plugin that ends its process has not passed. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { CommandError } from '@claimcheck/command-line/errors'
import { isJsonObject } from '@claimcheck/core/rules'
import type { Report } from '@claimcheck/core/testkit'

const KIT_PROCESS = new URL('./kit-process.js', import.meta.url)

/** What the process of the kit sends, once. */
export type KitMessage = { readonly report: Report } | { readonly problem: string }

/** @throws CommandError `could_not_check` */
export async function runKit(folder: string, timeoutMs: number): Promise<Report> {
  const definition = definitionOf(resolve(folder))
  // What the plugin prints must not mix with the report.
  const child = fork(KIT_PROCESS, [definition], { cwd: folder, stdio: ['ignore', 2, 2, 'ipc'] })
  let message: KitMessage | undefined
  child.on('message', (sent) => {
    message = sent as KitMessage
  })
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    child.kill('SIGKILL')
  }, timeoutMs)
  const [code, signal] = await once(child, 'close')
  clearTimeout(timer)
  if (message && 'report' in message) return message.report
  if (message) throw couldNotRun(message.problem)
  throw couldNotRun(
    isLate ? 'it took too long.' : `the process ended with ${signal ?? code} before there was a report.`,
  )
}

/** The module with the kit's options as its default export. */
function definitionOf(folder: string): string {
  const file = join(folder, 'package.json')
  let manifest: unknown
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw couldNotRun(`${file} could not be read: ${(error as Error).message}`)
  }
  const { claimcheck } = manifest as { readonly claimcheck?: unknown }
  const path = isJsonObject(claimcheck as never) ? (claimcheck as { conformance?: unknown }).conformance : undefined
  if (typeof path === 'string') return builtFile(join(folder, path))
  throw couldNotRun(
    `${file} names no conformance definition: "claimcheck": { "conformance": "./dist/test/conformance.js" }`,
  )
}

function builtFile(path: string): string {
  if (existsSync(path)) return path
  throw couldNotRun(`${path} is not there: build the package first.`)
}

function couldNotRun(problem: string): CommandError {
  return new CommandError('could_not_check', `The kit could not run: ${problem}`)
}
