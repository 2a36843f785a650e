/** The git program, for destinations and the agents that push to them: on a clean configuration. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { aside } from '../support/stalls.ts'

const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Agent',
  GIT_AUTHOR_EMAIL: 'agent@example.com',
  GIT_COMMITTER_NAME: 'Agent',
  GIT_COMMITTER_EMAIL: 'agent@example.com',
}

const MOST_OUTPUT_BYTES = 64 * 1024 * 1024

/** What git printed, without the last line feed. Rejects when git does not end well. */
export async function git(folder: string, args: readonly string[]): Promise<string> {
  const options = { cwd: folder, env: ENVIRONMENT, maxBuffer: MOST_OUTPUT_BYTES }
  const { stdout } = await aside(() => promisify(execFile)('git', [...args], options))
  return stdout.replace(/\n$/, '')
}
