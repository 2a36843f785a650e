#!/usr/bin/env node
/**
 * A PostToolUse hook for coding agents: when the agent has run `git push` in its shell, claims the push in a separate process. It reads the
 * event on standard input, prints nothing and ends with 0, whatever happens: the agent's work goes on.
 * It runs the command line that it came with, or CLAIMCHECK_COMMAND.
 * CLAIMCHECK_HOOK=wait claims in the hook itself, and reports a claim that is not verified to the agent: exit code 2, with words on standard
 * error.
 */
import { spawn, spawnSync } from 'node:child_process'
import { basename, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const LONGEST_WAIT_SECONDS = 45
const OWN_COMMAND = [process.execPath, fileURLToPath(new URL('../../bin/claimcheck-cli.js', import.meta.url))]
/** Options with which git push pushes no branch. */
const NOT_A_BRANCH = /^(?:--dry-run|--delete|--tags|--help|-[46fquv]*[dhn].*)$/
const FOLDER_CHANGES = new Set(['cd', 'pushd', 'popd'])
/** Commands of the shell that give variables to those after them. */
const EXPORTS = new Set(['export', 'declare', 'typeset'])
/** Variables by which git works in another folder. */
const ELSEWHERE = /^GIT_(?:DIR|WORK_TREE)\b/
/** Words of the shell that may stand before a command. */
const KEYWORDS = new Set(['!', '{', 'do', 'then', 'else', 'elif', 'if', 'while', 'until'])
/** Programs that run another one: the number of words before it, and the options that take the next word. */
const WRAPPERS = {
  builtin: {},
  command: {},
  env: { taking: ['-u', '--unset'] },
  exec: {},
  nice: { taking: ['-n', '--adjustment'] },
  nohup: {},
  setsid: {},
  stdbuf: { taking: ['-i', '-o', '-e'] },
  time: {},
  timeout: { operands: 1, taking: ['-s', '--signal', '-k', '--kill-after'] },
}

const BLANKS = /[ \t]+|\\\n|#[^\n]*/y
const DOCUMENT = /<<(?!<)-?[ \t]*/y
const REDIRECTION = /(?:\d*(?:<<<|<>|>>|>\||[<>]&?)|&>>?)[ \t]*/y
const OPERATOR = /&&|\|[|&]?|;;?&?|&|\n|[()]/y
const DEPTH_CHANGES = { '(': 1, ')': -1 }
/** The parts of a word. The first group is the text of a part that the shell takes as it stands, the second that of a pattern for file names. */
const EXPANSIONS = [/\$\(/y, /`(?:[^`\\]|\\[\s\S])*`/y, /\$\{[^}]*\}/y, /\$/y]
const QUOTED_PARTS = [/\\([$`"\\\n])/y, /([^"$`])/y, ...EXPANSIONS]
const BARE_PARTS = [
  /'([^']*)'/y,
  /\$'(?:[^'\\]|\\[\s\S])*'/y,
  /\\\n()/y,
  /\\([\s\S])/y,
  /([^\s'"\\$`;&|<>()*?[\]{}~]+)|([*?[\]{}~]+)/y,
  ...EXPANSIONS,
]

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
    return folderOfPush(new ShellReader(input.command).commands(), typeof cwd === 'string' ? cwd : process.cwd())
  } catch {
    return undefined
  }
}

/** @throws where the command alone does not say: what a shell would have to work out is not guessed, or the wrong checkout would be claimed */
function folderOfPush(commands, start) {
  let folder = start
  const outer = []
  for (const command of commands) {
    if (command === '(') outer.push(folder)
    if (command === ')') folder = outer.pop() ?? folder
    if (typeof command === 'string') continue
    const [{ text: program } = { text: '' }, ...args] = withoutPrefixes(command)
    if (FOLDER_CHANGES.has(program)) folder = changeFolder(program, args, folder)
    if (EXPORTS.has(program) && args.some(({ text }) => ELSEWHERE.test(text))) throw new Error('git works elsewhere')
    const pushed = folderOfGitPush(program, args, folder)
    if (pushed) return pushed
  }
  return undefined
}

function changeFolder(program, args, folder) {
  if (program !== 'cd' || args.length !== 1 || !isFolder(args[0])) throw new Error('the folder is not known')
  return resolve(folder, args[0].text)
}

function folderOfGitPush(program, args, start) {
  if (basename(program) !== 'git') return undefined
  const rest = [...args]
  let folder = start
  while (rest[0]?.text.startsWith('-')) {
    const { text: option } = rest.shift()
    if (option === '-c') rest.shift()
    else if (option === '-C' && isFolder(rest[0])) folder = resolve(folder, rest.shift().text)
    else if (option !== '--no-pager') throw new Error(`git ${option} may push from elsewhere`)
  }
  const isPush = rest.shift()?.text === 'push' && !rest.some(({ text }) => NOT_A_BRANCH.test(text))
  return isPush ? folder : undefined
}

/** The words from the program on. None where a variable says that git works elsewhere. */
function withoutPrefixes(command) {
  const words = [...command]
  for (;;) {
    const first = words[0]?.text ?? ''
    if (ELSEWHERE.test(first)) return []
    const isPrefix = /^\w+=/.test(first) || KEYWORDS.has(first)
    const wrapper = Object.hasOwn(WRAPPERS, first) ? WRAPPERS[first] : undefined
    if (!isPrefix && !wrapper) return words
    words.shift()
    if (wrapper) dropArguments(words, wrapper)
  }
}

function dropArguments(words, { operands = 0, taking = [] }) {
  while (words[0]?.text.startsWith('-')) {
    const { text: option } = words.shift()
    if (/^(?:-C|--chdir)/.test(option)) throw new Error('the folder is not known')
    if (taking.includes(option)) words.shift()
  }
  words.splice(0, operands)
}

/** Reads a text as a POSIX shell does. The inside of a substitution or a document (`<<`) is no command of its own here. */
class ShellReader {
  #text
  #at = 0
  #documents = []

  constructor(text) {
    this.#text = text
  }

  /**
   * The words of each simple command, and the brackets around subshells.
   * @param isInside ends at the bracket that ends a substitution @throws where a quotation does not end, which is no command that ran
   */
  commands(isInside = false) {
    const found = [[]]
    let depth = 0
    for (const token of this.#tokens()) {
      if (typeof token === 'object') {
        found.at(-1).push(token)
        continue
      }
      const change = DEPTH_CHANGES[token]
      depth += change ?? 0
      if (isInside && depth < 0) return found
      found.push(...(change === undefined ? [[]] : [token, []]))
    }
    if (isInside) throw new Error('a substitution does not end')
    return found
  }

  /** Yields words, and the operators between them. */
  *#tokens() {
    while (this.#at < this.#text.length) {
      if (this.#match(BLANKS)) continue
      if (this.#match(DOCUMENT)) this.#documents.push(this.#word().text)
      else if (this.#match(REDIRECTION)) this.#word()
      else {
        const [operator] = this.#match(OPERATOR) ?? []
        yield operator ?? this.#word()
        if (operator === '\n') this.#skipDocuments()
      }
    }
  }

  /** `isPlain` says that the shell takes the word as it stands. */
  #word() {
    const start = this.#at
    let [text, isPlain, isQuoted] = ['', true, false]
    for (;;) {
      const [part, literal, pattern = ''] = this.#match(...(isQuoted ? QUOTED_PARTS : BARE_PARTS)) ?? []
      if (part === undefined) {
        if (!this.#match(/"/y)) break
        isQuoted = !isQuoted
        continue
      }
      text += literal ?? pattern
      isPlain &&= literal !== undefined
      if (part === '$(') this.commands(true)
    }
    if (isQuoted || this.#at === start) throw new Error('a quotation does not end')
    return { text, isPlain }
  }

  #skipDocuments() {
    for (const document of this.#documents.splice(0)) {
      while (this.#at < this.#text.length) if (this.#match(/[^\n]*\n?/y)[0].trim() === document) break
    }
  }

  /** Takes the first of the patterns that the text goes on with. */
  #match(...patterns) {
    for (const pattern of patterns) {
      pattern.lastIndex = this.#at
      const found = pattern.exec(this.#text)
      if (!found) continue
      this.#at += found[0].length
      return found
    }
    return undefined
  }
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

const event = parsed(await text(process.stdin))
const folder = event && pushedFrom(event)
if (folder !== undefined) claim(folder)
