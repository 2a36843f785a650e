#!/usr/bin/env node
/**
 * A PostToolUse hook for coding agents: when the agent has run `git push` in its shell, claims the push in a separate process. It reads the
 * event on standard input, prints nothing and ends with 0, whatever happens: the agent's work goes on.
 * It runs the command line that it came with, or CLAIMCHECK_COMMAND.
 * CLAIMCHECK_HOOK=wait claims in the hook itself, and reports a claim that is not verified to the agent: exit code 2, with words on standard error.
 */
import { spawn, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const LONGEST_WAIT_SECONDS = 45
const OWN_COMMAND = [process.execPath, fileURLToPath(new URL('../../bin/claimcheck-cli.js', import.meta.url))]
/** With these, git push pushes no branch. */
const NOT_A_BRANCH = new Set(['--dry-run', '-n', '--delete', '-d', '--tags', '--help', '-h'])

const event = parsed(await text(process.stdin))
const folder = event && pushedFrom(event)
if (folder !== undefined) claim(folder)

function claim(cwd) {
  const given = process.env.CLAIMCHECK_COMMAND
  const [program, ...before] = given ? given.trim().split(/\s+/) : OWN_COMMAND
  const args = [...before, 'claim', 'push']
  const env = { CLAIMCHECK_AGENT: 'coding-agent', ...process.env }
  if (process.env.CLAIMCHECK_HOOK !== 'wait') {
    const child = spawn(program, args, { cwd, env, stdio: 'ignore', detached: true })
    child.on('error', () => {})
    child.unref()
    return
  }
  const options = { cwd, env, encoding: 'utf8', timeout: (LONGEST_WAIT_SECONDS + 10) * 1000 }
  const { status, stdout, stderr } = spawnSync(program, [...args, `--wait=${LONGEST_WAIT_SECONDS}`], options)
  // 0: verified. 7: not decided yet, which is nothing to act on.
  if (status === 0 || status === 7) return
  process.stderr.write(`Claimcheck did not verify the push:\n${stdout ?? ''}${stderr ?? ''}`)
  process.exitCode = 2
}

/** The folder that the agent pushed from; undefined where it did not push, or where the command alone does not say. */
function pushedFrom({ hook_event_name: name, tool_name: tool, tool_input: input, tool_response: response, cwd }) {
  if (name !== 'PostToolUse' || tool !== 'Bash' || typeof input?.command !== 'string') return undefined
  if (response?.interrupted === true) return undefined
  let folder = typeof cwd === 'string' ? cwd : process.cwd()
  for (const part of input.command.split(/&&|\|\||[;|\n]/)) {
    const words = part.trim().split(/\s+/)
    while (/^\w+=/.test(words[0] ?? '')) words.shift()
    if (words[0] === 'cd') {
      // What a shell would have to work out is not guessed: the wrong checkout would be claimed.
      if (!isPlain(words[1]) || words.length !== 2) return undefined
      folder = resolve(folder, words[1])
    }
    if (words.shift() !== 'git') continue
    let at = folder
    while (words[0]?.startsWith('-')) {
      const option = words.shift()
      if (option === '-c') words.shift()
      else if (option === '-C' && isPlain(words[0])) at = resolve(at, words.shift())
      else if (option !== '--no-pager') return undefined
    }
    if (words.shift() === 'push' && !words.some((word) => NOT_A_BRANCH.has(word))) return at
  }
  return undefined
}

function isPlain(word) {
  return /^[\w./-]+$/.test(word ?? '') && !word.startsWith('-')
}

function parsed(json) {
  try {
    const value = JSON.parse(json)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
