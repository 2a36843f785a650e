/** The command, as an operator runs it: in a process and a folder of its own, with nothing of this environment but the path. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'

export type Env = Readonly<Record<string, string>>

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** To its end. Logs are silent where `env` says nothing else. */
export async function runClaimcheck(folder: string, args: readonly string[], env: Env = {}): Promise<Outcome> {
  const child = spawn(process.execPath, [resolve('server/bin/claimcheck.js'), ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, LOG_LEVEL: 'silent', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const read = async (stream: NodeJS.ReadableStream) => {
    let text = ''
    for await (const chunk of stream) text += chunk
    return text
  }
  const [stdout, stderr, [code]] = await Promise.all([read(child.stdout), read(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}
