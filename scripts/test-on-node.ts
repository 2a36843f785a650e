/** `--node`: the test command with another version of Node. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { nodeFolder } from './node-version.ts'
import { ON_EVERY_NODE } from './test-plan.ts'

export interface Words {
  /** The version that is asked for. */
  readonly node: string | undefined
  readonly others: readonly string[]
}

/** @throws Error without a version */
export function splitWords(words: readonly string[]): Words {
  const at = words.indexOf('--node')
  if (at < 0) return { node: undefined, others: words }
  const node = words[at + 1]
  if (node === undefined) throw new Error('--node: name a version, such as 24')
  return { node, others: words.toSpliced(at, 2) }
}

/**
 * Runs it again, and all that it starts, with this version. Without other words it is what `.ci/run` runs on each.
 *
 * @returns its exit code
 * @throws Error for a version that is not there
 */
export async function runOnNode(version: string, script: string, words: readonly string[]): Promise<number> {
  const folder = nodeFolder(version)
  const isBrief = words.length === 0
  const env = {
    ...process.env,
    ...(isBrief && { TEST_EXTENT: process.env.TEST_EXTENT ?? 'short' }),
    // For npm, and for what says `#!/usr/bin/env node`.
    PATH: `${folder}${delimiter}${process.env.PATH}`,
  }
  const child = spawn(join(folder, 'node'), [script, ...(isBrief ? ON_EVERY_NODE : words)], { env, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  const [code] = await once(child, 'close')
  return code ?? 1
}
