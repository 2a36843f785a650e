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
const FOLDER_CHANGES = new Set(['cd', 'pushd', 'popd'])
/** What may stand before a command within another one. */
const KEYWORDS = new Set(['!', '{', 'do', 'then', 'else', 'elif', 'if', 'while', 'until', 'time'])
/** Programs that run another one: how many words come before it, and which options take the next word. */
const WRAPPERS = {
  command: {},
  env: { taking: ['-u', '--unset'] },
  exec: {},
  nice: { taking: ['-n', '--adjustment'] },
  nohup: {},
  setsid: {},
  stdbuf: { taking: ['-i', '-o', '-e'] },
  timeout: { operands: 1, taking: ['-s', '--signal', '-k', '--kill-after'] },
}

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
  try {
    return folderOfPush(commandsIn(input.command), typeof cwd === 'string' ? cwd : process.cwd())
  } catch {
    // What ends within a quotation is no command that ran.
    return undefined
  }
}

function folderOfPush(commands, start) {
  let folder = start
  const outer = []
  for (const command of commands) {
    if (command === '(') outer.push(folder)
    else if (command === ')') folder = outer.pop() ?? folder
    if (typeof command === 'string') continue
    const words = withoutPrefixes(command)
    if (words === undefined) continue
    const [program, ...rest] = words
    if (FOLDER_CHANGES.has(program?.text)) {
      // What a shell would have to work out is not guessed: the wrong checkout would be claimed.
      if (program.text !== 'cd' || rest.length !== 1 || !isFolder(rest[0])) return undefined
      folder = resolve(folder, rest[0].text)
    }
    if (program?.text !== 'git') continue
    let at = folder
    while (rest[0]?.text.startsWith('-')) {
      const { text: option } = rest.shift()
      if (option === '-c') rest.shift()
      else if (option === '-C' && isFolder(rest[0])) at = resolve(at, rest.shift().text)
      else if (option !== '--no-pager') return undefined
    }
    if (rest.shift()?.text === 'push' && !rest.some(({ text }) => NOT_A_BRANCH.has(text))) return at
  }
  return undefined
}

/** What stands before a program and changes nothing of what it is; undefined where it does. */
function withoutPrefixes(command) {
  const words = [...command]
  for (;;) {
    const first = words[0]?.text ?? ''
    if (/^\w+=/.test(first)) {
      if (/^GIT_(?:DIR|WORK_TREE)=/.test(first)) return undefined
      words.shift()
    } else if (KEYWORDS.has(first)) words.shift()
    else if (Object.hasOwn(WRAPPERS, first)) {
      const { operands = 0, taking = [] } = WRAPPERS[words.shift().text]
      while (words[0]?.text.startsWith('-')) if (taking.includes(words.shift().text)) words.shift()
      words.splice(0, operands)
    } else return words
  }
}

/**
 * The words of each simple command, and the brackets around subshells, as a POSIX shell finds them. What is inside of a substitution or a
 * document (`<<`) is no command of its own here. @throws where a quotation does not end
 */
function commandsIn(text) {
  const documents = []
  let at = 0

  function commands(isInside) {
    const found = []
    let words = []
    let depth = 0
    const end = (bracket) => {
      if (words.length > 0) found.push(words)
      if (bracket) found.push(bracket)
      words = []
    }
    while (at < text.length) {
      const [blank] = match(/[ \t]+|\\\n|#[^\n]*/y) ?? []
      if (blank !== undefined) continue
      const [, document] = match(/<<(?!<)-?[ \t]*/y) ? [undefined, word().text] : []
      if (document !== undefined) {
        documents.push(document)
        continue
      }
      if (match(/\d*(?:<<<|<>|>>|>\||[<>]&?)|&>>?/y)) {
        match(/[ \t]+/y)
        word()
        continue
      }
      const [operator] = match(/&&|\|[|&]?|;;?&?|&|\n|[()]/y) ?? []
      if (operator === undefined) {
        words.push(word())
        continue
      }
      if (operator === ')' && isInside && depth === 0) {
        end()
        return found
      }
      if (operator === '(') depth++
      if (operator === ')') depth--
      end(operator === '(' || operator === ')' ? operator : undefined)
      if (operator === '\n') skipDocuments()
    }
    if (isInside) throw new Error('a substitution does not end')
    end()
    return found
  }

  function match(pattern) {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found) at += found[0].length
    return found
  }

  /** With whether the shell takes it as it stands. */
  function word() {
    const start = at
    let [value, isPlain] = ['', true]
    for (;;) {
      const [, single] = match(/'([^']*)'/y) ?? []
      if (single !== undefined) {
        value += single
        continue
      }
      const [, escaped] = match(/\\([\s\S])/y) ?? []
      if (escaped !== undefined) {
        value += escaped === '\n' ? '' : escaped
        continue
      }
      if (match(/"/y)) {
        while (!match(/"/y)) {
          const [kept, special] = match(/\\([$`"\\\n])|[^"$`]/y) ?? []
          if (kept !== undefined) value += special ?? kept
          else expansion()
        }
        continue
      }
      const [bare] = match(/[^\s'"\\$`;&|<>()]+/y) ?? []
      if (bare !== undefined) {
        value += bare
        isPlain &&= !/[*?[\]{}~]/.test(bare)
      } else if (/[$`]/.test(text[at] ?? '')) expansion()
      else if (at === start) throw new Error('no word')
      else return { text: value, isPlain }
    }

    function expansion() {
      isPlain = false
      if (match(/\$\(/y)) commands(true)
      else if (!match(/`(?:[^`\\]|\\[\s\S])*`|\$\{[^}]*\}|\$/y)) throw new Error('a quotation does not end')
    }
  }

  function skipDocuments() {
    for (const document of documents.splice(0)) {
      while (at < text.length) {
        const [line] = match(/[^\n]*\n?/y)
        if (line.trim() === document) break
      }
    }
  }

  return commands(false)
}

function isFolder(word) {
  return word?.isPlain === true && word.text !== '' && !word.text.startsWith('-')
}

function parsed(json) {
  try {
    const value = JSON.parse(json)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
