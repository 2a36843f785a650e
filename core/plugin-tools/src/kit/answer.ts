/** Reads the answers of the process that runs the kit. It runs code of others, so that anything may come from it. */
import type { Readable } from 'node:stream'
import { Type, Value } from '@claimcheck/core/plugin'
import { jsonIn } from '@claimcheck/core/rules'
import { CHECKS, type Report } from '@claimcheck/core/testkit'

export type Answer = { readonly report: Report } | { readonly problem: string }

const MOST_BYTES = 4 * 1024 * 1024

/**
 * Collects what a process sends, until it is too much. White space before the answer shows that the process lives.
 * @param onBytes hears that bytes came
 * @param onTooMany hears that they were too many, and are dropped
 * @returns a function that gives the text so far
 */
export function collect(stream: Readable, onBytes: () => void, onTooMany: () => void): () => string {
  let chunks: Buffer[] = []
  let bytes = 0
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    onBytes()
    if (bytes <= MOST_BYTES) return void chunks.push(chunk)
    chunks = []
    onTooMany()
  })
  // An error of the stream counts as its end: the process may break the connection.
  stream.on('error', () => {})
  return () => Buffer.concat(chunks).toString().trim()
}

const Check = Type.Object({
  name: Type.String(),
  ok: Type.Boolean(),
  problem: Type.Optional(Type.String()),
  route: Type.Optional(Type.String()),
  case: Type.Optional(Type.String()),
})
const Reported = Type.Object({
  report: Type.Object({
    ok: Type.Boolean(),
    checks: Type.Array(Check, { minItems: 1 }),
    untested: Type.Array(Type.String()),
  }),
})
const Failed = Type.Object({ problem: Type.String() })

/** Parses the answer of the kit's process; undefined for any other text. */
export function readAnswer(text: string): Answer | undefined {
  const value = jsonIn(text)
  if (Value.Check(Failed, value)) return { problem: value.problem }
  if (!Value.Check(Reported, value)) return undefined
  const { ok, untested } = value.report
  const checks = value.report.checks.map(({ name, ok, problem, route, case: of }) => ({
    ...{ name, ok },
    ...(problem === undefined ? {} : { problem }),
    ...(route === undefined ? {} : { route }),
    ...(of === undefined ? {} : { case: of }),
  }))
  const isKits =
    ok === checks.every((check) => check.ok) &&
    checks.every((check) => Object.hasOwn(CHECKS, check.name) && check.ok === (check.problem === undefined))
  return isKits ? { report: { ok, checks, untested } } : undefined
}
