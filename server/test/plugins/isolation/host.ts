/** A host of sandboxed processes, which the tests run as several users: it starts what it is told, and prints what came of it. */
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { type SandboxOptions, startProgram, startSandboxed } from '@claimcheck/core/sandbox/sandbox'

export interface Run extends SandboxOptions {
  /** Leaves Node's permission model off, so that only the system stands in the way. */
  readonly isWithoutPermissions?: boolean
}

export interface Outcome {
  /** What it wrote to the handle that it shares with the host. */
  readonly said: string
  readonly printed: string
  readonly code: number | null
  readonly signal: string | null
}

const LONGEST_MS = 30_000

async function outcomeOf(run: Run): Promise<Outcome> {
  const { entry, readable, args = [] } = run
  const all = { ...readable, files: [...readable.files, entry] }
  const child = run.isWithoutPermissions
    ? startProgram([process.execPath, entry, ...args], all, run)
    : startSandboxed(run)
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS)
  const channel = child.stdio[3] as NodeJS.ReadableStream
  const [said, out, err] = await Promise.all([
    text(channel),
    text(child.stdout!),
    text(child.stderr!),
    once(child, 'close'),
  ])
  clearTimeout(timer)
  return { said, printed: out + err, code: child.exitCode, signal: child.signalCode }
}

const outcomes: Outcome[] = []
for (const run of JSON.parse(process.argv[2]!) as Run[]) outcomes.push(await outcomeOf(run))
process.stdout.write(JSON.stringify(outcomes))
